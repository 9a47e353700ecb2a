"""Model files: fitted classifiers as archives of skops, which hold no code.

A file is a zip archive that `skops.io.load` reads as well. ``schema.json`` holds classes and
values, each array is a member of its own, and ``about.json`` says for people what is inside.

`load` checks the archive before skops sees it: the sizes of all members, and each class together
with the way in which skops would build it. Then it checks what was built: no array of a tree, and
no number that reserves memory, is used before. A class of the library that needs such a check has
a method ``check``; classes of the library are trusted by the package that they are in.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray
from costboost._utils import versions, write_bytes
from costboost.boosting.recipes import REGISTERED
from costboost.costs.spec import columns_of
from costboost.errors import ModelFileError
from costboost.losses import LOSSES
from costboost.wrappers.tree_classifier import TreeClassifier, is_boosting_classifier

__all__ = ["FORMAT", "inspect", "load", "save"]

FORMAT = 3
PACKAGES = ("costboost", "lightgbm", "numpy", "scikit-learn", "skops", "xgboost")
ABOUT = "about.json"
SCHEMA = "schema.json"

# --- limits: what a file may ask for before anything in it is believed ----------------------------

# Bytes of a file, and of all its members once they are unpacked.
MAX_BYTES = 2**31
# Members may be so many times larger than the file, beyond the bytes that any file may have.
MAX_GROWTH = 20
FREE_BYTES = 2**26
# Bytes of each of the two members in JSON.
MAX_JSON_BYTES = 2**26
# Values in the schema, each counted wherever it is used.
MAX_VALUES = 2_000_000
# Threads that a parameter may ask for: a process dies when it cannot start them.
MAX_THREADS = 1024
THREADS = frozenset({"n_jobs", "n_threads", "nthread", "nthreads", "num_thread", "num_threads"})
# Columns of a classifier.
MAX_FEATURES = 2**21
# Names and entries that `inspect` lists.
MAX_LISTED = 10_000

# --- what may be in a file without being asked for ------------------------------------------------

# All classes of these parts of the library: they are made without their constructor, and their
# methods neither read nor write files.
MODEL_PACKAGES = frozenset(
    [
        "algorithms",
        "boosting",
        "columns",
        "costs",
        "gbm",
        "learners",
        "losses",
        "metrics",
        "trees",
        "wrappers",
    ]
)
# Classes of scikit-learn that hold numbers, text and arrays, which no compiled code reads
# unchecked; and trees, which are checked here. LightGBM's and XGBoost's classifiers are parameters:
# what they have learned becomes a `TreeClassifier`.
KNOWN = {
    "lightgbm.sklearn": ("LGBMClassifier",),
    "sklearn.calibration": (
        "CalibratedClassifierCV",
        "_CalibratedClassifier",
        "_SigmoidCalibration",
    ),
    "sklearn.dummy": ("DummyClassifier", "DummyRegressor"),
    "sklearn.ensemble._forest": (
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    ),
    "sklearn.frozen._frozen": ("FrozenEstimator",),
    "sklearn.isotonic": ("IsotonicRegression",),
    "sklearn.linear_model._base": ("LinearRegression",),
    "sklearn.linear_model._logistic": ("LogisticRegression", "LogisticRegressionCV"),
    "sklearn.linear_model._ridge": ("Ridge", "RidgeClassifier"),
    "sklearn.model_selection._split": (
        "GroupKFold",
        "KFold",
        "RepeatedStratifiedKFold",
        "StratifiedGroupKFold",
        "StratifiedKFold",
        "TimeSeriesSplit",
    ),
    "sklearn.naive_bayes": ("BernoulliNB", "GaussianNB"),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.preprocessing._data": (
        "MaxAbsScaler",
        "MinMaxScaler",
        "RobustScaler",
        "StandardScaler",
    ),
    "sklearn.preprocessing._encoders": ("OneHotEncoder", "OrdinalEncoder"),
    "sklearn.preprocessing._label": ("LabelBinarizer", "LabelEncoder"),
    "sklearn.tree._classes": (
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreeClassifier",
        "ExtraTreeRegressor",
    ),
    "xgboost.sklearn": ("XGBClassifier",),
}
NUMPY_SCALAR = r"numpy\.(bool_?|u?int(8|16|32|64)|float(16|32|64)|str_|datetime64|timedelta64)"
# Every other type, by the node of skops that builds it: some nodes call what they name.
BUILDERS = {
    "BytesNode": r"builtins\.bytes",
    "ConstructorFromReduceNode": r"builtins\.frozenset",
    "DTypeNode": r"numpy\.dtype",
    "DefaultDictNode": r"collections\.defaultdict",
    "DictNode": r"builtins\.dict|collections\.OrderedDict",
    "JsonNode": r"builtins\.str",
    "ListNode": r"builtins\.list",
    "NdArrayNode": rf"numpy\.ndarray|{NUMPY_SCALAR}",
    "RandomStateNode": r"numpy\.random\.mtrand\.RandomState",
    "SetNode": r"builtins\.set",
    "SliceNode": r"builtins\.slice",
    "TreeNode": r"sklearn\.tree\._tree\.Tree",
    "TupleNode": r"builtins\.tuple",
    "TypeNode": rf"builtins\.(str|int|float|bool)|collections\.OrderedDict|{NUMPY_SCALAR}",
}


# --- saving ---------------------------------------------------------------------------------------


def save(
    model: ClassifierMixin,
    path: str | os.PathLike[str],
    *,
    notes: Mapping[str, Any] | None = None,
) -> Path:
    """Write a fitted classifier of costboost to a model file.

    The file holds no code. It appears when it is complete: a crash leaves an old file as it was.
    The same model gives the same bytes.

    Parameters
    ----------
    model : classifier
        Any fitted classifier of the library.
    path : str or path
        The file, usually with the ending ``.costboost``.
    notes : mapping, optional
        Values of JSON that `inspect` gives back.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AdaC2Classifier
    >>> from costboost.files import load, save
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaC2Classifier({"fn": 1, "fp": 10}, n_estimators=10).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     same = load(save(model, os.path.join(folder, "cancer.costboost")))
    >>> bool((same.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    if not _is_classifier(model):
        remedy = ""
        if hasattr(model, "to_local"):
            remedy = " Save what its to_local() returns."
        raise ModelFileError(
            f"A model file holds a fitted classifier of costboost; got {type(model).__name__}."
            f"{remedy}"
        )
    check_is_fitted(model)
    schema, members = _dump(model)
    about = _about(model)
    about["untrusted"] = sorted(_unknown_types(schema))
    about["notes"] = dict(notes or {})
    members[SCHEMA] = json.dumps(schema).encode()
    members[ABOUT] = json.dumps(_readable(about)).encode()
    data = _pack(members, zipfile.ZIP_DEFLATED)
    _unpack(data)  # a file that is written can be read
    return write_bytes(Path(path), data)


def _pack(members: Mapping[str, bytes], compression: int) -> bytes:
    """Return an archive of members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(members):
            # Without the time of writing: the same model gives the same bytes.
            entry = zipfile.ZipInfo(name)
            entry.compress_type = compression
            archive.writestr(entry, members[name])
    return buffer.getvalue()


def _is_classifier(model: Any) -> bool:
    """Return whether an object is a classifier of the library; those on a cluster have no file."""
    cls = type(model)
    is_ours = any(base.__module__.startswith("costboost.") for base in cls.__mro__)
    return is_ours and hasattr(cls, "save") and not hasattr(cls, "to_local")


def _dump(model: ClassifierMixin) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what skops makes of a model: the schema, and the members that hold arrays."""
    skops = import_module("skops.io")  # not with costboost: it takes a while
    owner = type(model).__name__
    if callable(model.get_params(deep=False).get("cost_matrix")):
        raise ModelFileError(
            f"cost_matrix of {owner} is a function, and model files hold no code. Write costs as "
            "an expression over columns (such as '0.9 * amount + 15') or pass them to predict as "
            "costs."
        )
    buffer = io.BytesIO()
    try:
        _Copier(buffer).dump(model)
        data = skops.dumps(pickle.loads(buffer.getvalue()))
    except ModelFileError:
        raise
    except Exception as error:  # skops has its own errors, and hands on others
        raise ModelFileError(
            f"{owner} holds something that model files do not: {error!r:.300}. Use parameters made "
            "of numbers, text, arrays and classes of costboost or scikit-learn."
        ) from error
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        schema = json.loads(archive.read(SCHEMA))
        names: dict[str, str] = {}
        schema = _with_small_numbers(schema, {}, names)
        members = {names[old]: archive.read(old) for old in names}
    return schema, members


class _Copier(pickle.Pickler):
    """Copies a model for a file, with trees in place of boosters that only their library reads."""

    def reducer_override(self, value: Any) -> Any:
        if is_boosting_classifier(value) and hasattr(value, "n_features_in_"):
            return _itself, (TreeClassifier.from_fitted(value),)
        left_out = _names_left_out(value)
        if not left_out:
            return NotImplemented
        state = {name: x for name, x in value.__getstate__().items() if name not in left_out}
        return _from_state, (type(value), state)


def _itself(value: Any) -> Any:
    return value


def _names_left_out(value: Any) -> set[str]:
    """Return the attributes of an object that files do not hold."""
    if isinstance(value, type) or not hasattr(value, "__dict__"):
        return set()
    names = set()
    for name in vars(value):
        # What was only remembered must not change the bytes of the file. Requests of
        # scikit-learn's routing hold the estimator itself.
        is_remembered = isinstance(getattr(type(value), name, None), cached_property)
        if is_remembered or name == "_metadata_request":
            names.add(name)
    return names


def _from_state(cls: Any, state: dict[str, Any]) -> Any:
    copy = cls.__new__(cls)
    if hasattr(copy, "__setstate__"):
        copy.__setstate__(state)
    else:
        vars(copy).update(state)
    return copy


def _with_small_numbers(value: Any, numbers: dict[int, int], names: dict[str, str]) -> Any:
    """Return a schema with objects numbered from 1, each written once, and members named so."""
    # skops numbers objects by their place in memory and writes what occurs again once more.
    if isinstance(value, list):
        return [_with_small_numbers(item, numbers, names) for item in value]
    if not isinstance(value, dict):
        return value
    node = dict(value)
    if node.get("__loader__") == "JsonNode":
        del node["__id__"]
    elif "__id__" in node:
        is_known = node["__id__"] in numbers
        node["__id__"] = numbers.setdefault(node["__id__"], len(numbers) + 1)
        if is_known:
            return {name: node[name] for name in REFERENCE}
    if "file" in node:
        ending = Path(node["file"]).suffix
        node["file"] = names.setdefault(node["file"], f"{len(names) + 1}{ending}")
    return {name: _with_small_numbers(item, numbers, names) for name, item in node.items()}


# What is left of an object that occurs again.
REFERENCE = ("__class__", "__module__", "__loader__", "__id__")


# --- what people want to know of a model ----------------------------------------------------------


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says of itself; nothing is loaded.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        What the model is (``docs/files.md``), and ``untrusted``, the types that `load` must be told
        to trust.

    Raises
    ------
    ModelFileError
        If the file is damaged, or no model file.
    """
    data = _read(path)
    with _one_error(path):
        return _read_about(_unpack(data))


def _about(model: ClassifierMixin) -> dict[str, Any]:
    """Return what `inspect` shows; nothing of it is needed to load the model."""
    about = {
        "format": FORMAT,
        "class": type(model).__name__,
        "versions": versions(*PACKAGES),
        "parameters": model.get_params(deep=False),
        "classes": model.classes_,
        "decisions": getattr(model, "decisions_", model.classes_),
        "cost_matrix": getattr(model, "cost_matrix_", None),
        "costs": None,
        "temperature": getattr(model, "temperature_", None),
        "features": _about_features(model),
        "trained": getattr(model, "trained_at_", None),
        "data": getattr(model, "data_fingerprint_", None),
    }
    if hasattr(model, "costs_"):
        about["costs"] = str(model.costs_)[:MAX_LISTED]
    estimates = {}
    for name in ("score", "savings", "cost"):
        for suffix in ("", "without_costs_"):
            attribute = f"estimated_{name}_{suffix}"
            estimates[attribute] = getattr(model, attribute, None)
    about["estimates"] = {name: value for name, value in estimates.items() if value is not None}
    return about


def _about_features(model: ClassifierMixin) -> dict[str, Any]:
    categories: dict[str, list[str]] = {}
    features: dict[str, Any] = {
        "number": getattr(model, "n_features_in_", None),
        "names": getattr(model, "feature_names_in_", None),
        "columns": [],
        "categories": categories,
        "cost_columns": list(columns_of(getattr(model, "cost_matrix", None))),
    }
    columns = getattr(model, "columns_", None)
    # Of very wide tables there is nothing to say that a person would read.
    if columns is not None and len(columns) <= MAX_LISTED:
        features["columns"] = [list(row) for row in columns.rows()]
        for column in columns:
            if column.categories:
                categories[str(column.name)] = list(column.categories[:MAX_LISTED])
    return features


def _readable(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON for people."""
    if isinstance(value, (np.generic, np.ndarray)):
        if value.size > MAX_LISTED:
            return f"array of {value.shape}"
        value = value.tolist()
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return value[:MAX_LISTED]
    if isinstance(value, float):
        if np.isfinite(value):
            return value
        return str(value)
    if depth < 6 and isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else repr(key): _readable(item, depth + 1)
            for key, item in value.items()
        }
    if depth < 6 and isinstance(value, (list, tuple)):
        return [_readable(item, depth + 1) for item in value]
    # The same model gives the same bytes: without places in memory.
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))[:1000]


# --- loading --------------------------------------------------------------------------------------


def load(path: str | os.PathLike[str], *, trusted: Iterable[str] = ()) -> Any:
    """Read a model file.

    Nothing in the file is run, and nothing is built of classes that are neither the library's nor
    known nor trusted by you.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : iterable of str, default=()
        Types inside the model, beyond those that costboost knows, that you trust. The error for a
        file that needs them lists them.

    Returns
    -------
    classifier
        The fitted classifier.

    Raises
    ------
    ModelFileError
        If anything is wrong with the file; the message says what.
    """
    data = _read(path)
    with _one_error(path):
        skops = import_module("skops.io")
        members = _unpack(data)
        _read_about(members)
        schema = json.loads(members[SCHEMA])
        unknown = sorted(_unknown_types(schema) - set(trusted))
        if unknown:
            raise ModelFileError(
                f"It needs the types {', '.join(unknown)[:2000]}, which costboost does not know. "
                f"If you trust the file and these types, load it with trusted={unknown!r:.2000}."
            )
        _check_schema(schema, members)
        names = {name for _, name in _types(schema)}
        # skops unpacks members whatever their size: it is given those that were unpacked here.
        model = skops.loads(_pack(members, zipfile.ZIP_STORED), trusted=sorted(names))
        _check_model(model)
        return model


def _read(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size  # pipes and devices have none
        if size > MAX_BYTES:
            raise ModelFileError(f"{os.fspath(path)}: It has {size} bytes; at most {MAX_BYTES}.")
        return file.read(size)


@contextmanager
def _one_error(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make one kind of error of whatever is wrong with a file; it begins with its name."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error
    except Exception as error:  # zipfile, JSON, numpy and skops have errors of many kinds
        raise ModelFileError(
            f"{os.fspath(path)}: It is damaged, or was written by another version of costboost: "
            f"{error!r:.500}"
        ) from error


def _unpack(data: bytes) -> dict[str, bytes]:
    """Return the members of a file, whose sizes were bounded before."""
    if data.startswith(b"costboost model"):
        raise ModelFileError(
            "It was written by an earlier version of costboost, which had another format. Fit the "
            "model again and save it."
        )
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise ModelFileError("This is not a costboost model file, or it is cut off.")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        sizes = {entry.filename: entry.file_size for entry in entries}
        if len(sizes) < len(entries) or not {ABOUT, SCHEMA} <= sizes.keys():
            raise ModelFileError(
                "This is not a costboost model file, or one of an earlier version. Fit the model "
                "again and save it."
            )
        limit = min(MAX_BYTES, MAX_GROWTH * len(data) + FREE_BYTES)
        if sum(sizes.values()) > limit or max(sizes[ABOUT], sizes[SCHEMA]) > MAX_JSON_BYTES:
            raise ModelFileError(
                f"Its members would grow from {len(data)} to {sum(sizes.values())} bytes; at most "
                f"{limit}, and {MAX_JSON_BYTES} of JSON, are allowed."
            )
        return {entry.filename: _unpack_member(archive, entry) for entry in entries}


def _unpack_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    # Only here zipfile unpacks no more than it is asked for, whatever the packed bytes hold.
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ModelFileError(f"{entry.filename:.60} is packed in a way that is not known.")
    with archive.open(entry) as member:
        content = member.read(entry.file_size)
        if len(content) < entry.file_size or member.read(1):
            raise ModelFileError(f"{entry.filename:.60} has another size than it says.")
        return content


def _read_about(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what a file says of itself, if its format is that of this version."""
    about = json.loads(members[ABOUT])
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ModelFileError(
            f"It has another format than {FORMAT}, which this costboost reads. Update costboost, "
            "or fit the model again and save it."
        )
    return about


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a schema that skops would build something of."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "__loader__" in value:
                yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _types(schema: Any) -> set[tuple[str, str]]:
    """Return which nodes of skops are used, each with the type that it would build."""
    types = set()
    for node in _nodes(schema):
        types.add((f"{node['__loader__']}", f"{node['__module__']}.{node['__class__']}"))
    return types


def _unknown_types(schema: Any) -> set[str]:
    """Return the types that must be trusted by a user."""
    return {name for loader, name in _types(schema) if not _is_known(loader, name)}


def _is_known(loader: str, name: str) -> bool:
    """Return whether a type may be built in this way without being asked for."""
    if loader in BUILDERS and re.fullmatch(BUILDERS[loader], name):
        return True
    module, _, class_name = name.rpartition(".")
    if loader == "ObjectNode" and class_name in KNOWN.get(module, ()):
        return True
    if loader == "ObjectNode" and name in _registered_names():
        return True
    library, _, rest = module.partition(".")
    if library != "costboost" or rest.split(".")[0] not in MODEL_PACKAGES:
        return False
    try:
        cls = getattr(import_module(module), class_name, None)
    except ImportError:
        return False
    if not isinstance(cls, type) or cls.__module__ != module or issubclass(cls, np.ndarray):
        return False
    # Only a class that says itself how it is rebuilt from arguments is ever called.
    is_rebuilt = "__reduce__" in vars(cls)
    return (
        (loader == "ObjectNode" and not is_rebuilt)
        or (loader == "ConstructorFromReduceNode" and is_rebuilt)
        or (loader == "TupleNode" and issubclass(cls, tuple))
    )


def _registered_names() -> set[str]:
    """Return the names of algorithms and losses that were registered in this program."""
    classes = [*REGISTERED.values(), *map(type, LOSSES.values())]
    return {f"{cls.__module__}.{cls.__name__}" for cls in classes}


def _check_schema(schema: dict[str, Any], members: Mapping[str, bytes]) -> None:
    """Raise an error if skops would need more memory or time than the file has a right to."""
    # Older protocols have other nodes, with other checks.
    if schema.get("protocol") != 2:
        raise ModelFileError(f"It has the skops protocol {schema.get('protocol')!r:.40}.")
    files = [node["file"] for node in _nodes(schema) if "file" in node]
    if len(set(files)) < len(files) or not set(files) <= members.keys():
        raise ModelFileError("Its schema does not name each array once.")
    if _count_values(schema, {}) > MAX_VALUES:
        raise ModelFileError(f"It has more than {MAX_VALUES:,} values.")


def _count_values(value: Any, counts: dict[Any, float]) -> float:
    """Count values wherever they are used: what is used again can unfold to very many."""
    if isinstance(value, list):
        return 1.0 + sum(_count_values(item, counts) for item in value)
    if not isinstance(value, dict):
        return 1.0
    number = value.get("__id__")
    if number in counts and set(value) == set(REFERENCE):
        return counts[number]
    if number in counts:
        raise ModelFileError("Its schema has two objects of one number.")
    if number is not None:
        counts[number] = np.inf  # an object that holds itself
    count = 1.0 + sum(_count_values(item, counts) for item in value.values())
    if number is not None:
        counts[number] = count
    return count


# --- what was built -------------------------------------------------------------------------------


def _check_model(model: Any) -> None:
    """Raise an error unless a model that skops has built can be asked without a crash."""
    if not _is_classifier(model):
        raise ModelFileError(f"It holds no classifier of costboost, but a {type(model).__name__}.")
    parts = list(_parts(model))
    for part in parts:
        if isinstance(part, np.ndarray):
            _check_array(part)
        elif isinstance(part, np.random.RandomState):
            if not 0 <= part.get_state(legacy=False)["state"]["pos"] <= 624:
                raise ModelFileError("It has a generator of random numbers that cannot be.")
        elif type(part).__module__ == "sklearn.tree._tree":
            _check_nodes(part)
        elif hasattr(part, "__dict__"):
            _check_attributes(part)
    # No method is called before all attributes are known to be sound.
    for part in parts:
        _check_object(part)
    check_is_fitted(model)
    _check_whole(model)


def _parts(model: Any) -> Iterator[Any]:
    """Yield all objects of a model that are more than numbers and text, each once."""
    waiting = [model]
    seen = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, (str, bytes, int, float, type, np.generic)) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, (list, tuple, set, frozenset)):
            waiting.extend(part)
        elif isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, np.ndarray) and part.dtype == object:
            waiting.extend(part.ravel().tolist())
        elif hasattr(part, "__dict__"):
            waiting.extend(vars(part).values())


def _check_array(array: AnyArray) -> None:
    if array.dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise ModelFileError("It has booleans that are neither 0 nor 1.")
    if array.nbytes == 0 and max(array.shape, default=0) > MAX_FEATURES:
        raise ModelFileError(f"It has an array without numbers of the shape {array.shape}.")


COMPUTED = (FunctionType, MethodType, cached_property, property)


def _check_attributes(part: Any) -> None:
    cls = type(part)
    for name, value in vars(part).items():
        # An attribute must not take the place of what a class computes: methods check what compiled
        # code reads.
        if not name.isidentifier() or isinstance(getattr(cls, name, None), COMPUTED):
            raise ModelFileError(f"{cls.__name__} can have no attribute {name!r:.60}.")
        is_number = isinstance(value, (int, float, np.number))
        if name in THREADS and is_number and not -MAX_THREADS <= value <= MAX_THREADS:
            raise ModelFileError(f"{name} is {value!r:.40}; at most {MAX_THREADS} are allowed.")
        if name in ("n_features", "n_features_in_") and not 0 < value <= MAX_FEATURES:
            raise ModelFileError(f"{cls.__name__} has {value!r:.40} columns.")


def _check_object(part: Any) -> None:
    cls = type(part)
    if cls.__module__.startswith("costboost.") and hasattr(cls, "check"):
        cls.check(part)
    if isinstance(part, BaseDecisionTree) and "tree_" in vars(part):
        _check_width(part, part.tree_.n_features)
    # Forests hand rows on to their trees without a look at them.
    for tree in getattr(part, "estimators_", ()):
        if isinstance(tree, BaseDecisionTree):
            _check_width(part, tree.n_features_in_)


def _check_width(estimator: Any, n_features: int) -> None:
    # Without the number scikit-learn takes rows of any width.
    if estimator.n_features_in_ != n_features:
        raise ModelFileError(
            f"A {type(estimator).__name__} has {estimator.n_features_in_} columns, and its tree "
            f"has {n_features}."
        )


def _check_nodes(tree: Any) -> None:
    """Raise an error unless compiled code can walk through a tree of scikit-learn."""
    if tree.node_count != tree.capacity or tree.node_count < 1:
        raise ModelFileError("A tree of scikit-learn has another number of nodes than it says.")
    nodes = tree.__getstate__()["nodes"]
    left = nodes["left_child"]
    right = nodes["right_child"]
    inner = np.flatnonzero(left != -1)
    children = np.concatenate([left[inner], right[inner]])
    feature = nodes["feature"][inner]
    is_child = (children > np.tile(inner, 2)) & (children < len(nodes))
    rules = {
        "two children or none of each node": ((left == -1) == (right == -1)).all(),
        "children that come after their node": is_child.all(),
        "columns that exist": ((feature >= 0) & (feature < tree.n_features)).all(),
        "numbers for thresholds": not np.isnan(nodes["threshold"][inner]).any(),
    }
    for rule, holds in rules.items():
        if not holds:
            raise ModelFileError(f"A tree of scikit-learn must have {rule}.")
    if (np.bincount(children, minlength=len(nodes))[1:] != 1).any():
        raise ModelFileError("A tree of scikit-learn must have one parent of each node.")
    depth = np.zeros(len(nodes), dtype=np.intp)
    for node in inner:
        depth[[left[node], right[node]]] = depth[node] + 1
    if depth.max() > tree.max_depth:
        raise ModelFileError("A tree of scikit-learn must have the depth that it says.")


def _check_whole(model: Any) -> None:
    """Ask a loaded model about a row: parts may be sound and still not fit together."""
    decisions = getattr(model, "decisions_", model.classes_)
    for labels in (model.classes_, decisions):
        if not isinstance(labels, np.ndarray) or labels.ndim != 1 or len(labels) < 2:
            raise ModelFileError("The model must have two classes and decisions, or more.")
    matrix = getattr(model, "cost_matrix_", None)
    shape = (len(model.classes_), len(decisions))
    if matrix is not None and (matrix.shape != shape or not np.isfinite(matrix).all()):
        raise ModelFileError(f"The model must have finite costs of the shape {shape}.")
    columns = getattr(model, "columns_", None)
    if columns is None:
        return  # wrappers hand the row to an estimator, which may want any kind of table
    if len(columns) != model.n_features_in_:
        raise ModelFileError("The number of features is not that of the columns.")
    fault: Exception | None = None
    # Some models have no probabilities, and the scores of others need costs that no row is made of.
    for method in ("predict_proba", "decision_function"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = getattr(model, method)(columns.example())
            if len(answer) == 1:
                return
        except Exception as error:  # whatever parts that do not fit make of it
            fault = fault or error
    raise ModelFileError(f"The model cannot answer for a row: {fault!r:.300}")
