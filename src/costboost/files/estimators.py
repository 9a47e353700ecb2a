"""Estimators of other libraries inside a model.

Trees of scikit-learn become arrays, boosters of LightGBM and XGBoost a table of trees. What
`costboost.files.state` does not know is left to skops, and built only if a user trusts it: compiled
code of scikit-learn can crash on hostile arrays. No type is imported that was not named.
"""

from __future__ import annotations

import io
import math
import re
import warnings
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Floats, Ints
from costboost.columns.table import is_sparse
from costboost.errors import ModelFileError
from costboost.files.container import LIMITS, Limits, parse_json
from costboost.trees import Trees, from_lightgbm, from_xgboost

# --- trees of scikit-learn: compiled code reads their nodes unchecked, so check them ----------


def is_tree(value: Any) -> bool:
    """Whether an object is the compiled tree inside a scikit-learn tree."""
    return type(value).__module__ == "sklearn.tree._tree" and type(value).__name__ == "Tree"


def dump_tree(tree: Any) -> dict[str, Any]:
    """The tree as numbers and arrays, one per field of its nodes; its estimator has the columns."""
    _, (_, n_classes, _), state = tree.__reduce__()
    nodes = state["nodes"]
    return {
        "n_classes": np.asarray(n_classes),
        "max_depth": int(state["max_depth"]),
        "nodes": {name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names},
        "values": state["values"],
    }


def load_tree(state: Mapping[str, Any], n_features: int) -> Any:
    """The tree; an error if its nodes are not those of a tree."""
    n_classes, fields = state["n_classes"], state["nodes"]
    if ((n_classes < 1) | (n_classes > 2**20)).any():
        raise ValueError("the numbers of classes are those of no tree")
    # Private, and the only place where scikit-learn has it. It checks types and shapes itself.
    tree = import_module("sklearn.tree._tree").Tree(n_features, n_classes, len(n_classes))
    dtype = tree.__getstate__()["nodes"].dtype
    if set(fields) != set(dtype.names):
        raise ValueError(f"the installed scikit-learn has the fields {', '.join(dtype.names)}")
    nodes = np.zeros(len(fields["left_child"]), dtype)
    for name in dtype.names:
        nodes[name] = fields[name]
    _check_nodes(nodes, n_features)
    tree.__setstate__({**state, "node_count": len(nodes), "nodes": nodes})
    return tree


def _check_nodes(nodes: AnyArray, n_features: int) -> None:
    """Every node but the first is the child of one earlier node; features exist."""
    left, right = nodes["left_child"], nodes["right_child"]
    inner: Ints = np.flatnonzero(left != -1)
    children = np.concatenate([left[inner], right[inner]])
    feature = nodes["feature"][inner]
    rules = {
        "a node with one child": (left == -1) != (right == -1),
        "no nodes": not len(nodes),
        "a child that does not come after its node": (children <= np.tile(inner, 2))
        | (children >= len(nodes)),
        f"a column beyond the {n_features} of its estimator": (feature < 0)
        | (feature >= n_features),
        "a threshold that is not a number": np.isnan(nodes["threshold"][inner]),
    }
    for fault, is_so in rules.items():
        if np.any(is_so):
            raise ValueError(f"the tree has {fault}")
    if np.any(np.bincount(children, minlength=len(nodes))[1:] != 1):
        raise ValueError("the tree has a node that is not the child of one node")


# --- classifiers of LightGBM and XGBoost, without their library ---------------------------------

_exp = np.frompyfunc(math.exp, 1, 1)  # the C library's, as LightGBM's: numpy's own may differ


class TreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Probabilities of a fitted classifier of a boosting library, from its trees."""

    trees_: Trees
    classes_: AnyArray

    def __init__(self, library: str = "lightgbm") -> None:
        self.library = library

    @classmethod
    def of(cls, model: Any, where: str) -> TreeClassifier:
        """The twin of a fitted classifier, if it has one that answers alike."""
        found: Any = cls("lightgbm" if type(model).__name__.startswith("LGBM") else "xgboost")
        try:
            check_is_fitted(model)
            if found.library == "lightgbm":
                booster, best = model.booster_, max(model.best_iteration_ or 0, 0)
                found.trees_ = from_lightgbm(booster, best or None)
                found.missing_, found.categories_ = math.nan, booster.pandas_categorical or []
            else:
                booster = model.get_booster()
                if model.early_stopping_rounds:
                    booster = booster[: model.best_iteration + 1]
                found.trees_ = from_xgboost(booster)
                found.missing_, found.categories_ = float(model.missing), []
            found.has_scores_ = hasattr(model, "decision_function")
            found.n_features_in_ = int(model.n_features_in_)
            for name in ("classes_", "feature_importances_", "feature_names_in_"):
                if hasattr(model, name):
                    setattr(found, name, np.asarray(getattr(model, name)))
            rows = np.random.RandomState(0).randn(32, found.n_features_in_)
            rows[::5, 0] = np.nan
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the rows have no names
                right = model.predict_proba(rows)
            if not np.allclose(found.predict_proba(rows), right, rtol=0, atol=1e-5):
                raise ValueError("its probabilities are not those of a sum of trees")
        except (ValueError, AttributeError, TypeError) as error:
            raise ModelFileError(
                f"{where}, a {type(model).__name__}, cannot be written as a table of trees: "
                f"{error}. Use ordinary boosting for log loss, and numbers for categories."
            ) from error
        return found  # type: ignore[no-any-return]

    def _scores(self, X: Any) -> Floats:
        if is_sparse(X):
            if self.library == "lightgbm":
                return self.trees_.scores(X)
            entries, dense = X.tocoo(), np.full(X.shape, np.nan)  # what is left out is missing
            dense[entries.row, entries.col] = entries.data
            X = dense
        if self.categories_ and hasattr(X, "select_dtypes"):
            X = X.copy()
            columns = X.select_dtypes("category").columns
            for column, known in zip(columns, self.categories_, strict=True):
                codes = X[column].cat.set_categories(known).cat.codes.astype(float)
                X[column] = codes.where(codes >= 0)
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has the shape {rows.shape}, but the classifier was fitted with "
                f"{self.n_features_in_} features."
            )
        return self.trees_.scores(np.where(rows == self.missing_, np.nan, rows))

    @available_if(lambda self: self.has_scores_)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Raw scores, if the classifier tells them: calibration prefers them to probabilities."""
        return self._scores(X)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n, k)."""
        scores = self._scores(X)
        if scores.ndim == 1:
            positive: AnyArray = expit(scores)
            found: AnyArray = np.stack([1.0 - positive, positive], axis=1)
        else:
            parts = _exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
            # In order, as the library adds.
            found = parts / np.cumsum(parts, axis=1)[:, -1:]
        return found if self.library == "lightgbm" else found.astype(np.float32)

    def predict(self, X: Any) -> AnyArray:
        """The most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


# --- all others, by skops -------------------------------------------------------------------------

_SCHEMA = "schema.json"
# What skops builds of numbers, text, arrays and containers; all else must be trusted by its name.
_PLAIN = re.compile(
    r"builtins\.(bool|bytes|dict|float|int|list|set|slice|str|tuple)"
    r"|numpy\.(bool_?|dtype|float32|float64|int32|int64|ndarray|str_|uint8|uint32|uint64)"
    r"|collections\.(OrderedDict|defaultdict)"
    r"|skops\.(Bytes|DType|DefaultDict|Dict|Json|List|NdArray|Object|Set|Slice|Tuple|Type)Node"
)


def is_part(value: Any) -> bool:
    """Whether an object is scikit-learn's, or like one of its estimators."""
    if isinstance(value, type):
        return False
    return hasattr(value, "get_params") or type(value).__module__.startswith("sklearn.")


@contextmanager
def _skops(where: str) -> Iterator[Any]:
    """The library; what it makes of a bad part is an error of the file."""
    skops = import_module("skops.io")  # not with costboost: it takes a while
    try:
        yield skops
    except ModelFileError:
        raise
    except Exception as error:  # it has its own and hands on others
        raise ModelFileError(f"{where} cannot be written or read by skops: {error}") from error


def dump_part(value: Any, where: str) -> tuple[bytes, set[str]]:
    """A part by skops, and the types that must be trusted to load it."""
    with _skops(where) as skops:
        data = skops.dumps(value)
        return data, _types(skops, data, where, LIMITS)


def load_part(data: bytes, trusted: Collection[str], where: str, limits: Limits = LIMITS) -> Any:
    """A part, if the types in it are trusted."""
    with _skops(where) as skops:
        types = _types(skops, data, where, limits)
        unknown = sorted(types - set(trusted))
        if not types:
            raise ModelFileError(f"{where} is not an object of scikit-learn.")
        if unknown:
            raise ModelFileError(
                f"{where} needs the types {', '.join(unknown)}, which costboost does not know. If "
                f"you trust the file and these types, load it with trusted={unknown!r}."
            )
        return skops.loads(data, trusted=skops.get_untrusted_types(data=data))


def _types(skops: Any, data: bytes, where: str, limits: Limits) -> set[str]:
    """All types and functions that a part would use: those it names, and those skops asks for."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        names = {entry.filename for entry in entries}
        # Stored members take their own bytes, so the part cannot grow.
        is_fine = len(names) == len(entries) <= 1000 and all(
            entry.compress_type == zipfile.ZIP_STORED
            and entry.file_size == entry.compress_size
            and not entry.flag_bits
            and entry.filename.endswith((".npy", _SCHEMA))
            for entry in entries
        )
        is_fine &= sum(entry.file_size for entry in entries) <= len(data) and _SCHEMA in names
        if not is_fine:
            raise ModelFileError(f"{where} is not an archive of skops as costboost writes it.")
        schema = archive.read(_SCHEMA)
    types = set(skops.get_untrusted_types(data=data))
    waiting = [parse_json(schema, f"{_SCHEMA} of {where}", limits)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict) and node.keys() & {"__class__", "__module__", "__loader__"}:
            types.add(f"{node.get('__module__')}.{node.get('__class__')}")
            types.add(f"skops.{node.get('__loader__')}")
        if isinstance(node, (dict, list)):
            waiting += node.values() if isinstance(node, dict) else node
    return {name for name in types if not _PLAIN.fullmatch(name)}
