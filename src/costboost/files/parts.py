"""Objects of scikit-learn inside a model, by skops, and never by more trust than was given.

A part is written without the boosters, trees and estimators of this library inside it: those have
nodes and checks of their own, and the part says where they belong. What is left may be built only
if every type in it is in `KNOWN`, or named by the user.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from costboost.errors import ModelFileError
from costboost.files.container import Limits, parse_json

__all__ = ["KNOWN", "check_threads", "dump", "find", "is_part", "load", "put", "spell"]

# A way into an object: ("attribute", name) and ("item", index or key), step by step.
Way = tuple[tuple[str, Any], ...]

_LIMITS = Limits()
_SCHEMA = "schema.json"
_THREADS = frozenset({"n_jobs", "n_threads", "nthread", "nthreads", "num_thread", "num_threads"})
_MAX_THREADS = 1024

# How skops builds what is harmless; any other way must be trusted like a type.
_LOADERS = frozenset(
    {
        "BytesNode",
        "DTypeNode",
        "DefaultDictNode",
        "DictNode",
        "JsonNode",
        "ListNode",
        "NdArrayNode",
        "ObjectNode",
        "SetNode",
        "SliceNode",
        "TupleNode",
        "TypeNode",
    }
)

# Types without native memory of their own: their attributes are numbers, text and arrays.
KNOWN: frozenset[str] = frozenset(
    [
        "builtins.bool",
        "builtins.bytes",
        "builtins.dict",
        "builtins.float",
        "builtins.int",
        "builtins.list",
        "builtins.set",
        "builtins.slice",
        "builtins.str",
        "builtins.tuple",
        "collections.OrderedDict",
        "collections.defaultdict",
        "numpy.bool",
        "numpy.bool_",
        "numpy.dtype",
        "numpy.float32",
        "numpy.float64",
        "numpy.int32",
        "numpy.int64",
        "numpy.ndarray",
        "numpy.str_",
        "numpy.uint8",
        "numpy.uint32",
        "numpy.uint64",
        "sklearn.calibration.CalibratedClassifierCV",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.compose._column_transformer.ColumnTransformer",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.dummy.DummyClassifier",
        "sklearn.dummy.DummyRegressor",
        "sklearn.ensemble._forest.ExtraTreesClassifier",
        "sklearn.ensemble._forest.ExtraTreesRegressor",
        "sklearn.ensemble._forest.RandomForestClassifier",
        "sklearn.ensemble._forest.RandomForestRegressor",
        "sklearn.impute._base.SimpleImputer",
        "sklearn.isotonic.IsotonicRegression",
        "sklearn.linear_model._base.LinearRegression",
        "sklearn.linear_model._logistic.LogisticRegression",
        "sklearn.linear_model._logistic.LogisticRegressionCV",
        "sklearn.linear_model._ridge.Ridge",
        "sklearn.linear_model._ridge.RidgeClassifier",
        "sklearn.model_selection._split.GroupKFold",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.RepeatedStratifiedKFold",
        "sklearn.model_selection._split.StratifiedGroupKFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.model_selection._split.TimeSeriesSplit",
        "sklearn.naive_bayes.BernoulliNB",
        "sklearn.naive_bayes.GaussianNB",
        "sklearn.pipeline.Pipeline",
        "sklearn.preprocessing._data.MaxAbsScaler",
        "sklearn.preprocessing._data.MinMaxScaler",
        "sklearn.preprocessing._data.RobustScaler",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.preprocessing._encoders.OneHotEncoder",
        "sklearn.preprocessing._encoders.OrdinalEncoder",
        "sklearn.preprocessing._label.LabelBinarizer",
        "sklearn.preprocessing._label.LabelEncoder",
        "sklearn.tree._classes.DecisionTreeClassifier",
        "sklearn.tree._classes.DecisionTreeRegressor",
        "sklearn.tree._classes.ExtraTreeClassifier",
        "sklearn.tree._classes.ExtraTreeRegressor",
    ]
)


def is_part(value: Any) -> bool:
    """Whether an object is scikit-learn's, or like one of its estimators."""
    if isinstance(value, type):
        return False
    return hasattr(value, "get_params") or type(value).__module__.startswith("sklearn.")


def spell(way: Iterable[tuple[str, Any]]) -> str:
    """A way in Python's notation."""
    return "".join(f".{key}" if kind == "attribute" else f"[{key!r}]" for kind, key in way)


# -- writing ------------------------------------------------------------------------------------


def _steps(value: Any) -> Iterator[tuple[tuple[str, Any], Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if type(key) in (str, int):
                yield ("item", key), item
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield ("item", i), item
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        for name, item in vars(value).items():
            yield ("attribute", name), item


def find(
    value: Any,
    is_own: Callable[[Any], Any],
    way: Way,
    taken: list[tuple[Way, Any]],
    seen: set[int],
) -> None:
    """Collect the objects inside ``value`` that have nodes of their own, with the ways to them."""
    if id(value) in seen:
        return
    seen.add(id(value))
    for step, item in _steps(value):
        if is_own(item):
            taken.append(((*way, step), item))
        else:
            find(item, is_own, (*way, step), taken, seen)


def dump(value: Any, without: list[Any], where: str) -> tuple[bytes, set[str]]:
    """A part by skops, with None in place of some objects; and the types that it needs."""
    skops = _skops(where)
    bare = copy.deepcopy(value, {id(item): None for item in without})
    try:
        data = skops.dumps(bare)
    except Exception as error:  # skops has its own and hands on others
        raise ModelFileError(f"{where} cannot be written by skops: {error}") from error
    data = _canonical(data)
    return data, _types(skops, data, where)


def _skops(where: str) -> Any:
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise ModelFileError(
            f"{where} is an object of scikit-learn, which needs skops in model files. Install it "
            "with: pip install 'costboost[files]'"
        ) from error


def _canonical(data: bytes) -> bytes:
    """The same archive with objects numbered in order, instead of by their addresses."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(content.pop(_SCHEMA))
    numbers: dict[int, int] = {}
    files: dict[str, str] = {}
    for node in _nodes(schema):
        if "__id__" in node:
            node["__id__"] = numbers.setdefault(node["__id__"], len(numbers))
        if isinstance(node.get("file"), str):
            ending = "." + node["file"].rpartition(".")[2]
            node["file"] = files.setdefault(node["file"], f"{len(files)}{ending}")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        members = {files[name]: raw for name, raw in content.items()}
        members[_SCHEMA] = json.dumps(schema).encode("utf-8")
        for name, raw in sorted(members.items()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), raw)
    return buffer.getvalue()


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """All objects of a schema, in the order of the text."""
    stack = [schema]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            yield item
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            stack.extend(reversed(item))


# -- reading ------------------------------------------------------------------------------------


def load(data: bytes, declared: Any, trusted: Collection[str], where: str) -> Any:
    """A part, if the types in it are known or trusted."""
    skops = _skops(where)
    types = _types(skops, data, where)
    unknown = sorted(types - KNOWN - set(trusted))
    if unknown:
        raise ModelFileError(
            f"{where} needs the types {', '.join(unknown)}, which costboost does not know. If you "
            f"trust the file and these types, load it with trusted={unknown!r}."
        )
    if declared != sorted(types):
        raise ModelFileError(f"{where} does not have the types that it declares.")
    try:
        value = skops.loads(data, trusted=sorted(types))
    except Exception as error:  # whatever a bad schema makes of it
        raise ModelFileError(f"{where} cannot be read by skops: {error}") from error
    find(value, lambda item: _check_inside(item, where), (), [], set())
    return value


def _check_inside(value: Any, where: str) -> bool:
    """Look at an object on the way through a part; it goes on inside."""
    if isinstance(value, dict) or hasattr(value, "__dict__"):
        check_threads(value if isinstance(value, dict) else vars(value), where)
    return False


def check_threads(names: Mapping[Any, Any], where: str) -> None:
    """Refuse thread counts that no machine has: a process dies when it cannot start them."""
    for name in _THREADS & {name for name in names if isinstance(name, str)}:
        value = names[name]
        is_real = isinstance(value, (int, float, np.integer, np.floating))
        if is_real and not -_MAX_THREADS <= value <= _MAX_THREADS:
            raise ModelFileError(
                f"{where} asks for {name}={value!r:.40}; at most {_MAX_THREADS} are allowed."
            )


def _types(skops: Any, data: bytes, where: str) -> set[str]:
    """All types and functions that a part would use: those it names, and those skops asks for."""
    types = _named_types(data, where)
    try:
        return types | set(skops.get_untrusted_types(data=data))
    except Exception as error:  # whatever a bad schema makes of it
        raise ModelFileError(f"{where} cannot be read by skops: {error}") from error


def _named_types(data: bytes, where: str) -> set[str]:
    """The types that a part names, after a look at sizes and names of its members."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            names = {entry.filename for entry in entries}
            # Stored members take their own bytes, so the part cannot grow.
            fine = len(names) == len(entries) <= _LIMITS.members and all(
                entry.compress_type == zipfile.ZIP_STORED
                and entry.file_size == entry.compress_size
                and not entry.flag_bits
                for entry in entries
            )
            total = sum(entry.file_size for entry in entries)
            if not fine or total > len(data) or _SCHEMA not in names:
                raise ModelFileError(f"{where} is not an archive of skops as costboost writes it.")
            schema = parse_json(archive.read(_SCHEMA), f"{_SCHEMA} of {where}")
            for name in names - {_SCHEMA}:
                _check_array(archive.read(name), name, where)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{where} is not an archive of skops: {error}") from error
    types = set()
    for node in _nodes(schema):
        if "__class__" in node or "__module__" in node or "__loader__" in node:
            if not all(isinstance(node.get(key), str) for key in ("__class__", "__module__")):
                raise ModelFileError(f"{where} has a type without a name.")
            types.add(f"{node['__module__']}.{node['__class__']}")
            if node.get("__loader__") not in _LOADERS:
                types.add(f"skops.{node.get('__loader__')}")
    return types


def _check_array(data: bytes, name: str, where: str) -> None:
    """Arrays inside a part are plain ones whose size is the declared one."""
    from costboost.files.arrays import array_from_npy

    if not name.endswith(".npy"):
        raise ModelFileError(f"{where} has the member {name!r:.60}, which is not an array.")
    array_from_npy(data, f"Array {name} of {where}")


def put(value: Any, way: Any, item: Any, where: str) -> Any:
    """Put an object where it belongs inside a part; tuples on the way are replaced."""
    if not way:
        return item
    fine = isinstance(way, list) and all(
        isinstance(step, list) and len(step) == 2 and step[0] in ("attribute", "item")
        for step in way
    )
    if not fine or len(way) > 64:
        raise ModelFileError(f"{where} has no way into its part: {way!r:.60}.")
    (kind, key), rest = way[0], way[1:]
    try:
        if kind == "attribute":
            attributes = vars(value)
            if type(key) is not str or key not in attributes:
                raise KeyError(key)
            attributes[key] = put(attributes[key], rest, item, where)
            return value
        if isinstance(value, tuple):
            items = list(value)
            items[key] = put(items[key], rest, item, where)
            return tuple(items)
        if not isinstance(value, (list, dict)):
            raise TypeError(f"{type(value).__name__} has no items")
        value[key] = put(value[key], rest, item, where)
    except (KeyError, IndexError, TypeError) as error:
        raise ModelFileError(f"{where}: there is no {key!r:.40} in its part.") from error
    return value
