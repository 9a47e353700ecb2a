"""C4.5 trees: gain ratio, splits into all categories, shared rows for missing values, pruning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import ndtri, xlogy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, validate_data

from costboost._numba import compiled
from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import (
    Constraint,
    Rules,
    check_parameters,
    check_weights,
    checked_labels,
    is_real,
    number,
)
from costboost.columns import Column
from costboost.columns.table import Table, has_columns, text_of
from costboost.learners.base import Aim, Criterion, Fitted, Learner, Rows

__all__ = ["C45", "C45Classifier", "C45Rule", "C45Tree", "JointC45", "JointC45Rule"]

# Weights and gains that differ by no more count as equal; J48 says so in its documentation.
_SAME = 1e-6
# Two values of a column are apart if they differ by more.
_APART = 1e-5
# Slack of three comparisons of C4.5: of the average gain, of errors in training, of estimates.
_GAIN_SLACK, _ERROR_SLACK, _ESTIMATE_SLACK = 1e-3, 1e-3, 0.1


# -- splits ---------------------------------------------------------------------------------------


@compiled(error_model="numpy")
def _nlogn(x: float) -> float:
    return x * np.log2(x) if x > 0.0 else 0.0


@compiled(error_model="numpy")
def _sum_nlogn(masses: Floats) -> float:
    total = 0.0
    for x in masses:
        total += _nlogn(x)
    return total


@compiled(error_model="numpy")
def _cut(
    values: Floats, rows: Ints, w: Floats, copies: Floats, y: Ints, total: float, least: float,
    known: Floats,
) -> tuple[float, float, float]:  # fmt: skip
    """Gain, gain ratio and threshold of the best cut of a column; a gain of -1 if there is none."""
    # Rows are ordered by their values, missing ones last; ``known`` is room for k class weights.
    k, m = len(known), len(rows)
    known[:] = 0.0
    n, counted = 0, 0.0
    for i in range(m):
        if np.isnan(values[rows[i]]):
            break
        known[y[rows[i]]] += w[rows[i]]
        counted += copies[rows[i]]
        n += 1
    weight = known.sum()
    smallest = max(least, min(0.1 * weight / k, 25.0))
    if counted < 2.0 * smallest - _SAME:  # rows, not their weight, as J48 counts them
        return -1.0, 0.0, 0.0
    # Terms of the entropies: only those of classes with rows that moved to the left are new.
    left, counted_left = np.zeros(k), np.zeros(k)
    term = np.empty(k)
    for c in range(k):
        term[c] = _nlogn(known[c])
    inner = term.sum()
    before = _nlogn(weight) - inner
    best, best_left, threshold = 0.0, 0.0, 0.0
    tries, on_left = 0, 0.0
    for i in range(n - 1):
        row = rows[i]
        left[y[row]] += w[row]
        on_left += w[row]
        here, there = values[row], values[rows[i + 1]]
        if not here + _APART < there or on_left < smallest - _SAME:
            continue
        on_right = weight - on_left
        if on_right < smallest - _SAME:
            break
        for c in range(k):
            if left[c] != counted_left[c]:
                new = _nlogn(left[c]) + _nlogn(known[c] - left[c])
                inner += new - term[c]
                term[c], counted_left[c] = new, left[c]
        tries += 1
        after = _nlogn(on_left) + _nlogn(on_right) - inner
        gain = (before - after) / total
        if gain > best + _SAME:
            best, best_left = gain, on_left
            threshold = 0.5 * (here + there)
            if threshold >= there:  # no number lies between them
                threshold = here
    if tries == 0:
        return -1.0, 0.0, 0.0
    best -= np.log2(tries) / total
    if best <= _SAME:
        return -1.0, 0.0, 0.0
    split = _nlogn(best_left) + _nlogn(weight - best_left) + _nlogn(total - weight)
    return best, best / ((_nlogn(total) - split) / total), threshold


@compiled(error_model="numpy")
def _branch(
    values: Floats, rows: Ints, w: Floats, y: Ints, total: float, least: float, bags: Floats
) -> tuple[float, float]:
    """Gain and gain ratio of the split into all categories; a gain of -1 if it is not allowed."""
    # ``bags`` is room for the class weights of the categories.
    bags[:] = 0.0
    for row in rows:
        x = values[row]
        if not np.isnan(x):
            bags[int(x), y[row]] += w[row]
    sizes, weight = bags.sum(axis=1), bags.sum()
    if (sizes >= least - _SAME).sum() < 2:
        return -1.0, 0.0
    of_sizes = _sum_nlogn(sizes)
    before = _nlogn(weight) - _sum_nlogn(bags.sum(axis=0))
    gain = (before - of_sizes + _sum_nlogn(bags.ravel())) / total
    split = (_nlogn(total) - of_sizes - _nlogn(total - weight)) / total
    if gain <= _SAME or split <= _SAME:
        return max(gain, 0.0), 0.0
    return gain, gain / split


@compiled(error_model="numpy")
def _best_split(
    columns: _Columns, lines: Ints, w: Floats, copies: Floats, y: Ints, k: int, n: float,
    total: float, least: float,
) -> tuple[int, float]:  # fmt: skip
    """Column and threshold of the largest gain ratio among gains not below average; -1 if none."""
    X, sizes, place, _ = columns
    d = len(X)
    gain, ratio, threshold = np.empty(d), np.zeros(d), np.zeros(d)
    known = np.empty(k)
    bags = np.empty((max(sizes.max(), 1), k))
    for j in range(d):
        if sizes[j] > 0:
            gain[j], ratio[j] = _branch(X[j], lines[0], w, y, total, least, bags[: sizes[j]])
        else:
            ordered = lines[place[j]]
            gain[j], ratio[j], threshold[j] = _cut(X[j], ordered, w, copies, y, total, least, known)
    # Columns of many categories, compared with all n rows, count in the average only if all are.
    is_many = sizes >= 0.3 * n - _SAME
    counted = gain[(gain >= 0.0) & (~is_many | (is_many & (sizes > 0)).all())]
    best, largest = -1, 0.0
    if len(counted) > 0:
        least_gain = max(counted.mean() - _GAIN_SLACK, 0.0)
        for j in range(d):
            if gain[j] >= least_gain and ratio[j] > largest + _SAME:
                best, largest = j, ratio[j]
    return best, threshold[best] if best >= 0 else 0.0


# -- growing --------------------------------------------------------------------------------------


class _Node(NamedTuple):
    """A node of a tree that grows, with its rows."""

    feature: int  # the column that it asks, -1 in a leaf
    threshold: float
    first: int  # its first child
    size: int  # number of its children
    mass: Floats  # (k,) class weights of the rows
    rows: Ints  # (1, m)
    w: Floats  # (m,) their weights here


@compiled(error_model="numpy")
def _leaf(lines: Ints, w: Floats, y: Ints, k: int) -> _Node:
    mass = np.zeros(k)
    for i in range(len(w)):
        mass[y[lines[0, i]]] += w[i]
    return _Node(-1, 0.0, 0, 0, mass, lines[:1].copy(), w)


@compiled(error_model="numpy")
def _divide(
    x: Floats, threshold: float, size: int, lines: Ints, w: Floats, side: Ints
) -> list[tuple[Ints, Floats]]:  # fmt: skip
    """The rows of every child of a node, in all their orders, and their weights."""
    # A row whose value is missing goes to every child that has a share of the known weight, with
    # that share of its own. ``side`` is room for a number per row.
    share = np.zeros(2 if size == 0 else size)
    ends = np.zeros(len(share) + 1, dtype=np.intp)
    for i in range(lines.shape[1]):
        row = lines[0, i]
        side[row] = -1
        if size > 0 and x[row] >= 0.0:
            side[row] = int(x[row])
        elif not np.isnan(x[row]):
            side[row] = 0 if x[row] <= threshold else 1
        if side[row] >= 0:
            share[side[row]] += w[i]
        ends[side[row] + 1] += 1  # those of missing values are counted first
    known, n_missing = share.sum(), ends[0]
    ends[0] = 0
    for child in range(len(share)):
        share[child] = share[child] / known if known > 0.0 else 1.0 / len(share)
        if share[child] <= _SAME:
            share[child] = 0.0
        ends[child + 1] += ends[child] + (n_missing if share[child] > 0.0 else 0)
    parts, parts_w = np.empty((len(lines), ends[-1]), lines.dtype), np.empty(ends[-1])
    for q in range(len(lines)):
        filled = ends.copy()
        for i in range(lines.shape[1]):
            row = lines[q, i]
            is_known = side[row] >= 0
            start, stop = (side[row], side[row] + 1) if is_known else (0, len(share))
            for child in range(start, stop):
                if is_known or share[child] > 0.0:
                    parts[q, filled[child]] = row
                    if q == 0:
                        parts_w[filled[child]] = w[i] if is_known else w[i] * share[child]
                    filled[child] += 1
    return [
        (parts[:, ends[c] : ends[c + 1]].copy(), parts_w[ends[c] : ends[c + 1]].copy())
        for c in range(len(share))
    ]


@compiled(error_model="numpy")
def _grow(
    nodes: list[_Node], model: int, lines: Ints, columns: _Columns, y: Ints, copies: Floats,
    k: int, least: float,
) -> None:  # fmt: skip
    """Grow the last node: to a tree that fits its rows, or to a copy of the subtree ``model``."""
    # ``lines`` has the rows as they come, then, in line ``place[j]``, by the values of the column
    # j of numbers; a copy needs the first line only. Children come together, after their parent.
    at, side = np.empty(len(y)), np.empty(len(y), dtype=np.intp)
    n = copies[lines[0]].sum()
    waiting = [(len(nodes) - 1, model, lines)]
    while len(waiting) > 0:
        v, model, here = waiting.pop()
        node = nodes[v]
        j, cut, total = -1, 0.0, node.mass.sum()
        if model >= 0:
            j, cut = nodes[model].feature, nodes[model].threshold
        elif total >= 2.0 * least - _SAME and total - node.mass.max() > _SAME:
            at[here[0]] = node.w
            j, cut = _best_split(columns, here, at, copies, y, k, n, total, least)
        if j < 0:
            continue
        parts = _divide(columns.X[j], cut, columns.sizes[j], here, node.w, side)
        nodes[v] = _Node(j, cut, len(nodes), len(parts), node.mass, node.rows, node.w)
        for child, (part, part_w) in enumerate(parts):
            waiting.append((len(nodes), nodes[model].first + child if model >= 0 else -1, part))
            nodes.append(_leaf(part, part_w, y, k))


# -- pruning --------------------------------------------------------------------------------------


@compiled(error_model="numpy")
def _estimate(mass: Floats, confidence: float, z: float) -> float:
    """The errors to expect of a leaf: the upper confidence limit of the errors that it makes."""
    n = mass.sum()
    if n <= _SAME:
        return 0.0
    errors = n - mass.max()
    # By the normal approximation from one error on, exactly for none, linearly between them.
    at_least_one = max(errors, 1.0)
    if at_least_one + 0.5 >= n:
        limit = max(n, at_least_one)
    else:
        f = (at_least_one + 0.5) / n
        root = np.sqrt(f / n - f * f / n + z * z / (4.0 * n * n))
        limit = (f + z * z / (2.0 * n) + z * root) / (1.0 + z * z / n) * n
    if errors >= 1.0:
        return float(limit)
    none = n * (1.0 - confidence ** (1.0 / n))
    return float(errors + none + errors * (limit - 1.0 - none))


@compiled(error_model="numpy")
def _collapse(nodes: list[_Node], y: Ints, k: int) -> None:
    """Make leaves of subtrees that are no better than a leaf on the training rows."""
    errors = np.zeros(len(nodes))
    for v in range(len(nodes) - 1, -1, -1):  # children come after their parent
        node = nodes[v]
        as_leaf = node.mass.sum() - node.mass.max()
        errors[v] = as_leaf
        if node.feature >= 0:
            errors[v] = errors[node.first : node.first + node.size].sum()
            if errors[v] >= as_leaf - _ERROR_SLACK:
                nodes[v] = _leaf(node.rows, node.w, y, k)


@compiled()
def _subtree(v: int, nodes: list[_Node]) -> list[int]:
    """The nodes of a subtree, parents first and children together."""
    found = [v]
    for u in found:
        if nodes[u].feature >= 0:
            found.extend(range(nodes[u].first, nodes[u].first + nodes[u].size))
    return found


@compiled(error_model="numpy")
def _prune(
    nodes: list[_Node], columns: _Columns, y: Ints, copies: Floats, k: int, confidence: float,
    z: float,
) -> None:  # fmt: skip
    """Make leaves of subtrees, or put their largest branch in their place, by expected errors."""
    estimates = [0.0 for _ in nodes]
    slack = _ESTIMATE_SLACK + _SAME
    waiting = _subtree(0, nodes)
    while len(waiting) > 0:
        v = waiting.pop()  # its children were taken before
        node = nodes[v]
        as_leaf = _estimate(node.mass, confidence, z)
        estimates[v] = as_leaf
        if node.feature < 0:
            continue
        as_tree, largest, most = 0.0, -1, -1.0
        for child in range(node.first, node.first + node.size):
            as_tree += estimates[child]
            if nodes[child].mass.sum() >= most - _SAME:  # of equal ones the last
                largest, most = child, nodes[child].mass.sum()
        end, as_branch = len(nodes), 0.0
        nodes.append(_leaf(node.rows, node.w, y, k))
        _grow(nodes, largest, node.rows, columns, y, copies, k, 0.0)
        for u in range(end, len(nodes)):
            if nodes[u].feature < 0:
                as_branch += _estimate(nodes[u].mass, confidence, z)
        if as_leaf <= min(as_tree, as_branch) + slack:
            nodes[v] = _leaf(node.rows, node.w, y, k)
        elif as_branch <= as_tree + slack:
            nodes[v] = nodes[end]
            waiting.extend(_subtree(v, nodes))  # it has other rows now: once more
            estimates.extend([0.0 for _ in range(end, len(nodes))])
        else:
            estimates[v] = as_tree
        while len(nodes) > len(estimates):
            nodes.pop()


@compiled(error_model="numpy")
def _pruned_tree(
    columns: _Columns, y: Ints, w: Floats, copies: Floats, k: int, least: float,
    confidence: float, z: float,
) -> tuple[Ints, Ints, Floats, Floats]:  # fmt: skip
    """Columns, numbers of children, thresholds and class weights of the nodes that are left."""
    nodes = [_leaf(columns.lines, w[columns.lines[0]], y, k)]
    _grow(nodes, -1, columns.lines, columns, y, copies, k, least)
    _collapse(nodes, y, k)
    _prune(nodes, columns, y, copies, k, confidence, z)
    left = [nodes[v] for v in _subtree(0, nodes)]
    mass = np.empty((len(left), k))
    for i, node in enumerate(left):
        mass[i] = node.mass
    return (
        np.array([node.feature for node in left]),
        np.array([node.size for node in left]),
        np.array([node.threshold for node in left]),
        mass,
    )


# -- answers --------------------------------------------------------------------------------------


@compiled(error_model="numpy")
def _probabilities(
    X: Floats, feature: Ints, threshold: Floats, first: Ints, size: Ints, weight: Floats,
    proba: Floats, out: Floats,
) -> None:  # fmt: skip
    """Add up the class probabilities of the leaves that each row, or a share of it, comes to."""
    for i in range(len(X)):
        waiting = [(0, 1.0)]
        while len(waiting) > 0:
            v, share = waiting.pop()
            j = feature[v]
            if j < 0:
                for c in range(proba.shape[1]):
                    out[i, c] += share * proba[v, c]
                continue
            x = X[i, j]
            if size[v] > 0 and x >= 0.0 and x < size[v]:
                waiting.append((first[v] + int(x), share))
            elif size[v] == 0 and not np.isnan(x):
                waiting.append((first[v] + (0 if x <= threshold[v] else 1), share))
            else:  # missing, or a category that was not there
                a, b = first[v], first[v] + (2 if size[v] == 0 else size[v])
                total = weight[a:b].sum()
                for child in range(a, b):
                    if weight[child] > _SAME * total:
                        waiting.append((child, share * weight[child] / total))


@dataclass(frozen=True, eq=False)
class C45Tree:
    """A fitted tree as a table of nodes; children come together, after their parent."""

    # ``str`` of it prints the tree as J48 does, with columns c0, c1, ..., categories v0, v1, ...
    # and classes y0, y1, ...: each leaf with the weight of its rows and of those of other classes.

    feature: Ints  # (nodes,) -1 in a leaf
    threshold: Floats  # (nodes,) a number x <= threshold goes to the first of two children
    first: Ints  # (nodes,) the first child
    size: Ints  # (nodes,) number of categories, with a child for each; 0 where a number is asked
    weight: Floats  # (nodes,) of the training rows
    proba: Floats  # (nodes, k) the class probabilities of a leaf

    def predict_proba(self, X: AnyArray) -> Floats:
        """Class probabilities, (n, k)."""
        if X.shape[1] <= self.feature.max():  # compiled code would not notice
            raise ValueError(
                f"The tree asks for column {self.feature.max()}, and there are {X.shape[1]}."
            )
        out = np.zeros((X.shape[0], self.proba.shape[1]))
        X = np.ascontiguousarray(X, dtype=np.float64)
        _probabilities(
            X, self.feature, self.threshold, self.first, self.size, self.weight, self.proba, out
        )
        return out

    def importances(self, n_features: int) -> Floats:
        """The share of each feature in the gain of information of the splits, (d,)."""
        entropy = -self.weight * xlogy(self.proba, self.proba).sum(axis=1)
        total = np.zeros(n_features)
        for v in np.flatnonzero((self.feature >= 0) & (self.feature < n_features)):
            children = slice(self.first[v], self.first[v] + _n_children(self.size[v]))
            total[self.feature[v]] += max(entropy[v] - entropy[children].sum(), 0.0)
        return np.asarray(total / total.sum() if total.sum() > 0 else total)

    def __str__(self) -> str:
        lines: list[str] = []
        waiting = [(0, -1, "")]
        while waiting:
            v, depth, question = waiting.pop()
            j, line = self.feature[v], "|   " * depth + question
            if j < 0:
                wrong = self.weight[v] * (1.0 - self.proba[v].max())
                errors = f"/{_rounded(wrong)}" if self.weight[v] and wrong > _SAME else ""
                line += f": y{self.proba[v].argmax()} ({_rounded(self.weight[v])}{errors})"
            if line:
                lines.append(line)
            if j >= 0:
                cut = f"{self.threshold[v]:.6f}".rstrip("0").rstrip(".")
                words = [f"= v{b}" for b in range(self.size[v])] or [f"<= {cut}", f"> {cut}"]
                waiting += reversed(
                    [(self.first[v] + b, depth + 1, f"c{j} {asks}") for b, asks in enumerate(words)]
                )
        return "\n".join(lines)


def _n_children(size: Any) -> Any:
    return np.where(np.equal(size, 0), 2, size)


def _rounded(weight: float) -> str:
    return f"{float(np.floor(100.0 * weight + 0.5)) / 100.0}"


class _Columns(NamedTuple):
    """Rows as trees grow from them, column by column."""

    X: Floats  # (d, n)
    sizes: Ints  # (d,) number of categories, 0 for numbers
    place: Ints  # (d,) where a column of numbers stands in `lines`
    # (1 + numbers, n) the rows as they come, and by their values, missing ones last
    lines: AnyArray

    @classmethod
    def of(cls, X: AnyArray, categorical: Sequence[int]) -> _Columns:
        columns = np.ascontiguousarray(X.T, dtype=np.float64)
        is_number = np.ones(len(columns), dtype=bool)
        is_number[list(categorical)] = False
        sizes = np.zeros(len(columns), dtype=np.intp)
        for j in categorical:
            sizes[j] = int(np.nanmax(columns[j], initial=0.0)) + 1
        order = np.argsort(columns[is_number], axis=1, kind="stable")
        lines = np.vstack([np.arange(columns.shape[1]), order]).astype(np.int32)
        return cls(columns, sizes, np.cumsum(is_number), lines)

    def grow(self, y: Ints, w: Floats, copies: Floats, k: int, model: Any) -> C45Tree:
        """The pruned tree for classes y in 0, ..., k - 1 and weights w of rows and their copies."""
        confidence = float(model.confidence)
        lines = self.lines[(w > 0.0)[self.lines]].reshape(len(self.lines), -1)
        used = self._replace(lines=lines)
        feature, size, threshold, mass = _pruned_tree(
            used, np.ascontiguousarray(y, dtype=np.intp), w, copies, k,
            float(model.min_samples_leaf), confidence, float(ndtri(1.0 - confidence)),
        )  # fmt: skip
        asked = np.flatnonzero(feature >= 0)
        size[feature < 0] = 0
        first = np.zeros(len(size), dtype=np.intp)
        first[asked] = 1 + np.cumsum(size[asked]) - size[asked]  # `_subtree` keeps this order
        weight = mass.sum(axis=1)
        with np.errstate(invalid="ignore"):
            proba = mass / weight[:, None]
        for v in asked:  # a leaf without rows answers as its parent
            children = slice(first[v], first[v] + size[v])
            proba[children][weight[children] == 0.0] = proba[v]
            j = feature[v]
            if self.sizes[j] == 0:  # the largest value that is not above the middle
                size[v] = 0
                values = self.X[j, used.lines[self.place[j]]]
                below = np.searchsorted(values, threshold[v] + _SAME, side="right")
                threshold[v] = values[below - 1]
        threshold[(feature < 0) | (size > 0)] = 0.0
        return C45Tree(feature, threshold, first, size, weight, proba)


# -- the classifier -------------------------------------------------------------------------------


class C45Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""C4.5: a decision tree by gain ratio, pruned by error estimates, as Weka's J48 grows it.

    A node of weight W with class weights :math:`W_c` has the information
    :math:`I = -\sum_c \tfrac{W_c}{W} \log_2 \tfrac{W_c}{W}`. A split into parts of weight
    :math:`W_b` has

    .. math::

        \mathrm{gain} = \frac{W_\text{known}}{W} \Bigl(I - \sum_b \frac{W_b}{W_\text{known}} I_b
        \Bigr), \qquad \mathrm{ratio} = \frac{\mathrm{gain}}
        {-\sum_b \frac{W_b}{W} \log_2 \frac{W_b}{W}}

    where the sum below also has the rows whose value is missing as a part. A categorical column is
    split into all its categories, a column of numbers in two at the threshold of the largest gain,
    from which :math:`\log_2(\text{thresholds}) / W` is taken (Quinlan 1996). The largest ratio
    wins among the splits whose gain is not below the average. A row with a missing value goes down
    every branch, with the branch's share of its weight.

    Subtrees that make no fewer errors than a leaf are cut off. Then every subtree is compared, from
    the bottom up, with a leaf and with its largest branch put in its place, by the upper confidence
    limits of their errors.

    The trees are those of J48 with the options ``-M`` and ``-C``, rows and weights alike, except
    where values of a column, or the figures of two splits, differ by less than 1e-6. Like J48, it
    compares weights and gains with that tolerance, prefers the column that comes first, puts a
    threshold at the largest training value that is not above the middle, and asks of a column of
    numbers, beside the weight of its two parts, twice as many rows as ``min_samples_leaf``. A
    weight of 2 is therefore not quite the same as a row given twice.

    As a weak learner it is ``estimator="c45"``, which also sees the categorical columns of a frame.
    The weights of boosting are scaled to a mean of 1 there.

    Parameters
    ----------
    min_samples_leaf : float, default=2
        Smallest weight of two branches of a split, J48's ``-M``.
    confidence : float, default=0.25
        Confidence of the error estimates, J48's ``-C``, above 0 and at most 0.5; less prunes more.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The classes.
    tree_ : C45Tree
        The tree; ``print`` shows it.
    n_leaves_ : int
        Number of leaves, those without rows included.
    n_nodes_ : int
        Number of nodes.
    feature_importances_ : array of shape (n_features_in_,)
        The share of each feature in the gain of information of all splits.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if X was a frame with text for column names.

    References
    ----------
    J. R. Quinlan, "C4.5: programs for machine learning", Morgan Kaufmann, 1993.

    J. R. Quinlan, "Improved use of continuous attributes in C4.5", Journal of Artificial
    Intelligence Research 4, 1996, doi:10.1613/jair.279.

    I. H. Witten, E. Frank and M. A. Hall, "Data mining: practical machine learning tools and
    techniques", 3rd edition, Morgan Kaufmann, 2011, section 6.1 (J48).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost_papers.c45 import C45Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = C45Classifier().fit(X, y)
    >>> print(clf.tree_)
    c3 <= 0.6: y0 (50.0)
    c3 > 0.6
    |   c3 <= 1.7
    |   |   c2 <= 4.9: y1 (48.0/1.0)
    |   |   c2 > 4.9
    |   |   |   c3 <= 1.5: y2 (3.0)
    |   |   |   c3 > 1.5: y1 (3.0/1.0)
    |   c3 > 1.7: y2 (46.0/1.0)
    >>> clf.n_leaves_, clf.n_nodes_
    (5, 9)
    """

    _rules: ClassVar[Rules] = {
        "min_samples_leaf": number(0),
        "confidence": Constraint(
            "a number above 0 and at most 0.5", lambda v: is_real(v) and 0 < v <= 0.5
        ),
    }

    def __init__(self, min_samples_leaf: float = 2, confidence: float = 0.25) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.confidence = confidence

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow and prune the tree.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows; NaN is a missing value, columns of a frame that are not numbers are
            categorical.
        y : array of shape (n,)
            Their classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows. Their size counts, as ``min_samples_leaf`` and the estimates do.

        Returns
        -------
        self
            The fitted tree.
        """
        check_parameters(self)
        owner = type(self).__name__
        y = checked_labels(y, owner)
        columns = _read_columns(X, owner) if has_columns(X) else []
        categorical = [j for j, column in enumerate(columns) if column.kind == "category"]
        known = columns if categorical else None
        matrix, y = check_X_y(self._matrix(X, known, reset=True), y, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        weights = check_weights(sample_weight, len(matrix), owner)
        classes, codes = np.unique(y, return_inverse=True)
        rows = _Columns.of(matrix, categorical)
        self.tree_ = rows.grow(codes, weights, np.ones(len(codes)), len(classes), self)
        self.classes_, self._columns = classes, known
        return self

    def _matrix(self, X: Any, known: Sequence[Column] | None, *, reset: bool) -> Floats:
        """The rows as numbers, checked."""
        coded = X
        if known is not None:
            if not has_columns(X):
                raise ValueError(f"X must be a data frame, as in fit; got {type(X).__name__}.")
            table = Table(X)
            # Of a category its place among the known ones, NaN if it is new.
            coded = np.column_stack([column.values(table[column.name]) for column in known])
        matrix: Floats = check_array(
            coded, dtype=np.float64, ensure_all_finite="allow-nan", estimator=self
        )
        validate_data(self, X, reset=reset, skip_check_array=True)
        return matrix

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities: the shares of the classes in the leaf.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows. A category that was not in the training rows counts as missing.

        Returns
        -------
        array of shape (n, k)
            A column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.tree_.predict_proba(self._matrix(X, self._columns, reset=False))

    def predict(self, X: Any) -> AnyArray:
        """The most probable class.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            Labels of ``classes_``; of equally probable ones the first.
        """
        proba = self.predict_proba(X)
        return np.asarray(self.classes_[proba.argmax(axis=1)])

    @property
    def n_leaves_(self) -> int:
        """Number of leaves, those without rows included."""
        check_is_fitted(self)
        return int((self.tree_.feature < 0).sum())

    @property
    def n_nodes_(self) -> int:
        """Number of nodes."""
        check_is_fitted(self)
        return len(self.tree_.feature)

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in the gain of information of all splits."""
        check_is_fitted(self)
        return self.tree_.importances(self.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _read_columns(X: Any, owner: str) -> list[Column]:
    """What the columns of a frame hold: numbers, or categories."""
    columns, table = [], Table(X)
    for name in table.names:
        values = table[name]
        if values.kind not in ("number", "boolean", "category", "text"):
            raise ValueError(
                f"The column {name!r} of X must hold numbers or categories for {owner}, and holds "
                f"{values.type}. Drop it, or turn it into one of these."
            )
        if values.kind in ("number", "boolean"):
            columns.append(Column(name, "number"))
            continue
        # A category type has an order, and may name categories that no row has.
        categories = getattr(getattr(table.column(name), "dtype", None), "categories", None)
        if categories is None:
            categories = sorted(text for text in set(values.texts) if text is not None)
        texts = tuple(str(text_of(category)) for category in categories)
        columns.append(Column(name, "category", categories=texts))
    return columns


# -- weak learners --------------------------------------------------------------------------------


@dataclass
class C45(Learner):
    """C4.5 trees, as `C45Classifier` grows them: ``estimator="c45"``.

    The weights of a round are scaled: those of all rows sum to their number (with sample weights,
    to the sum of these). Only for algorithms whose rules vote, or are log-odds: C4.5 grows no
    regression trees.

    Parameters
    ----------
    min_samples_leaf : float, default=2
        Smallest weight of two branches of a split.
    confidence : float, default=0.25
        Confidence of the error estimates; less prunes more.
    """

    min_samples_leaf: float = 2
    confidence: float = 0.25

    accepts_missing: ClassVar[bool] = True
    accepts_categories: ClassVar[bool] = True

    def prepare(self, rows: Rows) -> None:
        """Order the rows by each column."""
        self._X, self._columns = rows.X, _Columns.of(rows.X, rows.categorical)
        self._copies = rows.sample_weight

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """Grow one tree."""
        if aim.criterion.is_regression:
            raise ValueError(
                "estimator='c45' grows trees that classify, and this algorithm fits real-valued "
                "responses. Choose estimator='tree'."
            )
        weights = aim.criterion.fit_weights(aim.targets, aim.weights)
        rule = C45Rule(self._grown(aim.targets, weights), aim.criterion)
        return Fitted(rule, rule.predict(self._X))

    def class_estimator(self) -> C45Classifier:
        """Return the classifier."""
        return C45Classifier(self.min_samples_leaf, self.confidence)

    def _grown(self, targets: Floats, weights: Floats) -> C45Tree:
        # Altogether the rows weigh as much as before boosting: a sample weight of 2 is a copy.
        weights = weights * (self._copies[weights > 0].sum() / weights.sum())
        codes = (targets > 0).astype(np.intp)
        return self._columns.grow(codes, weights, self._copies, 2, self)


@dataclass(frozen=True)
class C45Rule:
    """A tree for targets in {-1, +1}; the criterion turns its probabilities into outputs."""

    tree: C45Tree
    criterion: Criterion

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the tree, (n,)."""
        return self.criterion.of_mean(2.0 * self.tree.predict_proba(X)[:, 1] - 1.0)

    def importances(self, n_features: int) -> Floats:
        """The share of each feature in the gain of information of the splits, (d,)."""
        return self.tree.importances(n_features)


@dataclass
class JointC45(C45):
    """One C4.5 tree over all pairs (x, y) of rows and classes, for relations h(x, y) in {0, 1}.

    The class y is a categorical column after those of x: the learner that Lozano and Abe (2008,
    Figure 1) print. For algorithms on pairs only: `LpCSBClassifier`, its relatives
    `AverageCostClassifier` and `GBSEClassifier`, and the family of AdaBoost.M2.
    ``estimator="c45"`` grows a tree per class instead. Where the classes are balanced and costs are
    equal, no column gains anything and the tree is a leaf.

    Parameters
    ----------
    min_samples_leaf : float, default=2
        Smallest weight of two branches of a split.
    confidence : float, default=0.25
        Confidence of the error estimates; less prunes more.
    """

    learns_relations: ClassVar[bool] = True

    def prepare(self, rows: Rows) -> None:
        """Order the pairs by each column."""
        n, d = rows.X.shape
        pairs = np.column_stack([np.repeat(rows.X, rows.k, axis=0), np.tile(np.arange(rows.k), n)])
        self._X, self._columns = rows.X, _Columns.of(pairs, [*rows.categorical, d])
        self._copies = np.repeat(rows.sample_weight, rows.k)

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The tree, with the relation on all pairs."""
        tree = self._grown(aim.targets.ravel(), aim.weights.ravel())
        rule = JointC45Rule(**vars(tree), n_features=self._X.shape[1], k=aim.targets.shape[1])
        return Fitted(rule, rule.predict(self._X))


@dataclass(frozen=True, eq=False)
class JointC45Rule(C45Tree):
    """A tree over pairs; its column ``n_features`` is the class."""

    n_features: int
    k: int

    def predict(self, X: AnyArray) -> Floats:
        """The relation h(x, y) in {0, 1} of every pair, (n, k)."""
        h = np.empty((X.shape[0], self.k))
        pairs = np.column_stack([X, np.zeros(X.shape[0])])
        for y in range(self.k):
            pairs[:, -1] = y
            # As `costboost.learners.Votes`: an even leaf claims its pairs.
            h[:, y] = self.predict_proba(pairs)[:, 1] >= 0.5 - 1e-12
        return h
