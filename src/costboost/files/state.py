"""The state of a classifier as plain values, and back: nothing outside `classes` is ever built.

The state is one value in JSON, the classifier. What occurs again is written once and then named by
its number, ``{"same": 7}``; only what came before has a number, so nothing can contain itself. What
is used again counts again as work, and work is bounded: a few lines that unfold to millions of
values are refused before anything is made of them.

Numbers of arrays follow one another in the order in which the state names them, each array once, so
reading takes as many bytes as the file has.
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
from sklearn.base import BaseEstimator
from sklearn.tree import BaseDecisionTree

from costboost._typing import AnyArray
from costboost.boosting.recipes import REGISTERED
from costboost.errors import ModelFileError
from costboost.estimator import CostSensitiveClassifier
from costboost.files import estimators as others
from costboost.files.container import LIMITS, Limits, parse_json
from costboost.trees import Trees

_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[SU]\d{1,5}|[Mm]8(\[\w{1,12}\])?)")
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_PLAIN = (type(None), bool, str, int)
_SIMPLE = (*_PLAIN, float, Trees)
# Values inside values.
_DEPTH = 64
# Nanoseconds, about: to make a value; to compare two keys (hashes of numbers can be made to
# collide, and then each key is compared with all others); to make a pandas frame; to ask one tree
# of a table; to ask a rule by itself.
_VALUE, _KEYS, _FRAME, _TREE, _RULE = 400, 500, 20_000_000, 100, 10_000
# To check a number of an array once more; to make a generator of random numbers.
_CHECK, _RANDOM = 200, 400_000
_THREADS = frozenset({"n_jobs", "n_threads", "nthread", "nthreads", "num_thread", "num_threads"})
_MAX_THREADS = 1024
_MAX_FEATURES = 2**21  # columns of a classifier
_MAX_CLASSES = 2**20


# -- the classes that a file may hold -----------------------------------------------------------

# A file names a class by its bare name; this table says where it lives in this version of the
# library, so classes may move. Algorithms and named losses are found by themselves.
_PLACES = {
    "costboost.gbm.classifier": "CostBoostClassifier",
    "costboost.wrappers": "MinCostClassifier TargetRateClassifier",
    "costboost.columns.columns": "Column Columns",
    "costboost.costs.table": "Costs",
    "costboost.costs.words": "CostSummary",
    "costboost.learners.base": "ConstantRule Ensemble JointVotes LeastSquares LogRatio Votes",
    "costboost.learners.tree": "Tree TreeEnsemble TreeRule",
    "costboost.learners.steps": "Histogram StepEnsemble StepRule Stump",
    "costboost.learners.linear": "Line LineRule LinearRule Perceptron",
    "costboost.learners.adapter": "ClassLearner ClassRule EstimatorRule SklearnLearner",
    "costboost.learners.ensembles": "CoordinateEnsemble Mixture PairEnsemble RelationalRule "
    "stochastic",
    "costboost.losses": "PNorm",
    "costboost.gbm.models": "CostEntry CostModel DecisionModel ModelEnsemble ProbabilityModel "
    "TreeModel",
    "costboost.gbm.estimates": "Estimates",
    "costboost.gbm.network": "Design NetworkModel",
    "costboost.trees": "Trees",
    "costboost.gbm.members": "Member Members",
    "costboost.metrics.money_interval": "Interval",
    "costboost.files.estimators": "TreeClassifier",
    "lightgbm.sklearn": "LGBMClassifier",
    "xgboost.sklearn": "XGBClassifier",
    # Of scikit-learn: what has numbers, text and arrays that no compiled code reads unchecked, and
    # trees, which are checked here.
    "sklearn.calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": "ExtraTreesClassifier ExtraTreesRegressor RandomForestClassifier "
    "RandomForestRegressor",
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


@cache
def classes() -> Mapping[str, str]:
    """All classes that a file may hold, and the modules that they live in."""
    found = {name: module for module, names in _PLACES.items() for name in names.split()}
    for loss in import_module("costboost.losses").LOSSES.values():
        found[type(loss).__name__] = type(loss).__module__
    return found | dict.fromkeys(
        import_module("costboost.algorithms").__all__, "costboost.algorithms"
    )


# Names in files of earlier versions.
RENAMED = {"Estimate": "Interval"}


def known(name: Any) -> Any:
    """The class, or the function, of a name; None if files do not hold it."""
    if not isinstance(name, str):
        return None
    name = RENAMED.get(name, name)
    module = classes().get(name)
    return REGISTERED.get(name) if module is None else getattr(import_module(module), name, None)


def name_of(thing: Any) -> str | None:
    """The name of a class or function in files; None if files do not hold it."""
    name = getattr(thing, "__name__", None)
    return name if thing is not None and known(name) is thing else None


# -- writing ------------------------------------------------------------------------------------


class Encoder:
    """Turns a classifier into values of JSON and bytes of arrays."""

    def __init__(self) -> None:
        self.arrays: list[bytes] = []
        self.types: set[str] = set()  # that skops needs
        self.boosters: list[dict[str, Any]] = []  # what there is to say of each
        self._numbers: dict[int, int] = {}  # by id; -1 while a value is being written
        self._count = 0
        self._kept: list[Any] = []  # ids are unique while objects live

    def value(self, value: Any, where: str) -> Any:
        """A value as JSON."""
        if type(value) in _PLAIN:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        number = self._numbers.get(id(value))
        if number == -1:
            raise ModelFileError(f"{where} contains itself, which a model file cannot hold.")
        if number is not None:
            return {"same": number}
        self._numbers[id(value)] = -1
        self._kept.append(value)
        found = self._content(value, where)
        # By the order in which values are complete, which is that of a reader too.
        self._numbers[id(value)] = self._count
        self._count += 1
        return found

    def _content(self, value: Any, where: str) -> Any:
        kind = type(value)
        if kind is list:
            return self._items(value, where)
        if kind is tuple:
            return {"tuple": self._items(value, where)}
        if kind.__name__ in ("dict", "OrderedDict", "defaultdict"):
            if all(type(key) is str for key in value):
                return {"dict": {k: self.value(v, f"{where}[{k!r}]") for k, v in value.items()}}
            return {"pairs": [self._items(pair, where) for pair in value.items()]}
        if isinstance(value, (np.generic, np.ndarray)):
            return self._array(value, where)
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"type": np.dtype(value).str}
        if isinstance(value, np.random.RandomState):
            return {"random": self.value(value.get_state(legacy=False), where)}
        if kind.__name__ == "DataFrame" and kind.__module__.startswith("pandas"):
            columns = [np.asarray(value[name]) for name in value.columns]
            return {"frame": self._items([list(value.index), list(value.columns), columns], where)}
        if name_of(value) is not None and not isinstance(value, type):
            return {"function": name_of(value)}
        return self._object(value, where)

    def _items(self, items: Any, where: str) -> list[Any]:
        return [self.value(item, f"{where}[{i}]") for i, item in enumerate(items)]

    def _array(self, array: Any, where: str) -> dict[str, Any]:
        if array.dtype == object:
            return {"objects": [list(array.shape), self._items(array.ravel(), where)]}
        is_plain = isinstance(array, np.generic) or type(array) is np.ndarray
        if not is_plain or not _DTYPE.fullmatch(array.dtype.str):
            raise _refusal(where, array)
        self.arrays.append(np.ascontiguousarray(array).tobytes())
        if isinstance(array, np.generic):
            return {"scalar": array.dtype.str}
        return {"array": [array.dtype.str, *array.shape]}

    def _object(self, value: Any, where: str) -> dict[str, Any]:
        name = name_of(type(value))
        if name in ("LGBMClassifier", "XGBClassifier") and hasattr(value, "n_features_in_"):
            name, value = "TreeClassifier", others.TreeClassifier.of(value, where)
        if name is None and others.is_part(value):
            data, types = others.dump_part(value, where)
            self.types |= types
            return {"skops": self.value(np.frombuffer(data, np.uint8), where)}
        if name is None:
            raise _refusal(where, value)
        if isinstance(value, tuple):
            return {name: self._items(value, where)}
        if name in ("TreeModel", "TreeEnsemble") and hasattr(value, "trees"):
            engine, trees = getattr(value, "engine", "lightgbm"), value.trees
            about = {"engine": engine, "trees": len(trees.roots), "scores": trees.n_scores}
            self.boosters.append(about)
        is_ours = isinstance(value, CostSensitiveClassifier)
        state = vars(value) if is_ours else value.__getstate__()
        fields = {}
        for key, item in sorted((state or {}).items()):
            # What was only remembered must not change the bytes of the file.
            is_remembered = isinstance(getattr(type(value), key, None), cached_property)
            # Requests of scikit-learn's routing hold the estimator itself.
            if key not in ("_sklearn_version", "_metadata_request") and not is_remembered:
                item = others.dump_tree(item) if others.is_tree(item) else item
                fields[key] = self.value(item, f"{where}.{key}")
        return {name: fields}


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


class Decoder:
    """Rebuilds a classifier from its state and its arrays."""

    def __init__(
        self, arrays: bytes | memoryview, trusted: frozenset[str], limits: Limits = LIMITS
    ) -> None:
        self._data, self._place = memoryview(arrays), 0
        self._trusted, self._limits = trusted, limits
        self._built: list[tuple[Any, int]] = []  # values with a number, and their work
        self._depth = self._work = self._again = 0
        self._path: list[str] = []  # classes and names of what is being read

    def root(self, state: bytes) -> Any:
        """The classifier."""
        values = parse_json(state, "The state", self._limits)
        try:
            found = self.value(values)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ModelFileError(f"{'.'.join(self._path) or 'The state'}: {error}") from error
        if self._place != len(self._data):
            raise ModelFileError("The end of the arrays belongs to no value of the state.")
        return found

    def value(self, value: Any) -> Any:
        """A value from its JSON."""
        before = self._work
        self._spend(_VALUE)
        if type(value) in (*_PLAIN, float):
            return value
        self._depth += 1
        if self._depth > _DEPTH:
            raise ValueError(f"values are nested more than {_DEPTH} deep")
        kind, content = "list", value
        if type(value) is dict:
            if len(value) != 1:
                raise ValueError(f"{value!r:.60} must have one key")
            [(kind, content)] = value.items()
        build = _BUILDERS.get(kind)
        built = self._object(kind, content) if build is None else build(self, content)
        self._depth -= 1
        if kind not in ("same", "float"):
            self._built.append((built, self._work - before))
        return built

    def _spend(self, nanoseconds: int) -> None:
        self._work += nanoseconds
        if self._work + self._again > 1e9 * self._limits.seconds:
            raise ValueError(
                "the model, with all its values written out, would take more than "
                f"{self._limits.seconds:g} seconds"
            )

    def _same(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._built):
            raise ValueError(f"there is no earlier value with the number {number!r:.20}")
        built, work = self._built[number]
        if type(built) is np.ndarray:  # the part that it belongs to is checked as well
            self._again += _CHECK * built.size
        self._spend(work)
        return built

    def _items(self, items: Any) -> list[Any]:
        if type(items) is not list:
            raise ValueError(f"{items!r:.60} must be a list")
        return [self.value(item) for item in items]

    def _dict(self, items: Any) -> dict[str, Any]:
        found = {}
        for key, item in items.items():
            self._path.append(key[:60])
            found[key] = self.value(item)
            self._path.pop()
        for name in _THREADS & found.keys():
            n = found[name]  # a process dies when it cannot start them
            if isinstance(n, (int, float, np.number)) and not -_MAX_THREADS <= n <= _MAX_THREADS:
                raise ValueError(f"{name} is {n!r:.40}; at most {_MAX_THREADS} are allowed")
        return found

    def _pairs(self, items: Any) -> dict[Any, Any]:
        found = [self._items(pair) for pair in items]
        self._spend(_KEYS * len(found) ** 2)
        mapping = {key: item for key, item in found}  # of pairs, and nothing else
        if len(mapping) != len(found):
            raise ValueError("a key occurs twice")
        return mapping

    def _array(self, content: Any) -> AnyArray:
        """The next array; its shape is believed only if the bytes are there."""
        name, *shape = content
        dtype, count = _dtype(name), _count(shape)
        size, left = count * dtype.itemsize, len(self._data) - self._place
        if size > left:
            raise ValueError(
                f"an array of the shape {tuple(shape)} and the type {name} needs {size} bytes; "
                f"there are {left} more"
            )
        raw = self._data[self._place : self._place + size]
        self._place += size
        self._spend(count)
        if dtype.kind == "b" and np.frombuffer(raw, np.uint8).max(initial=0) > 1:
            raise ValueError("booleans must be 0 or 1")
        if dtype.kind == "U" and np.frombuffer(raw, name[0] + "u4").max(initial=0) > 0x10FFFF:
            raise ValueError("text has characters that do not exist")
        return np.frombuffer(raw, dtype).reshape(shape).copy() if size else np.empty(shape, dtype)

    def _objects(self, content: Any) -> AnyArray:
        shape, items = content
        found = self._items(items)
        if _count(shape) != len(found):
            raise ValueError(f"{len(found)} objects do not have the shape {shape!r:.60}")
        return np.fromiter(found, object, len(found)).reshape(shape)

    def _function(self, name: Any) -> Any:
        found = known(name)
        _need(callable(found) and not isinstance(found, type), f"no function {name!r:.60}")
        return found

    def _random(self, content: Any) -> Any:
        state = self.value(content)
        inner = state["state"]
        _need(inner["key"].shape == (624,) and 0 <= inner["pos"] <= 624, "no generator is so")
        self._spend(_RANDOM)
        generator = np.random.RandomState(0)
        generator.set_state(state)
        return generator

    def _frame(self, content: Any) -> Any:
        import pandas as pd

        self._spend(_FRAME)
        index, names, columns = self._items(content)
        fits = len(names) == len(columns) and all(len(x) == len(index) for x in columns)
        _need(fits, "columns do not fit the index of a frame")
        frame = pd.DataFrame(dict(enumerate(columns)), index=index)
        frame.columns = pd.Index(names)
        return frame

    def _skops(self, content: Any) -> Any:
        data = np.asarray(self.value(content), np.uint8).tobytes()
        return others.load_part(data, self._trusted, "A part of the model", self._limits)

    def _object(self, name: str, content: Any) -> Any:
        """An object of a class, made without its constructor."""
        cls: Any = known(name)
        _need(isinstance(cls, type), f"files hold no class {name!r:.60}")
        before = self._work
        self._path.append(name)
        if issubclass(cls, tuple):
            items = self._items(content)
            _need(len(items) == len(getattr(cls, "_fields", items)), "it has other fields")
            built: Any = tuple.__new__(cls, items)
        else:
            fields = self._dict(content)
            if issubclass(cls, CostSensitiveClassifier):  # a parameter may be newer than the file
                fields = cls().get_params(deep=False) | fields
            _check_names(name, frozenset(fields))
            if hasattr(cls, "get_params"):
                _check_estimator(cls, fields)
            built = cls.__new__(cls)
            if "__setstate__" in vars(cls):  # it makes something that files leave out
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    built.__setstate__(fields)
            else:
                vars(built).update(fields)
            # What a part takes to be asked, in place of what it holds; but other values would count
            # nothing, however often they unfold.
            work, values = _work_of(name, built), vars(built).values()
            if work is not None and all(
                type(x) in _SIMPLE or (type(x) is np.ndarray and x.dtype != object) for x in values
            ):
                self._work = before + work
        self._path.pop()
        return built


def _dtype(name: Any) -> np.dtype[Any]:
    """The type of an array that files hold."""
    if not isinstance(name, str) or not _DTYPE.fullmatch(name) or np.dtype(name).str != name:
        raise ValueError(f"files hold no arrays of the type {name!r:.60}")
    return np.dtype(name)


def _count(shape: Any) -> int:
    """The size of an array of a shape that arrays can have."""
    if len(shape) > 8 or not all(type(n) is int and 0 <= n <= 2**40 for n in shape):
        raise ValueError(f"no array can have the shape {shape!r:.60}")
    # An empty array must not stand for a long one: its other axes are real sizes.
    if 0 in shape and math.prod(n or 1 for n in shape) > 2**20:
        raise ValueError(f"no array without numbers can have the shape {shape!r:.60}")
    return math.prod(shape)


@lru_cache(1024)
def _check_names(of: str, names: frozenset[str]) -> None:
    """Attributes hide no methods, and are complete where a class says which it has."""
    cls = known(of)
    kinds = (property, cached_property, staticmethod, classmethod)
    for name in sorted(names):
        hidden = getattr(cls, name, None)
        hides = callable(hidden) or isinstance(hidden, kinds)
        if not name.isidentifier() or name.startswith("__") or hides:
            raise ValueError(f"it can have no attribute {name!r:.60}")
    if issubclass(cls, BaseEstimator):
        odd = sorted(set(cls._get_param_names()) - names)
    elif dataclasses.is_dataclass(cls):
        # A field that is newer than the file has its default, which the class holds.
        fields = {f.name: f.default is dataclasses.MISSING for f in dataclasses.fields(cls)}
        needed = {name for name, is_needed in fields.items() if is_needed}
        odd = sorted((names - fields.keys()) | (needed - names))
    else:
        odd = []
    if odd:
        raise ValueError(f"it lacks, or cannot have, {odd[0]!r:.60}")


def _check_estimator(cls: type, fields: dict[str, Any]) -> None:
    """An estimator has a sound number of columns, and trees of scikit-learn have as many."""
    n = fields.get("n_features_in_", 1)
    if not isinstance(n, (int, np.integer)) or not 0 < n <= _MAX_FEATURES:
        raise ValueError(f"the number of features must be 1 to {_MAX_FEATURES}, got {n!r:.40}")
    if "columns_" in fields:
        _need(len(fields["columns_"]) == n, "the number of features is not that of the columns")
    if issubclass(cls, BaseDecisionTree) and "tree_" in fields:
        fields["tree_"] = others.load_tree(fields["tree_"], int(fields["n_features_in_"]))
    for part in fields.get("estimators_", ()):  # forests hand rows on without a look at them
        if isinstance(part, BaseDecisionTree) and vars(part).get("n_features_in_") != n:
            raise ValueError(f"a tree has another number of columns than the forest, which has {n}")


def _need(holds: Any, words: str) -> None:
    if not holds:
        raise ValueError(words)


def _work_of(name: str, part: Any) -> int | None:
    """Nanoseconds for a row, about (None: one for each number); an error if a part could hang."""
    if name in ("ClassRule", "Mixture"):
        k = part._k if name == "Mixture" else part.k
        _need(type(k) is int and 0 < k <= _MAX_CLASSES, f"there cannot be {k!r:.40} classes")
    match name:
        case "Trees":
            part.check()
            return _TREE * len(part.roots)
        case "TreeClassifier" if hasattr(part, "trees_"):
            _need(part.trees_.width <= part.n_features_in_, "its trees ask for columns beyond")
        case "TreeRule":
            return _RULE
        case "Columns":
            part.check()
        case "Design":
            sizes = part.sizes
            _need(sizes.dtype.kind == "i", "sizes must be counts")
            fine = (sizes >= 0) & (sizes <= _MAX_CLASSES)
            _need(fine.all(), f"sizes must be counts of at most {_MAX_CLASSES}")
            _need(sizes.sum() <= _MAX_CLASSES, "there are too many categories")
            return int(sizes.sum())
    return None


_BUILDERS: Mapping[str, Callable[[Decoder, Any], Any]] = {
    "list": Decoder._items,
    "same": Decoder._same,
    "float": lambda self, name: _NON_FINITE[name],
    "scalar": lambda self, name: self._array([name])[()],
    "type": lambda self, name: _dtype(name).type,
    "tuple": lambda self, items: tuple(self._items(items)),
    "dict": Decoder._dict,
    "pairs": Decoder._pairs,
    "array": Decoder._array,
    "objects": Decoder._objects,
    "function": Decoder._function,
    "random": Decoder._random,
    "frame": Decoder._frame,
    "skops": Decoder._skops,
}
