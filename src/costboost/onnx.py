"""Classifiers as ONNX graphs: trees, networks, probabilities, expected costs, decisions.

The table of trees compares ``x <= t`` in double precision, and so does a ``TreeEnsemble`` of the
ONNX domain for machine learning, version 5, which sends NaN where it is told. What it does not know
becomes a column of its input: a feature whose zeros are missing, and, for each set of categories, 0
where the split goes left and 1 where it goes right. Sums are taken tree by tree in double, so with
one thread they are the model's own to the last bit.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from sklearn.utils.validation import check_is_fitted

from costboost._typing import Floats, Ints
from costboost._utils import write_bytes
from costboost.boosting.classifiers import BoostingClassifier
from costboost.columns import Columns, need
from costboost.costs.expressions import Expression
from costboost.costs.forms import LARGEST, Reader, cells_in, expressions_in, varies
from costboost.gbm.models import ProbabilityModel
from costboost.gbm.network import MOST, NetworkModel
from costboost.learners.tree import TreeEnsemble
from costboost.trees import CATEGORY, MISSING_LEFT, ZERO, ZERO_MISSING, Trees

_OPSETS = {"": 18, "ai.onnx.ml": 5}
# The newest that the oldest runtime with version 5 of the tree operator reads.
_IR_VERSION = 10
# Names of outputs and of inner values.
_TAKEN = ("features", "costs", "labels", "probabilities", "expected_costs", "decision")
# How the parts of a date are computed; times that say how far from UTC they are become UTC first.
_PARTS = {
    "month": "1 to 12", "day": "day of the month, 1 to 31", "weekday": "1 (Monday) to 7 (Sunday)",
    "hour": "0 to 23; 0 without a time",
}  # fmt: skip


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    costs: bool = False,
) -> Any:
    """Write a fitted classifier as an ONNX model.

    The graph answers ``probabilities``, ``expected_costs`` and ``decision``, the label. Fitted on a
    frame, it takes an input of shape (n, 1) for each column that the model or its costs use, under
    the name of the column: numbers and booleans as doubles, NaN is a missing value; categories as
    texts, others than those of the fit are missing. Parts of dates are inputs of their own
    (``when_month``); the property ``dates`` of the model says how they are computed. Fitted on an
    array, it takes ``features``, (n, d) double.

    Costs that are expressions over columns of numbers are worked out inside. A row whose costs are
    not finite, because a column is missing, is an error of the runtime, as it is of ``predict``.

    Parameters
    ----------
    model : classifier
        A fitted `CostBoostClassifier`, or an algorithm for two classes whose weak rules are trees.
    path : str or path, optional
        The file to write; without it the model is only returned.
    costs : bool, default=False
        Whether the graph decides as ``predict(X, costs=...)``: it has the input ``costs``, the
        rows' own cost matrices. Without it the graph decides as ``predict(X)``.

    Returns
    -------
    onnx.ModelProto
        The model.
    """
    check_is_fitted(model)
    is_binary = isinstance(model, BoostingClassifier) and model._is_binary
    if not is_binary and not hasattr(model, "cost_model_"):
        raise ValueError(
            "to_onnx takes CostBoostClassifier and the algorithms for two classes whose weak rules "
            f"are trees, got {type(model).__name__}. Use model.save."
        )
    graph = _Graph(model.columns_)
    if not costs:
        _price(graph, model)
    outputs = (_of_two if is_binary else _of_costboost)(graph, model, costs)
    made = graph.model(outputs, model, costs)
    if path is not None:
        write_bytes(Path(path), made.SerializeToString(deterministic=True))
    return made


# -- graphs -------------------------------------------------------------------------------------

_OPERATORS: dict[Any, str] = {
    np.add: "Add", np.subtract: "Sub", np.multiply: "Mul", np.divide: "Div", np.power: "Pow",
    np.negative: "Neg", np.abs: "Abs", np.sqrt: "Sqrt", np.log: "Log", np.exp: "Exp",
    np.minimum: "Min", np.maximum: "Max", np.less: "Less", np.less_equal: "LessOrEqual",
    np.greater: "Greater", np.greater_equal: "GreaterOrEqual", np.equal: "Equal",
    np.isnan: "IsNaN", np.isinf: "IsInf", np.bitwise_or: "Or", np.bitwise_and: "And",
    np.invert: "Not",
}  # fmt: skip
_TESTS = frozenset([*_OPERATORS.values()][12:])  # the first twelve make numbers


class _Value(NDArrayOperatorsMixin):
    """A value of a graph: what numpy does to it becomes nodes."""

    # To type checkers it is Any: numpy's functions are declared for arrays alone.

    def __init__(self, graph: _Graph, name: str, is_test: bool = False) -> None:
        self.graph, self.name, self.dtype = graph, name, np.dtype(bool if is_test else float)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Any:
        if ufunc is np.not_equal:
            return ~self.graph("Equal", *inputs)
        return self.graph(_OPERATORS[ufunc], *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.where:
            return NotImplemented
        tests = [isinstance(x, _Value) and x.dtype == bool for x in args[1:]]
        sides = [x.cast("DOUBLE") if test else x for x, test in zip(args[1:], tests, strict=True)]
        return self.graph("Where", args[0], *sides)

    def cast(self, kind: str) -> Any:
        return self.graph("Cast", self, to=getattr(self.graph.onnx.TensorProto, kind))

    def columns(self, places: Any) -> Any:
        """Some columns of a matrix."""
        return self.graph("Gather", self, self.graph.whole(places), axis=1)

    def squeezed(self) -> Any:
        return self.graph("Squeeze", self, self.graph.whole([1]))


class _Graph:
    """Nodes and constants, with names made up on the way."""

    def __init__(self, columns: Columns) -> None:
        need("onnx", "onnx", "to_onnx")
        import onnx
        import onnx.helper
        import onnx.numpy_helper

        self.onnx = onnx
        self.n_features = columns.n_inputs
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        values: Any = (_Value(self, "features"), _Value(self, "costs"))
        self.features, self.costs = values
        self.inputs: dict[str, tuple[int, int]] = {}  # their types and widths
        if not columns.columns:
            self.inputs["features"] = onnx.TensorProto.DOUBLE, self.n_features
            return
        # The table that trees look at: inputs side by side, categories as codes.
        parts: list[Any] = []
        for column in columns.used:
            if column.kind != "category":
                parts += map(self.input, column.inputs)
                continue
            texts = np.array(column.categories, dtype=object)
            codes: Any = {"keys_tensor": texts, "values_tensor": np.arange(len(texts), dtype=float)}
            given, missing = self.input(column.inputs[0], "STRING"), np.array([np.nan])
            parts.append(self("LabelEncoder", given, default_tensor=missing, **codes))
        self("Concat", *parts, axis=1, output="features")

    def input(self, name: str, kind: str = "DOUBLE") -> Any:
        """A column by its name, (n, 1)."""
        if "features" in self.inputs:  # of an array: x0, x1, ...
            return self.features.columns([int(name[1:])])
        if name in _TAKEN or name.startswith("/"):
            raise ValueError(
                f"The column {name!r} has a name that graphs use for something else "
                f"({', '.join(_TAKEN)}, or names that begin with '/'). Rename it and fit again."
            )
        self.inputs.setdefault(name, (getattr(self.onnx.TensorProto, kind), 1))
        return _Value(self, name)

    def constant(self, value: Any, dtype: Any = None) -> Any:
        """A constant: a test or doubles, unless told otherwise."""
        array = np.asarray(value, dtype)
        if dtype is None and array.dtype != bool:
            array = array.astype(np.float64)
        name = f"/c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return _Value(self, name, array.dtype == bool)

    def whole(self, value: Any) -> Any:
        """A constant of whole numbers."""
        return self.constant(value, np.int64)

    def __call__(self, operator: str, *inputs: Any, output: str = "", **attributes: Any) -> Any:
        """Add a node; returns its output. Inputs that are no values of the graph are constants."""
        name = output or f"/v{len(self.nodes)}"
        names = [(x if isinstance(x, _Value) else self.constant(x)).name for x in inputs]
        for key, value in attributes.items():
            if isinstance(value, np.ndarray):
                attributes[key] = self.onnx.numpy_helper.from_array(value)
        domain = "ai.onnx.ml" if operator in ("TreeEnsemble", "LabelEncoder") else ""
        node = self.onnx.helper.make_node(operator, names, [name], domain=domain, **attributes)
        self.nodes.append(node)
        return _Value(self, name, operator in _TESTS)

    def joined(self, parts: Sequence[Any]) -> Any:
        """Matrices side by side."""
        return self("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]

    def model(self, outputs: Mapping[str, Any], model: Any, costs: bool) -> Any:
        """The model: inputs and outputs declared, and checked by onnx."""
        helper, tensor = self.onnx.helper, self.onnx.TensorProto
        info, from_array = helper.make_tensor_value_info, self.onnx.numpy_helper.from_array
        k, labels = len(model.classes_), np.asarray(model.decisions_)
        inputs = [info(name, kind, ["n", width]) for name, (kind, width) in self.inputs.items()]
        if costs:
            inputs.append(info("costs", tensor.DOUBLE, ["n", k, len(labels)]))
        elif any("costs" in node.input for node in self.nodes) and not varies(model.cost_matrix):
            matrix = model._decision_costs(None, 1, None).matrix
            self.constants.append(from_array(np.asarray(matrix, np.float64)[None], "costs"))
        kinds: dict[str, Any] = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}
        if labels.dtype.kind not in kinds:
            labels = np.array([str(label) for label in labels], dtype=object)
        names = from_array(labels.astype(kinds.get(labels.dtype.kind, object)), "labels")
        self.constants.append(names)
        found = []
        for name, value in outputs.items():
            if name == "decision":
                # A runtime that refuses rows names the node: see `_cheapest`.
                told = "decision: every cost must be finite"
                self("Gather", _Value(self, "labels"), value, output=name, axis=0, name=told)
                found.append(info(name, names.data_type, ["n"]))
            else:
                self("Identity", value, output=name)
                width = k if name == "probabilities" else len(labels)
                found.append(info(name, tensor.DOUBLE, ["n", width]))
        made = helper.make_graph(self.nodes, "costboost", inputs, found, self.constants)
        imports = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        onnx_model = helper.make_model(
            made, opset_imports=imports, ir_version=_IR_VERSION, producer_name="costboost"
        )
        properties = {key: json.dumps(v, sort_keys=True) for key, v in _metadata(model).items()}
        helper.set_model_props(onnx_model, properties)
        self.onnx.checker.check_model(onnx_model)
        return onnx_model


def _metadata(model: Any) -> dict[str, Any]:
    columns = model.columns_
    known = columns.used if columns.columns else ()
    found = {
        "class": type(model).__name__,
        "classes": [str(label) for label in model.classes_],
        "features": columns.inputs if known else [],
        "categories": {c.inputs[0]: list(c.categories) for c in known if c.kind == "category"},
        "dates": {
            str(column.name): {
                "format": column.format or "%Y-%m-%d",
                "inputs": {f"{column.name}_{part}": _PARTS[part] for part in column.parts},
            }
            for column in known
            if column.parts
        },
    }
    return {name: value for name, value in found.items() if value}


def _price(graph: _Graph, model: Any) -> None:
    """The costs of rows, (n, k, d), where they differ: by expressions over columns of numbers."""
    form, owner = model.cost_matrix, type(model).__name__
    if not (varies(form) and model._decides_by_costs()):
        return
    numbers = {column.name for column in model.columns_ if column.kind in ("number", "boolean")}
    cells, texts = cells_in(form), expressions_in(form)
    is_array = not cells or any(np.ndim(cell) for cell in cells)
    if is_array or any(x.has_texts or set(x.columns) - numbers for x in texts):
        raise ValueError(
            f"A graph cannot work out the costs of {owner}: it knows no functions, no arrays and "
            "no expressions over columns that are no numbers of the fit. Use to_onnx(..., "
            "costs=True) and pass it the costs of each row."
        )
    reader = Reader(model.classes_, owner=owner, decisions=model.decisions_)
    table, _ = reader.cells(form)
    nowhere = np.isnan(graph.features.columns([0]))  # only for the number of rows
    parts = []
    for price in table.flat:
        if isinstance(price, str):
            expression = Expression(price)
            price = expression.traced({name: graph.input(name) for name in expression.columns})
        is_made = isinstance(price, _Value)
        parts.append(price if is_made else graph("Where", nowhere, price, price))
    graph("Reshape", graph.joined(parts), graph.whole([-1, *table.shape]), output="costs")


# -- trees and networks -------------------------------------------------------------------------


def _scores(graph: _Graph, trees: Trees) -> Any:
    """The scores of a table of trees, (n, n_scores)."""
    k = trees.n_scores
    if not len(trees.roots):
        nowhere = np.isnan(graph.features.columns([0]))
        return graph("Where", nowhere, trees.base[None], trees.base[None])
    owner = np.repeat(np.arange(len(trees.roots)), trees.sizes + 1)
    values, target = trees.values.copy(), owner % k  # tree t adds to t % k
    # The base is carried by the first tree of each score.
    values[owner < k] += trees.base[owner[owner < k]]
    table, column, threshold = _questions(graph, trees)
    # A tree of one leaf becomes a split whose sides are the same.
    alone: Ints = np.flatnonzero(trees.roots < 0)
    new, zeros = np.arange(len(alone)), np.zeros(len(alone), dtype=np.int64)
    roots = trees.roots.astype(np.int64)
    leaf_alone = ~roots[alone]
    roots[alone] = len(trees.feature) + new
    twins = np.stack([~leaf_alone, ~(len(values) + new)], axis=1)
    children = np.concatenate([trees.children.reshape(-1, 2), twins]).astype(np.int64)
    is_leaf = children < 0
    places = np.where(is_leaf, ~children, children)
    lists = {
        "tree_roots": roots,
        "nodes_featureids": np.concatenate([column, zeros]),
        "nodes_truenodeids": places[:, 0],
        "nodes_trueleafs": is_leaf[:, 0],
        "nodes_falsenodeids": places[:, 1],
        "nodes_falseleafs": is_leaf[:, 1],
        "nodes_missing_value_tracks_true": np.concatenate([trees.kind & MISSING_LEFT > 0, zeros]),
        "leaf_targetids": np.concatenate([target, target[leaf_alone]]),
    }
    return graph(
        "TreeEnsemble",
        table,
        n_targets=k,
        aggregate_function=1,
        post_transform=0,
        nodes_splits=np.concatenate([threshold, zeros]),
        nodes_modes=np.zeros(len(children), np.uint8),
        leaf_weights=np.concatenate([values, values[leaf_alone]]),
        **{name: array.astype(np.int64).tolist() for name, array in lists.items()},
    )


def _questions(graph: _Graph, trees: Trees) -> tuple[Any, Ints, Floats]:
    """The table that splits look at: features and columns made of them; column and threshold."""
    column, threshold = trees.feature.astype(np.int64), trees.threshold.copy()
    parts, width = [graph.features], graph.n_features
    is_zero = (trees.kind & ZERO_MISSING) > 0
    if is_zero.any():
        wanted, place = np.unique(column[is_zero], return_inverse=True)
        column[is_zero] = width + place
        X = graph.features.columns(wanted)
        parts.append(np.where(np.abs(X) <= ZERO, np.nan, X))
        width += len(wanted)
    nodes: Ints = np.flatnonzero(trees.kind & CATEGORY)
    threshold[nodes] = 0.5
    for feature in np.unique(trees.feature[nodes]).tolist():
        sets: dict[bytes, int] = {}
        for node in nodes[trees.feature[nodes] == feature].tolist():
            first = int(trees.threshold[node])
            words = trees.categories[first : first + int(trees.words[node])]
            column[node] = width + sets.setdefault(words.astype("<u4").tobytes(), len(sets))
        parts.append(_sides(graph, feature, list(sets)))
        width += len(sets)
    return graph.joined(parts), column, threshold


def _sides(graph: _Graph, feature: int, sets: list[bytes]) -> Any:
    """For every set of categories of a feature a column: 0 goes left, 1 goes right."""
    # A category is looked up once, in a table with a column per set; others are in its last row.
    size = 8 * max(map(len, sets))
    table = np.ones((size + 1, len(sets)), dtype=np.uint8)
    for j, words in enumerate(sets):
        bits = np.unpackbits(np.frombuffer(words, np.uint8), bitorder="little")
        table[: len(bits), j] -= bits
    x = graph.features.columns([feature])
    # Codes are cut towards zero, so -0.5 is category 0.
    code: Any = np.where((x > -1.0) & (x < float(size)), x, float(size))
    places = code.cast("INT64").squeezed()
    sides = graph("Gather", graph.constant(table, np.uint8), places, axis=0)
    return np.where(np.isnan(x), np.nan, sides.cast("DOUBLE"))


def _network(graph: _Graph, model: NetworkModel) -> Any:
    """Scores of a network, (n, n_scores)."""
    design, parts = model.design, []
    if len(design.numeric):
        values = graph.features.columns(design.numeric)
        filled = np.where(np.isnan(values), design.medians, values)
        parts.append(graph("Clip", (filled - design.means) / design.scales, -MOST, MOST))
    if len(design.gaps):
        values = graph.features.columns(design.gaps)
        parts.append((np.isnan(values) | np.isinf(values)).cast("DOUBLE"))
    for column, size in zip(design.categorical, design.sizes, strict=True):
        if size:
            codes = graph.features.columns([column])
            parts.append((codes == np.arange(size)).cast("DOUBLE"))
    inputs = graph.joined(parts) if parts else graph.features.columns([])
    hidden = graph("Relu", graph("MatMul", inputs, model.slopes.T) + model.shifts)
    return graph("MatMul", hidden, model.tops.T) + model.base


# -- decisions ----------------------------------------------------------------------------------


def _of_costboost(graph: _Graph, model: Any, costs: bool) -> dict[str, Any]:
    """Outputs of a `CostBoostClassifier`."""
    scores = _ensemble_scores(graph, model.model_.ensemble)
    if model.model_.temperature != 1.0:
        scores = scores * model.model_.temperature
    if isinstance(model.model_, ProbabilityModel):
        if len(model.classes_) > 2:
            proba = graph("Softmax", scores, axis=1)
        else:
            proba = graph.joined([_sigmoid(-scores), _sigmoid(scores)])
        matrices = graph.costs
        if model.cost_model_ is not None and not costs:
            matrices = _expected_matrices(graph, model)
        return _cheapest(graph, proba, model, matrices)
    if costs or not model.model_.loss.carries_costs or model._decides_by_costs():
        raise ValueError(
            f"to_onnx writes the decisions of {type(model).__name__}(loss={model.loss!r}) by the "
            "scores of its boosters alone. Leave costs out, or fit with loss='auto'."
        )
    n_scores = model.model_.loss.n_scores(len(model.decisions_))
    return {"decision": _largest(graph, scores, n_scores)}


def _ensemble_scores(graph: _Graph, ensemble: Any) -> Any:
    """Scores of the models of an ensemble, averaged, (n, n_scores)."""
    parts = []
    for part, weight in zip(ensemble.models, ensemble.weights, strict=True):
        is_network = isinstance(part, NetworkModel)
        parts.append(weight * (_network(graph, part) if is_network else _scores(graph, part.trees)))
    return reduce(operator.add, parts)


def _expected_matrices(graph: _Graph, model: Any) -> Any:
    """The cost matrices that are expected of rows, (n, k, d)."""
    entries = model.cost_model_.entries
    excess = []
    for entry in entries:
        scale = (entry.factors[:, None] * entry.slopes).reshape(1, -1)
        excess.append(np.exp(_ensemble_scores(graph, entry.ensemble)) * scale)
    is_priced = varies(model.cost_matrix)
    base = sum(entry.base for entry in entries) + (0.0 if is_priced else model.cost_matrix_)
    cells = reduce(operator.add, excess) + base.reshape(1, -1)
    matrices = graph("Reshape", cells, graph.whole([-1, *base.shape]))
    return graph.costs + matrices if is_priced else matrices


def _of_two(graph: _Graph, model: Any, costs: bool) -> dict[str, Any]:
    """Outputs of an algorithm for two classes."""
    if not isinstance(model._ensemble, TreeEnsemble):
        raise ValueError(
            f"to_onnx takes {type(model).__name__} with trees as weak rules, and this one has "
            "none. Fit with estimator='tree'."
        )
    scores = _scores(graph, model._ensemble.trees)
    # Every link is a straight line of the log-odds; two points give it.
    ends = model._link.probability(np.array([0.0, 1.0]), model._link_costs())
    low, high = np.log(ends) - np.log1p(-ends)
    positive = _sigmoid(scores * float(high - low) + float(low))
    proba = graph.joined([1.0 - positive, positive])
    if costs or model._decides_by_costs():
        return _cheapest(graph, proba, model, graph.costs)
    return {"probabilities": proba, "decision": _largest(graph, scores, 1)}


def _sigmoid(scores: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-scores))


def _largest(graph: _Graph, scores: Any, width: int) -> Any:
    """Codes by the scores alone: the sign of a single one, or the first of the largest."""
    if width > 1:
        return graph("ArgMax", scores, axis=1, keepdims=0)
    return (scores >= 0.0).cast("INT64").squeezed()


def _cheapest(graph: _Graph, proba: Any, model: Any, costs: Any) -> dict[str, Any]:
    """Outputs with expected costs, and the cheapest decisions; ties as in `Costs.decide`."""
    above, lowest = [], []
    for j in range(len(model.classes_)):
        p, C = proba.columns([j]), graph("Gather", costs, graph.whole(j), axis=1)
        least = graph("ReduceMin", C, graph.whole([1]), keepdims=1)
        above.append(p * (C - least))
        lowest.append(p * least)
    expected = reduce(operator.add, above) + reduce(operator.add, lowest)
    # Of two that tie the second is taken, of more the first.
    d = len(model.decisions_)
    winner = graph("ArgMin", expected, axis=1, keepdims=0, select_last_index=int(d == 2))
    if any("costs" in node.output for node in graph.nodes):
        # As predict, which raises an error there: no label may stand for a row without a price, so
        # its code is one that the runtime refuses.
        lacks = (~(np.abs(graph.costs) <= LARGEST)).cast("INT64")
        lacking = graph("ReduceMax", lacks, graph.whole([1, 2]), keepdims=0)
        winner = winner + lacking * graph.whole(d)
    return {"probabilities": proba, "expected_costs": expected, "decision": winner}
