"""Classifiers as ONNX graphs: trees, networks, probabilities, expected costs, decisions.

The table of trees compares ``x <= t`` in double precision, and so does a ``TreeEnsemble`` of the
ONNX domain for machine learning, version 5, which sends NaN where it is told. What it does not know
becomes a column of its input: a feature whose zeros are missing, and, for each set of categories, 0
where the split goes left and 1 where it goes right. Sums are taken tree by tree in double, so with
one thread they are the model's own to the last bit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from sklearn.utils.validation import check_is_fitted

from costboost._typing import Floats, Ints
from costboost.boosting.classifiers import BoostingClassifier
from costboost.columns import Columns
from costboost.costs.expressions import Expression
from costboost.costs.forms import LARGEST, Reader, cells_in, expressions_in, varies
from costboost.costs.uncertain import scenarios
from costboost.files.container import write_bytes
from costboost.gbm.models import MOST, Design, NetworkModel, ProbabilityHead
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
    _check_costs(model, costs)
    graph = _Graph(model.n_features_in_, getattr(model, "columns_", None))
    if not costs and varies(getattr(model, "cost_matrix", None)) and model._decides_by_costs():
        _price(graph, model)
    if isinstance(model, BoostingClassifier) and model._is_binary:
        outputs = _of_two(graph, model, costs)
    elif hasattr(model, "heads_"):
        outputs = _of_heads(graph, model, costs)
    else:
        raise ValueError(
            "to_onnx takes CostBoostClassifier and the algorithms for two classes whose weak rules "
            f"are trees, got {type(model).__name__}. Save it with model.save, or fit a "
            "CostBoostClassifier."
        )
    made = graph.model(outputs, model, costs)
    if path is not None:
        write_bytes(Path(path), made.SerializeToString(deterministic=True))
    return made


def _check_costs(model: Any, costs: bool) -> None:
    """Refuse costs that a graph cannot work out."""
    form = getattr(model, "cost_matrix", None)
    is_uncertain = getattr(model, "risk", "expected") == "worst" and scenarios(form).is_uncertain
    if not costs and (is_uncertain or (varies(form) and not _are_arithmetic(model))):
        what = (
            "uncertain, with risk='worst'"
            if is_uncertain
            else "a function, arrays or expressions over columns that are no numbers of the fit"
        )
        raise ValueError(
            f"The costs of {type(model).__name__} are {what}, which a graph cannot work out. Use "
            "to_onnx(..., costs=True) and pass it the costs of each row."
        )


def _are_arithmetic(model: Any) -> bool:
    """Whether costs that vary are expressions over columns of numbers, and nothing else."""
    form = model.cost_matrix
    if not cells_in(form) or any(np.ndim(cell) for cell in cells_in(form)):
        return False
    numbers = {column.name for column in model.columns_ if column.kind in ("number", "boolean")}
    return not any(x.has_texts or set(x.columns) - numbers for x in expressions_in(form))


# -- graphs -------------------------------------------------------------------------------------


class _Graph:
    """Nodes and constants, with names made up on the way."""

    def __init__(self, n_features: int, columns: Columns | None = None) -> None:
        try:
            import onnx
            import onnx.helper
            import onnx.numpy_helper
        except ImportError as error:
            raise ImportError(
                "to_onnx needs onnx. Install it with: pip install 'costboost[onnx]'"
            ) from error
        self.onnx = onnx
        self.n_features = n_features if columns is None else columns.n_inputs
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[tuple[Any, ...], str] = {}
        tensor = onnx.TensorProto
        self.inputs: list[tuple[str, int, int]] = [("features", tensor.DOUBLE, self.n_features)]
        if columns is not None and columns.columns:
            self.inputs = [
                (name, tensor.STRING if column.kind == "category" else tensor.DOUBLE, 1)
                for column in columns.used
                for name in column.inputs
            ]
            self._join(columns)

    def _join(self, columns: Columns) -> None:
        """The table that trees look at: inputs side by side, categories as codes."""
        for name, *_ in self.inputs:
            self._check_name(name)
        parts: list[str] = []
        for column in columns.used:
            if column.kind == "category":
                texts = np.array(column.categories, dtype=object)
                codes = np.arange(len(texts), dtype=np.float64)
                parts.append(
                    self(
                        "LabelEncoder", *column.inputs, keys_tensor=texts, values_tensor=codes,
                        default_tensor=np.array([np.nan]),
                    )
                )  # fmt: skip
            else:
                parts += column.inputs
        self("Concat", *parts, axis=1, output="features")

    def _check_name(self, name: str) -> None:
        if name in _TAKEN or name.startswith("/"):
            raise ValueError(
                f"The column {name!r} has a name that graphs use for something else "
                f"({', '.join(_TAKEN)}, or names that begin with '/'). Rename it and fit again."
            )

    def numbers(self, name: str) -> str:
        """A column of numbers by its name, (n, 1); a new input if the model does not use it."""
        if self.inputs[0][0] == "features":  # of an array: x0, x1, ...
            return self.columns("features", [int(name[1:])])
        if name not in [known for known, *_ in self.inputs]:
            self._check_name(name)
            self.inputs.append((name, self.onnx.TensorProto.DOUBLE, 1))
        return name

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """The name of a constant."""
        array = np.asarray(value, dtype=dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = f"/c{len(self._known)}"
            self.constants.append(self.onnx.numpy_helper.from_array(array, self._known[key]))
        return self._known[key]

    def __call__(self, operator: str, *inputs: Any, output: str = "", **attributes: Any) -> str:
        """Add a node; returns the name of its output. Inputs that are no names are constants."""
        name = output or f"/v{len(self.nodes)}"
        names = [item if isinstance(item, str) else self.constant(item) for item in inputs]
        attributes = {
            key: self.onnx.numpy_helper.from_array(value)
            if isinstance(value, np.ndarray)
            else value
            for key, value in attributes.items()
        }
        domain = "ai.onnx.ml" if operator in ("TreeEnsemble", "LabelEncoder") else ""
        node = self.onnx.helper.make_node(operator, names, [name], domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def cast(self, value: str, kind: str) -> str:
        return self("Cast", value, to=getattr(self.onnx.TensorProto, kind))

    def columns(self, matrix: str, places: Any) -> str:
        """Some columns of a matrix."""
        return self("Gather", matrix, self.constant(places, np.int64), axis=1)

    def joined(self, parts: Sequence[str]) -> str:
        """Matrices side by side."""
        return self("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]

    def total(self, items: Iterable[str]) -> str:
        """A sum, from left to right."""
        first, *others = items
        for item in others:
            first = self("Add", first, item)
        return first

    def squeezed(self, column: str) -> str:
        return self("Squeeze", column, self.constant([1], np.int64))

    def model(self, outputs: Mapping[str, str], model: Any, costs: bool) -> Any:
        """The model: inputs and outputs declared, and checked by onnx."""
        helper, tensor = self.onnx.helper, self.onnx.TensorProto
        info, from_array = helper.make_tensor_value_info, self.onnx.numpy_helper.from_array
        k, labels = len(model.classes_), np.asarray(model.decisions_)
        inputs = [info(name, kind, ["n", width]) for name, kind, width in self.inputs]
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
                # A runtime that refuses rows names the node: see `_refused`.
                told = "decision: every cost must be finite"
                self("Gather", "labels", value, output=name, axis=0, name=told)
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


# -- costs by expressions -----------------------------------------------------------------------

_ARITHMETIC: dict[Any, str] = {
    np.add: "Add", np.subtract: "Sub", np.multiply: "Mul", np.divide: "Div", np.power: "Pow",
    np.negative: "Neg", np.abs: "Abs", np.sqrt: "Sqrt", np.log: "Log", np.exp: "Exp",
    np.minimum: "Min", np.maximum: "Max",
}  # fmt: skip
_TESTS: dict[Any, str] = {
    np.less: "Less", np.less_equal: "LessOrEqual", np.greater: "Greater",
    np.greater_equal: "GreaterOrEqual", np.equal: "Equal", np.not_equal: "Equal",
    np.isnan: "IsNaN", np.bitwise_or: "Or",
}  # fmt: skip


class _Traced(NDArrayOperatorsMixin):
    """A column of a graph, (n, 1): what numpy does to it becomes nodes."""

    def __init__(self, graph: _Graph, name: str, dtype: Any = np.float64) -> None:
        self.graph, self.name, self.dtype = graph, name, np.dtype(dtype)

    def _name(self, value: Any) -> str:
        if isinstance(value, _Traced):
            return value.name
        is_test = np.asarray(value).dtype == bool
        return self.graph.constant(value, np.bool_ if is_test else np.float64)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> _Traced:
        names = [self._name(item) for item in inputs]
        if ufunc in _ARITHMETIC:
            return _Traced(self.graph, self.graph(_ARITHMETIC[ufunc], *names))
        found = self.graph(_TESTS[ufunc], *names)
        if ufunc is np.not_equal:
            found = self.graph("Not", found)
        return _Traced(self.graph, found, np.bool_)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.where:
            return NotImplemented
        condition, *sides = args
        names = [
            self.graph.cast(side.name, "DOUBLE")
            if isinstance(side, _Traced) and side.dtype == bool
            else self._name(side)
            for side in sides
        ]
        return _Traced(self.graph, self.graph("Where", self._name(condition), *names))


def _price(graph: _Graph, model: Any) -> None:
    """The costs of rows by expressions over their columns, (n, k, d)."""
    reader = Reader(model.classes_, owner=type(model).__name__, decisions=model.decisions_)
    cells, _ = reader.cells(scenarios(model.cost_matrix).expected)
    nowhere = graph("IsNaN", graph.columns("features", [0]))  # only for the number of rows
    parts = []
    for cell in cells.flat:
        price = cell
        if isinstance(cell, str):
            expression = Expression(cell)
            price = expression.traced(
                {name: _Traced(graph, graph.numbers(name)) for name in expression.columns}
            )
        is_traced = isinstance(price, _Traced)
        parts.append(price.name if is_traced else graph("Where", nowhere, price, price))
    shape = graph.constant([-1, *cells.shape], np.int64)
    graph("Reshape", graph.joined(parts), shape, output="costs")


def _refused(graph: _Graph, winner: str, d: int) -> str:
    """Codes of decisions; where a cost is no finite number, one that the runtime refuses."""
    # As predict, which raises an error there: no label may stand for a row without a price.
    is_sound = graph("LessOrEqual", graph("Abs", "costs"), LARGEST)
    lacks = graph.cast(graph("Not", is_sound), "INT64")
    lacking = graph("ReduceMax", lacks, graph.constant([1, 2], np.int64), keepdims=0)
    return graph("Add", winner, graph("Mul", lacking, graph.constant(d, np.int64)))


# -- trees and networks -------------------------------------------------------------------------


def _scores(graph: _Graph, trees: Trees) -> str:
    """The scores of a table of trees, (n, n_scores)."""
    k = trees.n_scores
    if not len(trees.roots):
        any_column = graph.columns("features", [0])
        return graph("Where", graph("IsNaN", any_column), trees.base[None], trees.base[None])
    values = trees.values.copy()
    target = np.repeat(np.arange(len(trees.roots)) % k, trees.sizes + 1)  # tree t adds to t % k
    if trees.base.any():  # carried by the first tree of each score
        owner = np.repeat(np.arange(len(trees.roots)), trees.sizes + 1)
        first = owner < k
        values[first] += trees.base[owner[first]]
    table, column, threshold = _questions(graph, trees)
    # A tree of one leaf becomes a split whose sides are the same.
    alone: Ints = np.flatnonzero(trees.roots < 0)
    n_nodes, n_leaves = len(trees.feature), len(values)
    roots = trees.roots.astype(np.int64)
    leaf_alone = ~roots[alone]
    roots[alone] = n_nodes + np.arange(len(alone))
    twins = np.stack([~leaf_alone, ~(n_leaves + np.arange(len(alone)))], axis=1)
    children = np.concatenate([trees.children.reshape(-1, 2), twins]).astype(np.int64)
    is_leaf = children < 0
    places = np.where(is_leaf, ~children, children)
    zeros = np.zeros(len(alone), dtype=np.int64)
    return graph(
        "TreeEnsemble",
        table,
        n_targets=k,
        aggregate_function=1,
        post_transform=0,
        tree_roots=roots.tolist(),
        nodes_featureids=np.concatenate([column, zeros]).tolist(),
        nodes_splits=np.concatenate([threshold, zeros]),
        nodes_modes=np.zeros(len(children), np.uint8),
        nodes_truenodeids=places[:, 0].tolist(),
        nodes_trueleafs=is_leaf[:, 0].astype(int).tolist(),
        nodes_falsenodeids=places[:, 1].tolist(),
        nodes_falseleafs=is_leaf[:, 1].astype(int).tolist(),
        nodes_missing_value_tracks_true=np.concatenate(
            [(trees.kind & MISSING_LEFT > 0).astype(int), zeros]
        ).tolist(),
        leaf_targetids=np.concatenate([target, target[leaf_alone]]).tolist(),
        leaf_weights=np.concatenate([values, values[leaf_alone]]),
    )


def _questions(graph: _Graph, trees: Trees) -> tuple[str, Ints, Floats]:
    """The table that splits look at: features and columns made of them; column and threshold."""
    column, threshold = trees.feature.astype(np.int64), trees.threshold.copy()
    parts, width = ["features"], graph.n_features
    is_zero = (trees.kind & ZERO_MISSING) > 0
    if is_zero.any():
        wanted, place = np.unique(column[is_zero], return_inverse=True)
        column[is_zero] = width + place
        X = graph.columns("features", wanted)
        parts.append(graph("Where", graph("LessOrEqual", graph("Abs", X), ZERO), np.nan, X))
        width += len(wanted)
    nodes: Ints = np.flatnonzero(trees.kind & CATEGORY)
    threshold[nodes] = 0.5
    for feature in np.unique(trees.feature[nodes]).tolist():
        mine = nodes[trees.feature[nodes] == feature]
        sets: dict[bytes, int] = {}
        for node in mine.tolist():
            first = int(trees.threshold[node])
            words = trees.categories[first : first + int(trees.words[node])]
            column[node] = width + sets.setdefault(words.astype("<u4").tobytes(), len(sets))
        parts.append(_sides(graph, feature, list(sets)))
        width += len(sets)
    return graph.joined(parts), column, threshold


def _sides(graph: _Graph, feature: int, sets: list[bytes]) -> str:
    """For every set of categories of a feature a column: 0 goes left, 1 goes right."""
    # A category is looked up once, in a table with a column per set; others are in its last row.
    size = 8 * max(map(len, sets))
    table = np.ones((size + 1, len(sets)), dtype=np.uint8)
    for j, words in enumerate(sets):
        table[: 8 * len(words), j] -= np.unpackbits(
            np.frombuffer(words, np.uint8), bitorder="little"
        )
    x = graph.columns("features", [feature])
    # Codes are cut towards zero, so -0.5 is category 0.
    inside = graph("And", graph("Greater", x, -1.0), graph("Less", x, float(size)))
    code = graph.squeezed(graph.cast(graph("Where", inside, x, float(size)), "INT64"))
    sides = graph("Gather", graph.constant(table, np.uint8), code, axis=0)
    return graph("Where", graph("IsNaN", x), np.nan, graph.cast(sides, "DOUBLE"))


def _network(graph: _Graph, model: NetworkModel) -> str:
    """Scores of a network, (n, n_scores)."""
    units = graph("MatMul", _inputs(graph, model.design), model.slopes.T)
    hidden = graph("Relu", graph("Add", units, model.shifts))
    return graph("Add", graph("MatMul", hidden, model.tops.T), model.base)


def _inputs(graph: _Graph, design: Design) -> str:
    """The inputs that a design makes of the features, (n, p)."""
    parts = []
    if len(design.numeric):
        values = graph.columns("features", design.numeric)
        filled = graph("Where", graph("IsNaN", values), design.medians, values)
        ranged = graph("Div", graph("Sub", filled, design.means), design.scales)
        parts.append(graph("Clip", ranged, -MOST, MOST))
    if len(design.gaps):
        values = graph.columns("features", design.gaps)
        gone = graph("Or", graph("IsNaN", values), graph("IsInf", values))
        parts.append(graph.cast(gone, "DOUBLE"))
    for column, size in zip(design.categorical, design.sizes, strict=True):
        if size:
            codes = graph.columns("features", [column])
            parts.append(graph.cast(graph("Equal", codes, np.arange(size)), "DOUBLE"))
    return graph.joined(parts) if parts else graph.columns("features", [])


# -- decisions ----------------------------------------------------------------------------------


def _of_heads(graph: _Graph, model: Any, costs: bool) -> dict[str, str]:
    """Outputs of a `CostBoostClassifier`."""
    head, *prices = model.heads_.values()
    scores = _head_scores(graph, head)
    if isinstance(head, ProbabilityHead):
        proba = _probabilities(graph, scores, len(model.classes_))
        expected = "" if costs or not prices else _expected_matrices(graph, prices, model)
        return _cheapest(graph, proba, model, expected or "costs")
    if costs or not head.loss.carries_costs or model._decides_by_costs():
        raise ValueError(
            f"to_onnx writes the decisions of {type(model).__name__}(loss={model.loss!r}) by the "
            "scores of its boosters alone. Leave costs out, or fit with loss='auto'."
        )
    return {"decision": _largest(graph, scores, head.loss.n_scores(len(model.decisions_)))}


def _head_scores(graph: _Graph, head: Any) -> str:
    """Scores of the models of a head, averaged, (n, n_scores)."""
    scores = graph.total(
        graph("Mul", weight, _network(graph, part) if isinstance(part, NetworkModel)
              else _scores(graph, part.trees))
        for part, weight in zip(head.models, head.weights, strict=True)
    )  # fmt: skip
    return scores if head.temperature == 1.0 else graph("Mul", scores, head.temperature)


def _expected_matrices(graph: _Graph, prices: list[Any], model: Any) -> str:
    """The cost matrices that are expected of rows, (n, k, d)."""
    found = []
    for head in prices:
        scale = (head.factors[:, None] * head.slopes).reshape(1, -1)
        found.append(graph("Mul", graph("Exp", _head_scores(graph, head)), scale))
    is_priced = varies(model.cost_matrix)
    base = sum(head.base for head in prices) + (0.0 if is_priced else model.cost_matrix_)
    cells = graph("Add", graph.total(found), base.reshape(1, -1))
    shape = graph.constant([-1, *base.shape], np.int64)
    matrices = graph("Reshape", cells, shape)
    return graph("Add", "costs", matrices) if is_priced else matrices


def _of_two(graph: _Graph, model: Any, costs: bool) -> dict[str, str]:
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
    odds = graph("Add", graph("Mul", scores, float(high - low)), float(low))
    positive = _sigmoid(graph, odds)
    proba = graph.joined([graph("Sub", 1.0, positive), positive])
    if costs or model._decides_by_costs():
        return _cheapest(graph, proba, model)
    return {"probabilities": proba, "decision": _largest(graph, scores, 1)}


def _probabilities(graph: _Graph, scores: str, k: int) -> str:
    """Probabilities of the classes, (n, k)."""
    if k > 2:
        return graph("Softmax", scores, axis=1)
    return graph.joined([_sigmoid(graph, graph("Neg", scores)), _sigmoid(graph, scores)])


def _sigmoid(graph: _Graph, scores: str) -> str:
    return graph("Div", 1.0, graph("Add", 1.0, graph("Exp", graph("Neg", scores))))


def _largest(graph: _Graph, scores: str, width: int) -> str:
    """Codes by the scores alone: the sign of a single one, or the first of the largest."""
    if width > 1:
        return graph("ArgMax", scores, axis=1, keepdims=0)
    return graph.squeezed(graph.cast(graph("GreaterOrEqual", scores, 0.0), "INT64"))


def _cheapest(graph: _Graph, proba: str, model: Any, costs: str = "costs") -> dict[str, str]:
    """Outputs with expected costs, and the cheapest decisions; ties as in `Costs.decide`."""
    k = len(model.classes_)
    rows = [graph("Gather", costs, graph.constant(j, np.int64), axis=1) for j in range(k)]
    parts = [graph.columns(proba, [j]) for j in range(k)]
    axis = graph.constant([1], np.int64)
    least = [graph("ReduceMin", C, axis, keepdims=1) for C in rows]
    above = graph.total(
        graph("Mul", p, graph("Sub", C, low)) for p, C, low in zip(parts, rows, least, strict=True)
    )
    lowest = graph.total(graph("Mul", p, low) for p, low in zip(parts, least, strict=True))
    expected = graph("Add", above, lowest)
    # Of two that tie the second is taken, of more the first.
    last = int(len(model.decisions_) == 2)
    winner = graph("ArgMin", expected, axis=1, keepdims=0, select_last_index=last)
    if any("costs" in node.output for node in graph.nodes):
        winner = _refused(graph, winner, len(model.decisions_))
    return {"probabilities": proba, "expected_costs": expected, "decision": winner}
