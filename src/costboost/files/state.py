"""The state of a classifier as plain values, and back: nothing outside `CLASSES` is ever built.

``state.json`` is ``{"objects": [...]}``; the last object is the classifier. Objects may refer to
objects before them, so a rule that stands in two lists is written once, and nothing can contain
itself. Every reference counts as if the object were written out again, and that count is bounded:
a few lines that unfold to millions of values are refused before anything is built from them.

Numbers of arrays follow one another in ``arrays.bin`` in the order in which the state names them,
each array once, so reading takes as many bytes as the file has.
"""

from __future__ import annotations

import dataclasses
import math
import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from costboost._typing import AnyArray
from costboost.errors import ModelFileError
from costboost.files import sklearn_tree, skops_parts
from costboost.files.container import LIMITS, Limits, parse_json
from costboost.files.tree_classifier import TreeClassifier

STATE = "state.json"
ARRAYS = "arrays.bin"

_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[SU]\d{1,5}|[Mm]8(\[\w{1,12}\])?)")
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
# Values inside values inside one object.
_DEPTH = 32
# Keys of mappings that are not text, and items of sets, in all: hashes of numbers can be made to
# collide, and then each key is compared with all others. Of several, squares count.
_KEYS = 2000
# Making a pandas frame takes long.
_FRAMES = 100
# About the nanoseconds that a classifier may take for a row.
_WORK = 2_000_000_000
_THREADS = frozenset({"n_jobs", "n_threads", "nthread", "nthreads", "num_thread", "num_threads"})
_MAX_THREADS = 1024
_MAX_FEATURES = 2**21  # columns of a classifier


# -- the classes that a file may hold -----------------------------------------------------------

# A file names a class by its bare name; this table says where it lives in this version of the
# library, so classes may move. Algorithms and named losses are found by themselves.
_PLACES = {
    "costboost.gbm.classifier": "CostBoostClassifier",
    "costboost.wrappers": "MinCostClassifier TargetRateClassifier",
    "costboost.columns.columns": "Column Columns",
    "costboost.costs.table": "Costs",
    "costboost.costs.words": "CostSummary",
    "costboost.costs.uncertain": "Interval Samples",
    "costboost.learners.base": "ConstantRule Ensemble JointVotes LeastSquares LogRatio Votes",
    "costboost.learners.tree": "Tree TreeEnsemble TreeRule",
    "costboost.learners.steps": "Histogram StepEnsemble StepRule Stump",
    "costboost.learners.linear": "Line LineRule LinearRule Perceptron",
    "costboost.learners.adapter": "ClassLearner ClassRule EstimatorRule SklearnLearner",
    "costboost.learners.joint": "JointRule JointTree",
    "costboost.learners.ensembles": "CoordinateEnsemble Mixture PairEnsemble RelationalRule "
    "stochastic",
    "costboost.losses": "PNorm",
    "costboost.gbm.members": "Member Members",
    "costboost.gbm.models": "DecisionHead Design LossHead NetworkModel ProbabilityHead TreeModel",
    "costboost.trees": "Trees",
    "costboost.gbm.train": "Estimate",
    "costboost.files.tree_classifier": "TreeClassifier",
    "lightgbm.sklearn": "LGBMClassifier",
    "xgboost.sklearn": "XGBClassifier",
    # Of scikit-learn: what has numbers, text and arrays that no compiled code reads unchecked, and
    # trees, which are checked here.
    "sklearn.calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration",
    "sklearn.compose": "ColumnTransformer",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": "ExtraTreesClassifier ExtraTreesRegressor RandomForestClassifier "
    "RandomForestRegressor",
    "sklearn.impute": "SimpleImputer",
    "sklearn.isotonic": "IsotonicRegression",
    "sklearn.linear_model": "LinearRegression LogisticRegression LogisticRegressionCV Ridge "
    "RidgeClassifier",
    "sklearn.model_selection": "GroupKFold KFold RepeatedStratifiedKFold StratifiedGroupKFold "
    "StratifiedKFold TimeSeriesSplit",
    "sklearn.naive_bayes": "BernoulliNB GaussianNB",
    "sklearn.pipeline": "Pipeline",
    "sklearn.preprocessing": "LabelBinarizer LabelEncoder MaxAbsScaler MinMaxScaler OneHotEncoder "
    "OrdinalEncoder RobustScaler StandardScaler",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier "
    "ExtraTreeRegressor",
}
_CLASSIFIERS = ("CostBoostClassifier", "MinCostClassifier", "TargetRateClassifier")


@cache
def classes() -> Mapping[str, str]:
    """All classes that a file may hold, and the modules that they live in."""
    found = {name: module for module, names in _PLACES.items() for name in names.split()}
    for loss in import_module("costboost.losses").LOSSES.values():
        found[type(loss).__name__] = type(loss).__module__
    return found | dict.fromkeys(
        import_module("costboost.algorithms").__all__, "costboost.algorithms"
    )


@cache
def estimators() -> frozenset[str]:
    """The classes that may be the root of a file."""
    return frozenset([*import_module("costboost.algorithms").__all__, *_CLASSIFIERS])


@cache
def known(name: str) -> Any:
    """The class, or the function, of a name; None if files do not hold it."""
    module = classes().get(name)
    return None if module is None else getattr(import_module(module), name, None)


def name_of(thing: Any) -> str | None:
    """The name of a class or function in files; None if files do not hold it."""
    name = getattr(thing, "__name__", None)
    return name if isinstance(name, str) and name in classes() and known(name) is thing else None


# -- writing ------------------------------------------------------------------------------------


class Encoder:
    """Turns a classifier into objects, bytes of arrays, and members of other tools."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.members: dict[str, bytes] = {}
        self.types: set[str] = set()  # that skops needs
        self.boosters: list[dict[str, Any]] = []  # what there is to say of each
        self._data: list[bytes] = []
        self._chunks: list[bytes] = []  # of the object that is being written
        self._known: dict[int, int] = {}
        self._kept: list[Any] = []  # ids are unique while objects live
        self._open: set[int] = set()

    @property
    def data(self) -> bytes:
        """The bytes of all arrays."""
        return b"".join(self._data + self._chunks)

    def value(self, value: Any, where: str) -> Any:
        """A value as JSON."""
        if value is None or type(value) in (bool, str, int):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is list:
            return self._items(value, where)
        if type(value) in (tuple, set, frozenset):
            items = value if type(value) is tuple else sorted(value, key=repr)
            return {type(value).__name__: self._items(items, where)}
        if type(value).__name__ in ("dict", "OrderedDict", "defaultdict"):
            return self._dict(value, where)
        if type(value) is bytes:
            return {"bytes": value.hex()}
        if isinstance(value, (np.generic, np.ndarray)):
            return self._array(value, where)
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"type": np.dtype(value).str}
        if isinstance(value, np.random.RandomState):
            return {"random": self.value(value.get_state(legacy=False), where)}
        if type(value).__name__ == "DataFrame" and type(value).__module__.startswith("pandas"):
            columns = [np.asarray(value[name]) for name in value.columns]
            return {"frame": self._items([list(value.index), list(value.columns), columns], where)}
        if name_of(value) is not None and not isinstance(value, type):
            return {"function": name_of(value)}
        return {"object": self.object(value, where)}

    def _items(self, items: Any, where: str) -> list[Any]:
        return [self.value(item, f"{where}[{i}]") for i, item in enumerate(items)]

    def _dict(self, mapping: Mapping[Any, Any], where: str) -> dict[str, Any]:
        if all(type(key) is str for key in mapping):
            return {"dict": {key: self.value(v, f"{where}[{key!r}]") for key, v in mapping.items()}}
        if len(mapping) > _KEYS:
            raise ModelFileError(
                f"{where} has {len(mapping)} keys that are not text; a model file takes {_KEYS}."
            )
        pairs = [[key, item] for key, item in mapping.items()]
        return {"pairs": self._items(pairs, where)}

    def _array(self, array: Any, where: str) -> dict[str, Any]:
        if isinstance(array, np.ndarray) and type(array) is not np.ndarray:
            raise _refusal(where, array)
        if array.dtype == object:
            return {"objects": self._items(array.ravel(), where), "shape": list(array.shape)}
        if not _DTYPE.fullmatch(array.dtype.str):
            raise _refusal(where, array)
        self._chunks.append(np.ascontiguousarray(array).tobytes())
        if isinstance(array, np.generic):
            return {"scalar": array.dtype.str}
        return {"array": array.dtype.str, "shape": list(array.shape)}

    def object(self, value: Any, where: str) -> int:
        """The number of an object, written at the first sight."""
        key = id(value)
        if key in self._known:
            return self._known[key]
        if key in self._open:
            raise ModelFileError(f"{where} contains itself, which a model file cannot hold.")
        self._open.add(key)
        outer, self._chunks = self._chunks, []
        node = self._content(value, where)
        self._data += self._chunks
        self._chunks = outer
        self._open.discard(key)
        self.objects.append(node)
        self._known[key] = len(self.objects) - 1
        self._kept.append(value)
        return self._known[key]

    def _fields(self, value: Any, where: str) -> dict[str, Any]:
        """The attributes of an object; those that are one and the same are written once."""
        state = value.__getstate__() if hasattr(value, "__getstate__") else vars(value)
        found: dict[str, Any] = {}
        first: dict[int, str] = {}
        for name, item in sorted((state or {}).items()):
            # What was only remembered must not change the bytes of the file.
            is_remembered = isinstance(getattr(type(value), name, None), cached_property)
            if name == "_sklearn_version" or is_remembered:
                continue
            is_plain = item is None or type(item) in (bool, int, float)
            same = name if is_plain else first.setdefault(id(item), name)
            found[name] = self.value(item, f"{where}.{name}") if same == name else {"same": same}
        return found

    def _content(self, value: Any, where: str) -> dict[str, Any]:
        name = name_of(type(value))
        if name in ("LGBMClassifier", "XGBClassifier") and hasattr(value, "n_features_in_"):
            name, value = "TreeClassifier", TreeClassifier.of(value, where)
            self._kept.append(value)
        if name is not None and isinstance(value, tuple):
            return {"class": name, "items": self._items(value, where)}
        if name is not None:
            if name in ("TreeModel", "TreeEnsemble") and hasattr(value, "trees"):
                engine, trees = getattr(value, "engine", "lightgbm"), value.trees
                about = {"engine": engine, "trees": len(trees.roots), "scores": trees.n_scores}
                self.boosters.append(about)
            return {"class": name, "fields": self._fields(value, where)}
        if sklearn_tree.is_tree(value):
            return {"tree": self._dict(sklearn_tree.dump(value), where)}
        if skops_parts.is_part(value):
            data, types = skops_parts.dump(value, where)
            member = f"sklearn/{len(self.members):05d}.skops"
            self.members[member] = data
            self.types |= types
            return {"skops": member}
        raise _refusal(where, value)


def _refusal(where: str, value: Any) -> ModelFileError:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if callable(value) and not isinstance(value, type) and not hasattr(value, "get_params"):
        return ModelFileError(
            f"{where} is the function {getattr(value, '__name__', kind)!r}, and model files hold "
            "no code. Write costs as an expression over columns (such as '0.9 * amount + 15') or "
            "pass them to predict as costs; name losses of the library by a string."
        )
    return ModelFileError(
        f"{where} is of the type {kind}, which model files do not hold. Use parameters made of "
        "numbers, text, arrays and classes of costboost or scikit-learn."
    )


# -- reading ------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Extent:
    """What an object asks for if it is written out in full wherever it is used."""

    values: int = 1
    work: int = 0  # about the nanoseconds that it takes for a row
    features: int = 0  # columns of rows
    outputs: int = 0  # classes

    def add(self, other: _Extent) -> None:
        self.values += other.values
        self.work += other.work
        self.features = max(self.features, other.features)
        self.outputs = max(self.outputs, other.outputs)


class Decoder:
    """Rebuilds a classifier from the members of a file."""

    def __init__(
        self, members: Mapping[str, bytes], trusted: frozenset[str], limits: Limits = LIMITS
    ) -> None:
        self._members = members
        self._trusted = trusted
        self._limits = limits
        self._data = memoryview(members.get(ARRAYS, b""))
        self._place = 0
        self._unused = set(members) - {STATE, ARRAYS}
        self._keys = self._frames = 0
        self._built: list[tuple[Any, _Extent]] = []
        self._extent = _Extent()

    def root(self) -> Any:
        """The last object, after all others."""
        if STATE not in self._members:
            raise ModelFileError(f"The file has no {STATE}.")
        state = parse_json(self._members[STATE], STATE, self._limits)
        objects = state.get("objects") if isinstance(state, dict) else None
        if not isinstance(objects, list) or not objects or set(state) != {"objects"}:
            raise ModelFileError(f"{STATE} must have a list of objects.")
        for number, node in enumerate(objects):
            where = f"Object {number} of {STATE}"
            self._extent = _Extent()
            if not isinstance(node, dict):
                raise ModelFileError(f"{where} must be an object; got {node!r:.60}.")
            built = self._object(node, where)
            self._built.append((built, self._extent))
        if self._place != len(self._data) or self._unused:
            what = f"Member {min(self._unused)}" if self._unused else f"The end of {ARRAYS}"
            raise ModelFileError(f"{what} belongs to no object of {STATE}.")
        return self._built[-1][0]

    def value(self, value: Any, where: str, depth: int = 0) -> Any:
        """A value from its JSON."""
        self._extent.values += 1
        if value is None or type(value) in (bool, str, int, float):
            return value
        if depth > _DEPTH:
            raise ModelFileError(f"{where} has values more than {_DEPTH} deep.")
        if type(value) is list:
            return [self.value(item, where, depth + 1) for item in value]
        build = _BUILDERS.get(frozenset(value))
        if build is None:
            raise ModelFileError(f"{where} has the value {value!r:.60}, which is not allowed.")
        try:
            return build(self, where, depth + 1, *value.values())
        except ModelFileError:
            raise
        except (TypeError, ValueError, KeyError) as error:
            raise ModelFileError(f"{where}: {value!r:.60} cannot be read: {error}") from error

    def _list(self, items: Any, where: str, depth: int) -> list[Any]:
        if type(items) is not list:
            raise ModelFileError(f"{where} must be a list; got {items!r:.60}.")
        return [self.value(item, where, depth) for item in items]

    def _set(self, where: str, depth: int, items: Any) -> set[Any]:
        found = self._list(items, where, depth)
        self._count_keys(len(found), where)
        return set(found)

    def _count_keys(self, n: int, where: str) -> None:
        self._keys += n * n
        if self._keys > _KEYS**2:
            raise ModelFileError(f"{where} has too many keys that are not text: {n}.")

    def _dict(self, where: str, depth: int, items: Any) -> dict[str, Any]:
        if type(items) is not dict:
            raise ModelFileError(f"{where} must be an object; got {items!r:.60}.")
        found = {key: self.value(item, where, depth) for key, item in items.items()}
        _check_threads(found, where)
        return found

    def _pairs(self, where: str, depth: int, items: Any) -> dict[Any, Any]:
        found = self._list(items, where, depth)
        self._count_keys(len(found), where)
        mapping = {key: item for key, item in found}  # of pairs, and nothing else
        if len(mapping) != len(found):
            raise ModelFileError(f"{where} has a key twice.")
        return mapping

    def _array(self, where: str, depth: int, name: Any, shape: Any) -> AnyArray:
        """The next array; its shape is believed only if the bytes are there."""
        _check_shape(shape, 2**40, where)
        if not isinstance(name, str) or not _DTYPE.fullmatch(name) or np.dtype(name).str != name:
            raise ModelFileError(f"{where} has the type {name!r:.60}, which files do not hold.")
        dtype = np.dtype(name)
        size, left = math.prod(shape) * dtype.itemsize, len(self._data) - self._place
        # An empty array must not stand for a long one: its other axes are real sizes.
        if size > left or (not size and math.prod(n or 1 for n in shape) > 2**20):
            raise ModelFileError(
                f"{where} of shape {tuple(shape)} and type {name} needs {size} bytes; {ARRAYS} has "
                f"{left} more."
            )
        raw = self._data[self._place : self._place + size]
        self._place += size
        self._extent.work += size // dtype.itemsize
        if dtype.kind == "b" and np.frombuffer(raw, np.uint8).max(initial=0) > 1:
            raise ModelFileError(f"{where} has booleans that are neither 0 nor 1.")
        if dtype.kind == "U" and np.frombuffer(raw, name[0] + "u4").max(initial=0) > 0x10FFFF:
            raise ModelFileError(f"{where} has text with characters that do not exist.")
        if not size:
            return np.empty(shape, dtype)
        return np.frombuffer(raw, dtype).reshape(shape).copy()

    def _objects(self, where: str, depth: int, items: Any, shape: Any) -> AnyArray:
        found = self._list(items, where, depth)
        _check_shape(shape, 2**20, where)
        return np.fromiter(found, object, len(found)).reshape(shape)

    def _reference(self, where: str, depth: int, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._built):
            raise ModelFileError(
                f"{where} refers to object {number!r:.20}; only earlier objects exist for it."
            )
        built, extent = self._built[number]
        self._extent.add(extent)
        if self._extent.values > 10 * self._limits.values:
            raise ModelFileError(
                f"{where} would have {self._extent.values} values, written out in full; at most "
                f"{10 * self._limits.values} are allowed."
            )
        if self._extent.work > _WORK:
            raise ModelFileError(f"{where} would take more than seconds to decide on a row.")
        return built

    def _function(self, where: str, depth: int, name: Any) -> Any:
        found = known(name) if isinstance(name, str) else None
        if isinstance(found, type) or not callable(found):
            raise ModelFileError(f"{where} is the function {name!r:.60}, which files do not hold.")
        return found

    def _type(self, where: str, depth: int, name: Any) -> Any:
        if not isinstance(name, str) or not _DTYPE.fullmatch(name):
            raise ModelFileError(f"{where} is the type {name!r:.60}, which files do not hold.")
        return np.dtype(name).type

    def _random(self, where: str, depth: int, content: Any) -> Any:
        state = self.value(content, where, depth)
        key = state["state"]["key"]
        if key.shape != (624,) or not 0 <= state["state"]["pos"] <= 624:
            raise ModelFileError(f"{where} is not the state of a random number generator.")
        generator = np.random.RandomState()
        generator.set_state(state)
        return generator

    def _frame(self, where: str, depth: int, content: Any) -> Any:
        import pandas as pd

        self._frames += 1
        if self._frames > _FRAMES:
            raise ModelFileError(f"{where} has more than {_FRAMES} frames.")
        index, names, columns = self._list(content, where, depth)
        if len(names) != len(columns) or any(len(column) != len(index) for column in columns):
            raise ModelFileError(f"{where} has columns that do not fit its index.")
        frame = pd.DataFrame(dict(enumerate(columns)), index=index)
        frame.columns = pd.Index(names)
        return frame

    # -- objects --------------------------------------------------------------------------------

    def _object(self, node: dict[str, Any], where: str) -> Any:
        if set(node) in ({"class", "fields"}, {"class", "items"}):
            return self._registered(where, *node.values())
        if set(node) == {"tree"}:
            state = self.value(node["tree"], where)
            try:
                tree = sklearn_tree.load(state)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ModelFileError(f"{where} is no tree of scikit-learn: {error}") from error
            self._extent.features = tree.n_features
            return tree
        if set(node) == {"skops"} and node["skops"] in self._unused:
            self._unused.discard(node["skops"])
            member = node["skops"]
            return skops_parts.load(
                self._members[member], self._trusted, f"Member {member}", self._limits
            )
        raise ModelFileError(f"{where} has the unknown keys {sorted(node)!r:.80}.")

    def _registered(self, where: str, name: Any, content: Any) -> Any:
        cls: Any = known(name) if isinstance(name, str) else None
        if not isinstance(cls, type):
            raise ModelFileError(f"{where} is of the class {name!r:.60}, which files do not hold.")
        if issubclass(cls, tuple):
            items = self._list(content, where, 0)
            if len(items) != len(getattr(cls, "_fields", items)):
                raise ModelFileError(f"{where}: {name} has another number of fields.")
            return tuple.__new__(cls, items)
        if type(content) is not dict:
            raise ModelFileError(f"{where}: the fields of {name} must be an object.")
        odd = _odd_name(name, frozenset(content))
        if odd:
            raise ModelFileError(f"{where}: {name} {odd}.")
        fields: dict[str, Any] = {}
        for key, item in content.items():
            is_same = type(item) is dict and set(item) == {"same"} and item["same"] in fields
            fields[key] = fields[item["same"]] if is_same else self.value(item, f"{where}, {key}")
        _check_threads(fields, f"{where}: {name}")
        built: Any = cls.__new__(cls)
        if "__setstate__" in vars(cls):  # it makes something that files leave out
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                built.__setstate__(fields)
        else:
            vars(built).update(fields)
        try:
            features, outputs, work = _needs(name, built)
            self._extent.work = work or self._extent.work
            self._extent.add(_Extent(0, 0, features, outputs))
            _check_estimator(built, self._extent)
        except (ValueError, TypeError, AttributeError, IndexError) as error:
            raise ModelFileError(f"{where}: {name}: {error}") from error
        return built


def _check_shape(shape: Any, most: int, where: str) -> None:
    fine = isinstance(shape, list) and len(shape) <= 8
    if not fine or not all(type(n) is int and 0 <= n <= most for n in shape):
        raise ModelFileError(f"{where} has the shape {shape!r:.60}, which no array can have.")


@lru_cache(1024)
def _odd_name(of: str, names: frozenset[str]) -> str | None:
    """What is wrong with the attributes of a class: they hide methods, or are not complete."""
    cls = known(of)
    kinds = (property, cached_property, staticmethod, classmethod)
    for name in sorted(names):
        hidden = getattr(cls, name, None)
        hides = callable(hidden) or isinstance(hidden, kinds)
        if not name.isidentifier() or name.startswith("__") or hides:
            return f"can have no attribute {name!r:.60}"
    if dataclasses.is_dataclass(cls) and not hasattr(cls, "get_params"):
        odd = sorted({field.name for field in dataclasses.fields(cls)} ^ names)
    else:
        odd = sorted(set(getattr(cls, "_get_param_names", list)()) - names)
    return f"lacks, or cannot have, {odd[0]!r:.60}" if odd else None


def _check_threads(names: Mapping[Any, Any], where: str) -> None:
    """Refuse thread counts that no machine has: a process dies when it cannot start them."""
    for name in _THREADS & names.keys():
        value = names[name]
        is_real = isinstance(value, (int, float, np.integer, np.floating))
        if is_real and not -_MAX_THREADS <= value <= _MAX_THREADS:
            raise ModelFileError(
                f"{where} asks for {name}={value!r:.40}; at most {_MAX_THREADS} are allowed."
            )


def _check_estimator(built: Any, extent: _Extent) -> None:
    """An estimator has the columns and the classes that its parts ask for."""
    if not hasattr(built, "get_params"):
        return
    fields = vars(built)
    n = fields.get("n_features_in_", _MAX_FEATURES)
    if not isinstance(n, (int, np.integer)) or not 0 < n <= _MAX_FEATURES:
        raise ValueError(f"the number of features must be 1 to {_MAX_FEATURES}, got {n!r:.40}.")
    columns = fields.get("columns_")
    if columns is not None:
        _need(len(columns) == n, "the number of features must be that of the columns")
        n = columns.n_inputs
    if extent.features > n:
        raise ValueError(f"a rule asks for column {extent.features - 1}, and there are {n}.")
    sizes = [len(fields[name]) for name in ("classes_", "decisions_") if name in fields]
    if sizes and extent.outputs > max(sizes):
        raise ValueError(f"a rule has {extent.outputs} classes, and there are {max(sizes)}.")
    if not hasattr(built, "tree_"):  # trees of a forest are asked without a look at the columns
        extent.features = extent.outputs = 0


def _need(holds: Any, words: str) -> None:
    if not holds:
        raise ValueError(words)


def _needs(name: str, part: Any) -> tuple[int, int, int]:
    """What a part asks for: columns, classes and work (0: a nanosecond for each number)."""
    # Raises where it could crash, hang or fill the memory.
    match name:
        case "Trees":
            n_features = int(np.max(part.feature, initial=-1)) + 1
            part.check(n_features)
            return n_features, 0, 100 * len(part.roots)
        case "TreeRule":
            fine = type(part.index) is int and 0 <= part.index < len(part.trees.roots)
            _need(fine, "index must be a tree of the table")
            return 0, 0, 10_000
        case "StepRule" | "LineRule":
            fine = type(part.feature) is int and part.feature >= 0
            _need(fine, "feature must be a column number")
            return part.feature + 1, 0, 0
        case "ClassRule":
            _need(type(part.k) is int and part.k > 0, "k must be a number of classes")
            return 0, part.k, 0
        case "ConstantRule":
            _need(np.ndim(part.value) <= 1, "value must be a number, or a row of them")
            return 0, np.size(part.value), 0
        case "Mixture":
            _need(type(part._k) is int, "there must be a number of columns")
            return 0, part._k, 0
        case "JointRule":
            return _joint_rule(part)
        case "Columns":
            part.check()
            return 0, 0, 0
        case "Design":
            columns = np.concatenate([part.numeric, part.categorical, part.gaps])
            _need(columns.dtype.kind == "i" and (columns >= 0).all(), "columns must be counts")
            sizes = np.minimum(part.sizes, 2**20)
            _need(sizes.dtype.kind == "i" and (sizes >= 0).all(), "sizes must be counts")
            _need(sizes.sum() <= 2**20, "there are too many categories")
            return int(columns.max(initial=-1)) + 1, 0, int(sizes.sum())
    return 0, 0, 0


def _joint_rule(rule: Any) -> tuple[int, int, int]:
    asked = np.flatnonzero(rule.feature >= 0)
    _need(all(type(n) is int for n in (rule.n_features, rule.k)), "sizes must be counts")
    _need((rule.feature <= rule.n_features).all(), "features must be columns or the class")
    for side in (rule.left, rule.right):  # children after parents: no way leads round in a circle
        _need(side.dtype.kind == "i" and (side[asked] > asked).all(), "children must come later")
    children = np.concatenate([rule.left[asked], rule.right[asked]])
    _need(children.max(initial=0) < len(rule.feature), "children must be nodes")
    _need((np.bincount(children)[children] == 1).all(), "a node must have one parent")
    return rule.n_features, rule.k, 10_000 * len(rule.feature)


_BUILDERS: Mapping[frozenset[str], Callable[..., Any]] = {
    frozenset(["float"]): lambda self, where, depth, name: _NON_FINITE[name],
    frozenset(["bytes"]): lambda self, where, depth, text: bytes.fromhex(text),
    frozenset(["scalar"]): lambda self, where, depth, name: self._array(where, depth, name, [])[()],
    frozenset(["type"]): Decoder._type,
    frozenset(["tuple"]): lambda self, where, depth, items: tuple(self._list(items, where, depth)),
    frozenset(["set"]): Decoder._set,
    frozenset(["frozenset"]): lambda self, *rest: frozenset(self._set(*rest)),
    frozenset(["dict"]): Decoder._dict,
    frozenset(["pairs"]): Decoder._pairs,
    frozenset(["array", "shape"]): Decoder._array,
    frozenset(["objects", "shape"]): Decoder._objects,
    frozenset(["object"]): Decoder._reference,
    frozenset(["function"]): Decoder._function,
    frozenset(["random"]): Decoder._random,
    frozenset(["frame"]): Decoder._frame,
}
