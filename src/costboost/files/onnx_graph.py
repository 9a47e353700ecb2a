"""An ONNX graph from boosters: scores, probabilities, expected costs, the cheapest decision."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats
from costboost.files import boosters as engines
from costboost.files.onnx_trees import ZERO, CategorySet, Forest, from_lightgbm, from_xgboost

__all__ = ["boosters_to_onnx"]

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


class _Graph:
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


def boosters_to_onnx(
    boosters: Sequence[Any],
    *,
    classes: ArrayLike,
    decisions: ArrayLike | None = None,
    cost_matrix: ArrayLike | None = None,
    average: Literal["scores", "probabilities"] = "scores",
    slope: float = 1.0,
    intercept: float = 0.0,
    rule: Literal["cheapest", "score"] = "cheapest",
    probabilities: bool = True,
    complement: bool = False,
    costs: bool = False,
    exact: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> Any:
    """The ONNX model of some boosters.

    Inputs of the graph are ``features``, (n, d) double, NaN where a value is missing and codes in
    categorical columns, and, if ``costs`` is true, ``costs``, (n, k, decisions) double: the
    rows' own cost matrices, in place of ``cost_matrix``. Outputs are ``probabilities``,
    ``expected_costs`` and ``decision``, the label.

    Parameters
    ----------
    boosters : sequence of lightgbm.Booster or xgboost.Booster
        Boosters of the same classes, with one score for two classes, else one per class.
    classes : array of shape (k,)
        Labels of the classes.
    decisions : array, optional
        Labels of the decisions; by default the classes.
    cost_matrix : array of shape (k, number of decisions), optional
        What each decision costs; by default every mistake costs 1.
    average : {"scores", "probabilities"}, default="scores"
        What of several boosters is averaged.
    slope, intercept : float
        Probabilities are those of the scores ``slope * score + intercept``.
    rule : {"cheapest", "score"}, default="cheapest"
        Whether the smallest expected cost decides or the score itself.
    probabilities : bool, default=True
        Whether the scores mean probabilities; only ``rule="score"`` works without.
    complement : bool, default=False
        Whether the first of two probabilities is 1 minus the second, instead of the sigmoid of
        minus the score; they differ by rounding.
    costs : bool, default=False
        Whether the rows' own costs are an input of the graph.
    exact : bool, default=False
        Sums of trees do not depend on the number of threads; needs a number per row and tree.
    metadata : mapping, optional
        What to write into the model's properties.

    Returns
    -------
    onnx.ModelProto
        The model.
    """
    if costs and rule == "score":
        raise ValueError("A score that decides alone cannot use costs: leave them out.")
    labels, chosen = np.asarray(classes), np.asarray(classes if decisions is None else decisions)
    k, d = len(labels), len(chosen)
    C = 1.0 - np.eye(k) if cost_matrix is None else np.asarray(cost_matrix, dtype=np.float64)
    if C.shape != (k, d):
        raise ValueError(f"cost_matrix must have the shape ({k}, {d}), got {C.shape}.")
    graph = _Graph()
    forests = [_forest(booster) for booster in boosters]
    for forest in forests:
        if forest.n_targets != (1 if k == 2 else k):
            raise ValueError(f"A booster has {forest.n_targets} scores for {k} classes.")
    scores = [_scores(graph, forest, exact) for forest in forests]
    outputs = []
    proba = mean = ""
    if probabilities:
        scaled = [_scaled(graph, score, slope, intercept) for score in scores]
        if average == "scores":
            mean = _mean(graph, scores)
            proba = _proba(graph, _scaled(graph, mean, slope, intercept), k, complement)
        else:
            proba = _mean(graph, [_proba(graph, score, k, complement) for score in scaled])
            if len(scores) > 1:
                proba = _clipped(graph, proba, k)
        outputs.append(_named(graph, proba, "probabilities"))
    if rule == "score":
        taken = _largest(graph, mean or _mean(graph, scores), k)
    else:
        expected, taken = _cheapest(graph, proba, k, d)
        outputs.append(_named(graph, expected, "expected_costs"))
    decision = graph("Gather", _labels(graph, chosen), taken, output="decision", axis=0)
    outputs.append(decision)
    shapes = {"probabilities": k, "expected_costs": d, "decision": None}
    return _model(graph, forests[0].n_features, outputs, shapes, chosen, C, costs, metadata)


def _forest(booster: Any) -> Forest:
    engine = engines.engine_of(booster)
    if engine is None:
        raise ValueError(f"A booster of LightGBM or XGBoost is needed, got {type(booster)}.")
    if engine == "lightgbm":
        text = booster.model_to_string()  # up to the best round, as predict does
        return from_lightgbm(engines.check(engine, text.encode("utf-8"), "The booster"))
    model = engines.check(engine, bytes(booster.save_raw("ubj")), "The booster")
    return from_xgboost(model, _margins(model.base_score, model.objective))


def _margins(base_score: Floats, objective: str) -> Floats:
    """Scores before the first tree, in single precision like XGBoost's."""
    base = base_score.astype(np.float32)
    if objective.startswith(("binary:logistic", "reg:logistic")):
        odds = np.float32(1.0) / base - np.float32(1.0)
        return np.asarray(-np.log(odds.astype(np.float64)).astype(np.float32))
    return np.asarray(base)


# -- parts of the graph -------------------------------------------------------------------------


def _scores(graph: _Graph, forest: Forest, exact: bool) -> str:
    """Scores of one booster in double precision: (n, 1) or (n, k)."""
    X = "features"
    if forest.flushes:
        X = _where_zero(graph, X, 0.0)
    columns = [X]
    if forest.zero_missing:
        wanted = graph("Gather", X, graph.constant(forest.zero_missing, np.int64), axis=1)
        columns.append(_where_zero(graph, wanted, np.nan))
    is_single = forest.dtype is np.float32
    sets = _set_columns(graph, forest.ordered_sets(), is_single)
    columns += sets
    table = graph("Concat", *columns, axis=1) if len(columns) > 1 else X
    if is_single:
        table = graph("Cast", table, to=graph.onnx.TensorProto.FLOAT)
    if not exact:
        scores = graph("TreeEnsemble", table, **forest.attributes())
    else:
        scores = _sums_in_order(graph, forest, table)
    if is_single:
        scores = graph("Cast", scores, to=graph.onnx.TensorProto.DOUBLE)
    return scores


def _where_zero(graph: _Graph, X: str, value: float) -> str:
    """X with another value in place of what LightGBM takes for zero."""
    is_zero = graph("LessOrEqual", graph("Abs", X), graph.constant(ZERO))
    return graph("Where", is_zero, graph.constant(value), X)


def _sums_in_order(graph: _Graph, forest: Forest, table: str) -> str:
    """The sum over trees from the first to the last, whatever the number of threads."""
    each = graph("TreeEnsemble", table, **forest.attributes(by_tree=True))
    sums = []
    for target in range(forest.n_targets):
        mine = [t for t, other in enumerate(forest.targets) if other == target]
        part = graph("Gather", each, graph.constant(mine, np.int64), axis=1)
        running = graph("CumSum", part, graph.constant(1, np.int64))
        sums.append(graph.column(running, len(mine) - 1))
    return graph("Concat", *sums, axis=1) if len(sums) > 1 else sums[0]


def _set_columns(graph: _Graph, sets: list[CategorySet], is_single: bool) -> list[str]:
    """For every set of categories a column: 0 goes left, 1 goes right, NaN is missing.

    A category is looked up once per feature, in a table with a column per set.
    """
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


def _mean(graph: _Graph, items: list[str]) -> str:
    if len(items) == 1:
        return items[0]
    return graph("Div", graph.total(items), graph.constant(float(len(items))))


def _scaled(graph: _Graph, scores: str, slope: float, intercept: float) -> str:
    if slope != 1.0:
        scores = graph("Mul", scores, graph.constant(float(slope)))
    return graph("Add", scores, graph.constant(float(intercept))) if intercept else scores


def _proba(graph: _Graph, scores: str, k: int, complement: bool) -> str:
    """Probabilities of the classes, (n, k)."""
    if k > 2:
        return graph("Softmax", scores, axis=1)
    positive = _sigmoid(graph, scores)
    if complement:
        negative = graph("Sub", graph.constant(1.0), positive)
    else:
        negative = _sigmoid(graph, graph("Neg", scores))
    return graph("Concat", negative, positive, axis=1)


def _sigmoid(graph: _Graph, scores: str) -> str:
    one = graph.constant(1.0)
    return graph("Div", one, graph("Add", one, graph("Exp", graph("Neg", scores))))


def _clipped(graph: _Graph, proba: str, k: int) -> str:
    """Averaged probabilities, away from 0 and 1, with the sum 1."""
    tiny = 1e-15
    safe = graph("Clip", proba, graph.constant(tiny), graph.constant(1.0 - tiny))
    if k == 2:
        positive = graph.column(safe, 1)
        return graph("Concat", graph("Sub", graph.constant(1.0), positive), positive, axis=1)
    axes = graph.constant([1], np.int64)
    return graph("Div", safe, graph("ReduceSum", safe, axes, keepdims=1))


def _largest(graph: _Graph, scores: str, k: int) -> str:
    """Codes by the scores alone: the sign, or the first of the largest."""
    if k > 2:
        return graph("ArgMax", scores, axis=1, keepdims=0)
    is_positive = graph("GreaterOrEqual", scores, graph.constant(0.0))
    codes = graph("Cast", is_positive, to=graph.onnx.TensorProto.INT64)
    return graph("Squeeze", codes, graph.constant([1], np.int64))


def _cheapest(graph: _Graph, proba: str, k: int, d: int) -> tuple[str, str]:
    """Expected costs, and the codes of the cheapest decisions."""
    rows = [graph("Gather", "costs", graph.constant(j, np.int64), axis=1) for j in range(k)]
    shares = [graph.column(proba, j) for j in range(k)]
    parts = [graph("Mul", p, C) for p, C in zip(shares, rows, strict=True)]
    expected = graph.total(parts)
    if k == d == 2:
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


def _labels(graph: _Graph, labels: AnyArray) -> str:
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


def _named(graph: _Graph, name: str, output: str) -> str:
    return graph("Identity", name, output=output)


def _model(
    graph: _Graph,
    n_features: int,
    outputs: list[str],
    shapes: Mapping[str, int | None],
    labels: AnyArray,
    C: Floats,
    costs: bool,
    metadata: Mapping[str, Any] | None,
) -> Any:
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
