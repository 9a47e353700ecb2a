"""The parts that ONNX graphs of classifiers are made of: scores, probabilities, decisions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.files.onnx_trees import CategorySet, Forest
from costboost.gbm.engines.trees import ZERO
from costboost.gbm.models import MOST, Design, NetworkModel

__all__ = [
    "Graph",
    "assembled",
    "cheapest",
    "label_constant",
    "largest",
    "named",
    "network_scores",
    "outputs_of",
    "probabilities_of",
    "scaled",
    "scores_of",
    "table_of",
    "weighted",
]

OPSETS = {"": 18, "ai.onnx.ml": 5}
# The newest that the oldest runtime with version 5 of the tree operator reads.
IR_VERSION = 10


def _onnx() -> Any:
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(
            "to_onnx needs onnx. Install it with: pip install 'costboost[onnx]'"
        ) from error
    return onnx


class Graph:
    """Nodes and constants, with names made up on the way."""

    def __init__(self) -> None:
        self.onnx = _onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[tuple[Any, ...], str] = {}

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """The name of a constant."""
        array = np.asarray(value, dtype=dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = f"c{len(self._known)}"
            self.constants.append(self.onnx.numpy_helper.from_array(array, self._known[key]))
        return self._known[key]

    def __call__(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node; returns the name of its output."""
        name = output or f"v{len(self.nodes)}"
        domain = "ai.onnx.ml" if operator == "TreeEnsemble" else ""
        attributes = {
            key: self.onnx.numpy_helper.from_array(value)
            if isinstance(value, np.ndarray)
            else value
            for key, value in attributes.items()
        }
        node = self.onnx.helper.make_node(operator, inputs, [name], domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def column(self, matrix: str, j: int) -> str:
        """Column j of a matrix, (n, 1)."""
        return self("Gather", matrix, self.constant([j], np.int64), axis=1)

    def total(self, items: list[str]) -> str:
        """A sum, from left to right."""
        total = items[0]
        for item in items[1:]:
            total = self("Add", total, item)
        return total


def table_of(graph: Graph, forest: Forest) -> str:
    """The table that the splits of a forest look at: features, and columns made from them."""
    X = "features"
    single, double = graph.onnx.TensorProto.FLOAT, graph.onnx.TensorProto.DOUBLE
    if forest.rounds_inputs:
        X = graph("Cast", graph("Cast", X, to=single), to=double)
    if forest.flushes:
        X = _where_zero(graph, X, 0.0)
    columns = [X]
    if forest.zero_missing:
        wanted = graph("Gather", X, graph.constant(forest.zero_missing, np.int64), axis=1)
        columns.append(_where_zero(graph, wanted, np.nan))
    is_single = forest.dtype is np.float32
    columns += _set_columns(graph, forest.ordered_sets(), is_single)
    table = graph("Concat", *columns, axis=1) if len(columns) > 1 else X
    return graph("Cast", table, to=single) if is_single else table


def scores_of(graph: Graph, forest: Forest, exact: bool) -> str:
    """Scores of one booster in double precision: (n, 1) or (n, k)."""
    table = table_of(graph, forest)
    if not exact:
        scores = graph("TreeEnsemble", table, **forest.attributes())
    else:
        scores = _sums_in_order(graph, forest, table)
    if forest.dtype is np.float32:
        scores = graph("Cast", scores, to=graph.onnx.TensorProto.DOUBLE)
    return scores


def outputs_of(graph: Graph, forest: Forest) -> str:
    """The output of every tree of a forest in double precision, (n, trees)."""
    return graph("TreeEnsemble", table_of(graph, forest), **forest.attributes(by_tree=True))


def _where_zero(graph: Graph, X: str, value: float) -> str:
    """X with another value in place of what LightGBM takes for zero."""
    is_zero = graph("LessOrEqual", graph("Abs", X), graph.constant(ZERO))
    return graph("Where", is_zero, graph.constant(value), X)


def _sums_in_order(graph: Graph, forest: Forest, table: str) -> str:
    """The sum over trees from the first to the last, whatever the number of threads."""
    each = graph("TreeEnsemble", table, **forest.attributes(by_tree=True))
    sums = []
    for target in range(forest.n_targets):
        mine = [t for t, other in enumerate(forest.targets) if other == target]
        part = graph("Gather", each, graph.constant(mine, np.int64), axis=1)
        running = graph("CumSum", part, graph.constant(1, np.int64))
        sums.append(graph.column(running, len(mine) - 1))
    return graph("Concat", *sums, axis=1) if len(sums) > 1 else sums[0]


def _set_columns(graph: Graph, sets: list[CategorySet], is_single: bool) -> list[str]:
    """For every set of categories a column: 0 goes left, 1 goes right, NaN is missing."""
    # A category is looked up once per feature, in a table with a column per set.
    columns = []
    for feature, group in groupby(sets, key=lambda item: item.feature):
        mine = list(group)
        goes_left = mine[0].goes_left
        x = graph.column("features", feature)
        if is_single:
            to = graph.onnx.TensorProto
            x = graph("Cast", graph("Cast", x, to=to.FLOAT), to=to.DOUBLE)
        size = max(max(item.members, default=0) for item in mine) + 1
        # LightGBM cuts towards zero, so -0.5 is category 0; to XGBoost it is none.
        low = graph.constant(-1.0 if goes_left else 0.0)
        above = graph("Greater" if goes_left else "GreaterOrEqual", x, low)
        inside = graph("And", above, graph("Less", x, graph.constant(float(size))))
        code = graph("Where", inside, x, graph.constant(float(size)))
        rows = graph("Cast", code, to=graph.onnx.TensorProto.INT64)
        table = np.full((size + 1, len(mine)), goes_left, dtype=np.uint8)
        for j, item in enumerate(mine):
            table[list(item.members), j] = not goes_left
        flat = graph("Squeeze", rows, graph.constant([1], np.int64))
        sides = graph("Gather", graph.constant(table, np.uint8), flat, axis=0)
        side = graph("Cast", sides, to=graph.onnx.TensorProto.DOUBLE)
        if not goes_left:  # XGBoost sends missing categories where it has learned to
            side = graph("Where", graph("IsNaN", x), graph.constant(np.nan), side)
        columns.append(side)
    return columns


def weighted(graph: Graph, items: list[str], weights: Sequence[float]) -> str:
    """The sum of some results, each times its weight, from left to right."""
    parts = [
        item if weight == 1.0 else graph("Mul", graph.constant(float(weight)), item)
        for item, weight in zip(items, weights, strict=True)
    ]
    return graph.total(parts)


def network_scores(graph: Graph, model: NetworkModel) -> str:
    """Scores of a network: (n, 1) or (n, k)."""
    units = graph("MatMul", inputs_of(graph, model.design), graph.constant(model.slopes.T))
    values = graph("Relu", graph("Add", units, graph.constant(model.shifts)))
    found = graph("MatMul", values, graph.constant(model.tops.T))
    return graph("Add", found, graph.constant(model.base))


def inputs_of(graph: Graph, design: Design) -> str:
    """The inputs that a design makes of the features, (n, p)."""
    double = graph.onnx.TensorProto.DOUBLE

    def columns(which: Any) -> str:
        return graph("Gather", "features", graph.constant(which, np.int64), axis=1)

    parts = []
    if len(design.numeric):
        values = columns(design.numeric)
        filled = graph("Where", graph("IsNaN", values), graph.constant(design.medians), values)
        moved = graph("Sub", filled, graph.constant(design.means))
        ranged = graph("Div", moved, graph.constant(design.scales))
        parts.append(graph("Clip", ranged, graph.constant(-MOST), graph.constant(MOST)))
    if len(design.gaps):
        values = columns(design.gaps)
        gone = graph("Or", graph("IsNaN", values), graph("IsInf", values))
        parts.append(graph("Cast", gone, to=double))
    for column, size in zip(design.categorical, design.sizes, strict=True):
        if size:
            same = graph("Equal", columns([column]), graph.constant(np.arange(size)))
            parts.append(graph("Cast", same, to=double))
    if not parts:
        return columns([])
    return graph("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]


def scaled(graph: Graph, scores: str, slope: float, intercept: float) -> str:
    """Scores on a straight line."""
    if slope != 1.0:
        scores = graph("Mul", scores, graph.constant(float(slope)))
    return graph("Add", scores, graph.constant(float(intercept))) if intercept else scores


def probabilities_of(graph: Graph, scores: str, k: int, complement: bool) -> str:
    """Probabilities of the classes, (n, k)."""
    if k > 2:
        return graph("Softmax", scores, axis=1)
    positive = _sigmoid(graph, scores)
    if complement:
        negative = graph("Sub", graph.constant(1.0), positive)
    else:
        negative = _sigmoid(graph, graph("Neg", scores))
    return graph("Concat", negative, positive, axis=1)


def _sigmoid(graph: Graph, scores: str) -> str:
    one = graph.constant(1.0)
    return graph("Div", one, graph("Add", one, graph("Exp", graph("Neg", scores))))


def largest(graph: Graph, scores: str, k: int) -> str:
    """Codes by the scores alone: the sign, or the first of the largest."""
    if k > 2:
        return graph("ArgMax", scores, axis=1, keepdims=0)
    is_positive = graph("GreaterOrEqual", scores, graph.constant(0.0))
    codes = graph("Cast", is_positive, to=graph.onnx.TensorProto.INT64)
    return graph("Squeeze", codes, graph.constant([1], np.int64))


def cheapest(graph: Graph, proba: str, k: int, *, of_classes: bool) -> tuple[str, str]:
    """Expected costs, and the codes of the cheapest decisions; ties as in `Costs.decide`."""
    rows = [graph("Gather", "costs", graph.constant(j, np.int64), axis=1) for j in range(k)]
    shares = [graph.column(proba, j) for j in range(k)]
    parts = [graph("Mul", p, C) for p, C in zip(shares, rows, strict=True)]
    expected = graph.total(parts)
    if k == 2 and of_classes:
        # P(+) C1 >= P(-) C2 with C1, C2 the net prices of the two errors.
        cells = [[graph.column(row, j) for j in range(2)] for row in rows]
        C1 = graph("Sub", cells[1][0], cells[1][1])
        C2 = graph("Sub", cells[0][1], cells[0][0])
        wins = graph("GreaterOrEqual", graph("Mul", shares[1], C1), graph("Mul", shares[0], C2))
        codes = graph("Cast", wins, to=graph.onnx.TensorProto.INT64)
        return expected, graph("Squeeze", codes, graph.constant([1], np.int64))
    axes = graph.constant([1], np.int64)
    reduced = [
        graph("Mul", p, graph("Sub", C, graph("ReduceMin", C, axes, keepdims=1)))
        for p, C in zip(shares, rows, strict=True)
    ]
    return expected, graph("ArgMin", graph.total(reduced), axis=1, keepdims=0)


def label_constant(graph: Graph, labels: AnyArray) -> str:
    """The labels as a constant: text, integers, floats or booleans."""
    if labels.dtype.kind in "OU":
        text = np.array([str(label) for label in labels], dtype=object)
        tensor = graph.onnx.helper.make_tensor(
            "labels", graph.onnx.TensorProto.STRING, [len(text)], [t.encode() for t in text]
        )
        graph.constants.append(tensor)
        return "labels"
    kinds = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}
    return graph.constant(labels, kinds[labels.dtype.kind])


def named(graph: Graph, name: str, output: str) -> str:
    """A result under the name of an output."""
    return graph("Identity", name, output=output)


def assembled(
    graph: Graph,
    n_features: int,
    outputs: list[str],
    shapes: Mapping[str, int | None],
    labels: AnyArray,
    C: Floats,
    costs: bool,
    metadata: Mapping[str, Any] | None,
) -> Any:
    """The model: inputs and outputs declared, and checked by onnx."""
    helper, tensor = graph.onnx.helper, graph.onnx.TensorProto
    kinds = {"O": tensor.STRING, "U": tensor.STRING, "f": tensor.DOUBLE, "b": tensor.BOOL}
    label_type = kinds.get(labels.dtype.kind, tensor.INT64)
    info = helper.make_tensor_value_info
    inputs = [info("features", tensor.DOUBLE, ["n", n_features])]
    if costs:
        inputs.append(info("costs", tensor.DOUBLE, ["n", *C.shape]))
    elif "expected_costs" in outputs:
        graph.constants.append(graph.onnx.numpy_helper.from_array(C[None], "costs"))
    found = [
        info(
            name,
            label_type if name == "decision" else tensor.DOUBLE,
            ["n"] if shapes[name] is None else ["n", shapes[name]],
        )
        for name in outputs
    ]
    made = helper.make_graph(graph.nodes, "costboost", inputs, found, graph.constants)
    imports = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    model = helper.make_model(
        made, opset_imports=imports, ir_version=IR_VERSION, producer_name="costboost"
    )
    helper.set_model_props(
        model, {key: json.dumps(value, sort_keys=True) for key, value in (metadata or {}).items()}
    )
    graph.onnx.checker.check_model(model)
    return model
