"""Check the text of a LightGBM model before LightGBM sees it.

LightGBM 4.7 believes what a model text says: a child or feature out of range is a segmentation
fault, a cycle never ends, a text that is cut off aborts the process (LightGBM #7357, #7437, #7438).
So the text must be exactly of the form that LightGBM writes: known lines in a known order, numbers
that are numbers, arrays of the declared length, and trees that are trees.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import Floats, Ints
from costboost.errors import ModelFileError
from costboost.files.container import parse_json

__all__ = ["TextModel", "TextTree", "parse"]

# In LightGBM's order; a tree without categories or linear leaves lacks some.
TREE_FIELDS = (
    "num_leaves",
    "num_cat",
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "leaf_value",
    "leaf_weight",
    "leaf_count",
    "internal_value",
    "internal_weight",
    "internal_count",
    "cat_boundaries",
    "cat_threshold",
    "is_linear",
    "leaf_const",
    "num_features",
    "leaf_features",
    "leaf_coeff",
    "shrinkage",
)

# LightGBM walks trees by recursion, and its SHAP values need memory of the order depth².
MAX_DEPTH = 2048
MAX_LEAVES = 131_072  # LightGBM's own limit
_INT = re.compile(r"-?[0-9]{1,10}")
_INTS = re.compile(r"-?[0-9]{1,10}( -?[0-9]{1,10})*")
_FLOAT = r"-?[0-9]{1,330}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,3})?"
_FLOATS = re.compile(rf"{_FLOAT}( {_FLOAT})*")
_LOOSE = rf"({_FLOAT}|-?inf|-?nan)"  # for numbers that are only reported
_LOOSE_FLOATS = re.compile(rf"{_LOOSE}( {_LOOSE})*")
_INFO = re.compile(rf"none|\[{_LOOSE}:{_LOOSE}\]|-?[0-9]{{1,10}}(:-?[0-9]{{1,10}})*")
_OBJECTIVE = re.compile(r"[a-z0-9_]+( [a-z0-9_]+(:[-+.0-9eE]{1,40})?)*")
_PARAMETER = re.compile(r"\[[a-zA-Z0-9_]{1,60}: [^\x00-\x1f\x7f]{0,100000}\]")
_IMPORTANCE = re.compile(r"[^\x00-\x20\x7f]+=[0-9.]{1,40}")
# Objectives whose text LightGBM reads back; others come from functions and are not written.
_OBJECTIVES = frozenset(
    [
        "binary",
        "multiclass",
        "multiclassova",
        "cross_entropy",
        "cross_entropy_lambda",
        "regression",
        "regression_l1",
        "huber",
        "fair",
        "poisson",
        "quantile",
        "gamma",
        "tweedie",
        "custom",
        "none",
    ]
)

_HEADER = [
    "version",
    "num_class",
    "num_tree_per_iteration",
    "label_index",
    "max_feature_idx",
    "objective",
    "average_output",
    "feature_names",
    "monotone_constraints",
    "feature_infos",
    "tree_sizes",
]
_OPTIONAL = {"objective", "average_output", "monotone_constraints"}
_CATEGORICAL = {"cat_boundaries", "cat_threshold"}
_LINEAR = {"leaf_const", "num_features", "leaf_features", "leaf_coeff"}
_PLACE = {key: place for place, key in enumerate(TREE_FIELDS)}
_NEEDED = set(TREE_FIELDS) - _CATEGORICAL - _LINEAR


@dataclass(frozen=True, eq=False)
class TextTree:
    """A tree that was found to be one; arrays are of its splits, ``leaf_value`` of its leaves."""

    # Children are as LightGBM has them: splits by their number, leaf j as ``~j``.

    feature: Ints
    threshold: Floats
    decision: Ints
    left: Ints
    right: Ints
    leaf_value: Floats
    bounds: Ints
    bits: Ints
    is_linear: bool


@dataclass(frozen=True, eq=False)
class TextModel:
    """A model text that was found to be one."""

    n_classes: int
    n_features: int
    objective: str | None
    is_average: bool
    trees: list[TextTree]


def parse(data: bytes, where: str) -> TextModel:
    """Read a model text, or say what is wrong with it."""
    try:
        return _Reader(data).model()
    except _TextError as fault:
        raise ModelFileError(f"{where} is not a model text of LightGBM: {fault}") from fault
    except (ValueError, IndexError, OverflowError) as error:
        raise ModelFileError(f"{where} is not a model text of LightGBM: {error}") from error


class _TextError(Exception):
    """What is wrong, and where."""


def _need(holds: Any, words: str) -> None:
    if not holds:
        raise _TextError(words)


def _int(text: str, words: str, low: int, high: int) -> int:
    _need(_INT.fullmatch(text), f"{words} must be an integer, got {text!r:.40}")
    value = int(text)
    _need(low <= value <= high, f"{words} must be from {low} to {high}, got {value}")
    return value


def _ints(text: str, n: int, words: str, low: int = -(2**31), high: int = 2**31 - 1) -> Ints:
    _need(not text if not n else _INTS.fullmatch(text), f"{words} must be {n} integers")
    values = np.fromstring(text, dtype=np.int64, sep=" ")
    _need(len(values) == n, f"{words} must be {n} integers, got {len(values)}")
    if n and (values.min() < low or values.max() > high):
        outside = np.flatnonzero((values < low) | (values > high))
        raise _TextError(
            f"{words}[{outside[0]}] = {values[outside[0]]} must be from {low} to {high}"
        )
    return values


def _floats(
    text: str, n: int, words: str, *, finite: bool = True, infinite: bool = False
) -> Floats:
    """Numbers; ``infinite`` ones may be written so, others may be anything if not ``finite``."""
    form = _LOOSE_FLOATS if infinite or not finite else _FLOATS
    _need(not text if not n else form.fullmatch(text), f"{words} must be {n} finite numbers")
    values = np.fromstring(text, dtype=np.float64, sep=" ")
    _need(len(values) == n, f"{words} must be {n} numbers, got {len(values)}")
    if (finite or infinite) and not np.isfinite(values).all():
        written = np.array([item in ("inf", "-inf") for item in text.split()], dtype=bool)
        fine = infinite and np.all(np.isfinite(values) | written)
        _need(fine, f"{words} must be finite")
    return values


class _Reader:
    """Walks through a text once."""

    def __init__(self, data: bytes) -> None:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelFileError(f"A model text of LightGBM must be UTF-8: {error}") from error
        _need("\r" not in text and "\x00" not in text, "it has control characters")
        self._text = text
        self._is_ascii = text.isascii()
        self._at = 0

    def _line(self) -> str:
        end = self._text.find("\n", self._at)
        _need(end >= 0, "it ends in the middle of a line")
        line, self._at = self._text[self._at : end], end + 1
        return line

    def model(self) -> TextModel:
        _need(self._line() == "tree", "its first line must be 'tree'")
        header = self._header()
        _need(header["version"] in ("v3", "v4"), f"version {header['version']!r:.20} is unknown")
        n_features = _int(header["max_feature_idx"], "max_feature_idx", 0, 2**31 - 2) + 1
        self._names(header, n_features)
        sizes = _ints(header["tree_sizes"], header["tree_sizes"].count(" ") + 1, "tree_sizes", 1)
        n_classes = _int(header["num_class"], "num_class", 1, max(len(sizes), 1))
        _int(header["num_tree_per_iteration"], "num_tree_per_iteration", n_classes, n_classes)
        _int(header["label_index"], "label_index", 0, 2**31 - 1)
        _need(len(sizes) % n_classes == 0, f"{len(sizes)} trees are not rounds of {n_classes}")
        objective = header.get("objective")
        if objective is not None:
            _check_objective(objective, n_classes)
        trees = [self._tree(i, int(size), n_features) for i, size in enumerate(sizes)]
        self._rest()
        return TextModel(n_classes, n_features, objective, "average_output" in header, trees)

    def _header(self) -> dict[str, str]:
        """The lines before the first tree; they end with an empty one."""
        header: dict[str, str] = {}
        place = 0
        while line := self._line():
            key, _, value = line.partition("=")
            _need(key in _HEADER, f"its header has the unknown line {key!r:.60}")
            _need(_HEADER.index(key) >= place, f"{key} is out of place or occurs twice")
            place = _HEADER.index(key) + 1
            _need("=" not in value or key == "feature_names", f"{key} has two values")
            header[key] = value
        missing = [key for key in _HEADER if key not in header and key not in _OPTIONAL]
        _need(not missing, f"its header has no {', '.join(missing)}")
        return header

    def _names(self, header: dict[str, str], n: int) -> None:
        names, infos = header["feature_names"].split(" "), header["feature_infos"].split(" ")
        _need(len(names) == n and all(names), f"feature_names must be {n} names")
        _need(len(infos) == n, f"feature_infos must be {n} items, got {len(infos)}")
        for info in infos:
            _need(_INFO.fullmatch(info), f"feature_infos has the item {info!r:.40}")
        if "monotone_constraints" in header:
            _ints(header["monotone_constraints"], n, "monotone_constraints", -1, 1)

    def _tree(self, number: int, size: int, n_features: int) -> TextTree:
        start = self._at
        words = f"tree {number}: "
        _need(self._line() == f"Tree={number}", f"Tree={number} does not start where it should")
        fields: dict[str, str] = {}
        place = 0
        while line := self._line():
            key, is_field, value = line.partition("=")
            here = _PLACE.get(key, -1)
            _need(is_field and here >= 0, f"{words}unknown line {key!r:.60}")
            _need(here >= place, f"{words}{key} is out of place or occurs twice")
            place = here + 1
            fields[key] = value
        _need(self._line() == "", f"{words}it must end with two empty lines")
        used = self._at - start
        if not self._is_ascii:
            used = len(self._text[start : self._at].encode("utf-8"))
        _need(used == size, f"{words}tree_sizes declares {size} bytes, and it has {used}")
        missing = _NEEDED - fields.keys()
        _need(not missing, f"{words}it has no {', '.join(sorted(missing))}")
        return _checked_tree(fields, words, n_features)

    def _rest(self) -> None:
        """What follows the trees: importances, parameters, categories of pandas."""
        _need(self._line() == "end of trees", "the last tree is not followed by 'end of trees'")
        _need(self._line() == "", "an empty line must follow 'end of trees'")
        _need(self._line() == "feature_importances:", "there must be feature_importances")
        while line := self._line():
            _need(_IMPORTANCE.fullmatch(line), f"feature_importances has {line!r:.60}")
        line = self._line()
        if line == "parameters:":
            while line := self._line():
                _need(_PARAMETER.fullmatch(line), f"parameters has the line {line!r:.60}")
            _need(self._line() == "end of parameters", "the parameters do not end")
            _need(self._line() == "", "an empty line must follow the parameters")
            line = self._line()
        _need(line.startswith("pandas_categorical:"), f"unknown line {line!r:.60} after the trees")
        categories = parse_json(line.partition(":")[2].encode(), "pandas_categorical")
        fine = categories is None or (
            isinstance(categories, list)
            and all(isinstance(column, list) for column in categories)
            and all(not isinstance(c, (list, dict)) for column in categories for c in column)
        )
        _need(fine, "pandas_categorical must be lists of categories")
        _need(self._at == len(self._text), "something follows its end")


def _check_objective(objective: str, n_classes: int) -> None:
    _need(_OBJECTIVE.fullmatch(objective), f"objective {objective!r:.60} is malformed")
    name, *settings = objective.split(" ")
    _need(name in _OBJECTIVES, f"objective {name!r:.40} is unknown")
    pairs = dict(item.partition(":")[::2] for item in settings)
    is_multi = name in ("multiclass", "multiclassova")
    _need(len(pairs) == len(settings), "objective has a setting twice")
    _need(("num_class" in pairs) == is_multi, f"objective {name} and num_class do not fit")
    if is_multi:
        _int(pairs["num_class"], "num_class of the objective", n_classes, n_classes)
    elif name not in ("custom", "none"):
        _need(n_classes == 1, f"objective {name} has one score, and num_class is {n_classes}")
    if "sigmoid" in pairs:
        [scale] = _floats(pairs["sigmoid"], 1, "sigmoid of the objective")
        _need(scale > 0, "sigmoid of the objective must be positive")


def _checked_tree(fields: dict[str, str], words: str, n_features: int) -> TextTree:
    n = _int(fields["num_leaves"], f"{words}num_leaves", 1, MAX_LEAVES)
    s = n - 1  # splits
    n_cat = _int(fields["num_cat"], f"{words}num_cat", 0, s)
    feature = _ints(fields["split_feature"], s, f"{words}split_feature", 0, n_features - 1)
    threshold = _floats(fields["threshold"], s, f"{words}threshold", infinite=True)
    decision = _ints(fields["decision_type"], s, f"{words}decision_type", 0, 11)
    left = _ints(fields["left_child"], s, f"{words}left_child", -n, s - 1)
    right = _ints(fields["right_child"], s, f"{words}right_child", -n, s - 1)
    leaf_value = _floats(fields["leaf_value"], n, f"{words}leaf_value")
    for name in ("split_gain", "internal_value", "internal_weight"):
        _floats(fields[name], s, f"{words}{name}", finite=False)
    _ints(fields["internal_count"], s, f"{words}internal_count")
    # A tree of one leaf may have no weight and no count.
    alone = n == 1
    if fields["leaf_weight"] or not alone:
        _floats(fields["leaf_weight"], n, f"{words}leaf_weight", finite=False)
    if fields["leaf_count"] or not alone:
        _ints(fields["leaf_count"], n, f"{words}leaf_count")
    _floats(fields["shrinkage"], 1, f"{words}shrinkage")
    is_linear = bool(_int(fields["is_linear"], f"{words}is_linear", 0, 1))
    _need(
        (_LINEAR & set(fields)) == (_LINEAR if is_linear else set()),
        f"{words}is_linear does not fit its fields",
    )
    if is_linear:
        _check_linear(fields, words, n, n_features)
    bounds, bits = _categories(fields, words, n_cat)
    is_category = (decision & 1) == 1
    _need(
        np.all(decision >> 2 < 3) and int(is_category.sum()) == n_cat,
        f"{words}decision_type does not fit num_cat = {n_cat}",
    )
    _need(
        np.array_equal(np.sort(threshold[is_category]), np.arange(n_cat)),
        f"{words}thresholds of categorical splits must number the sets of categories",
    )
    _check_children(left, right, words)
    return TextTree(feature, threshold, decision, left, right, leaf_value, bounds, bits, is_linear)


def _check_children(left: Ints, right: Ints, words: str) -> None:
    """Every split but the first, and every leaf, is the child of one earlier split."""
    s = len(left)
    if not s:
        return
    children, parents = np.concatenate([left, right]), np.tile(np.arange(s), 2)
    inner = children >= 0
    wrong = np.flatnonzero(inner & (children <= parents))
    if len(wrong):
        raise _TextError(
            f"{words}split {parents[wrong[0]]} has the child {children[wrong[0]]}, which does not "
            "come after it"
        )
    reached = np.bincount(children[inner], minlength=s)
    _need(
        reached[0] == 0 and np.all(reached[1:] == 1) and len(reached) == s,
        f"{words}every split but the first must be the child of one split",
    )
    leaves = np.bincount(~children[~inner], minlength=s + 1)
    _need(
        len(leaves) == s + 1 and np.all(leaves == 1),
        f"{words}every leaf must be the child of one split",
    )
    depth = [0] * s
    for node, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        for child in (a, b):
            if child >= 0:
                depth[child] = depth[node] + 1
    _need(max(depth) < MAX_DEPTH, f"{words}it is deeper than {MAX_DEPTH} splits")


def _categories(fields: dict[str, str], words: str, n_cat: int) -> tuple[Ints, Ints]:
    """The sets of categories as bits, and where each set starts."""
    if not n_cat:
        _need(not _CATEGORICAL & set(fields), f"{words}it has sets of categories, but num_cat is 0")
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    _need(set(fields) >= _CATEGORICAL, f"{words}it has no cat_boundaries or no cat_threshold")
    bounds = _ints(fields["cat_boundaries"], n_cat + 1, f"{words}cat_boundaries", 0)
    _need(
        bounds[0] == 0 and np.all(np.diff(bounds) > 0),
        f"{words}cat_boundaries must start at 0 and grow",
    )
    length = int(bounds[-1])
    _need(length <= len(fields["cat_threshold"]), f"{words}cat_boundaries end beyond cat_threshold")
    return bounds, _ints(fields["cat_threshold"], length, f"{words}cat_threshold", 0, 2**32 - 1)


def _check_linear(fields: dict[str, str], words: str, n: int, n_features: int) -> None:
    """The linear models in the leaves of a tree."""
    _floats(fields["leaf_const"], n, f"{words}leaf_const")
    counts = _ints(fields["num_features"], n, f"{words}num_features", 0, n_features)
    total = int(counts.sum())
    features = " ".join(fields["leaf_features"].split())
    _ints(features, total, f"{words}leaf_features", 0, n_features - 1)
    _floats(" ".join(fields["leaf_coeff"].split()), total, f"{words}leaf_coeff")
