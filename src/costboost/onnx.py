"""Probabilities of a `CostBoostClassifier` as an ONNX graph.

The table of trees compares ``x <= t`` in double precision, and so does a ``TreeEnsemble`` of the
ONNX domain for machine learning, version 5, which sends NaN where it is told. It knows no sets of
categories: each becomes a column of its input, 0 where the split goes left and 1 where it goes
right. Sums are taken tree by tree in double, so with one thread scores of trees are the model's own
to the last bit.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costboost._utils import write_bytes
from costboost.columns import Columns, need
from costboost.gbm.models import ModelEnsemble, ProbabilityModel, TreeModel
from costboost.gbm.network import MOST, NetworkModel
from costboost.trees import CATEGORY, MISSING_LEFT, ZERO_MISSING, Trees

OPSET = 18
ML_OPSET = 5
ML_OPERATORS = ("LabelEncoder", "TreeEnsemble")
# The newest that the oldest runtime with version 5 of the tree operator reads.
IR_VERSION = 10
OUTPUTS = ("probabilities", "expected_costs")


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Write the probabilities of a fitted `CostBoostClassifier` as an ONNX model.

    The graph answers ``probabilities``, (n, classes), and, if all rows have one cost matrix,
    ``expected_costs``, (n, decisions). Fitted on a frame, it takes an input of shape (n, 1) for
    each column that the model uses, under the name of the column: numbers and booleans as doubles,
    NaN is a missing value; categories as texts, others than those of the fit are missing. Parts of
    dates are inputs of their own (``when_month``). Fitted on an array, it takes ``features``,
    (n, d) double.

    Parameters
    ----------
    model : CostBoostClassifier
        A fitted classifier with ``loss="auto"``.
    path : str or path, optional
        The file to write; without it the model is only returned.

    Returns
    -------
    onnx.ModelProto
        The model. Its properties ``classes``, ``decisions`` and ``cost_matrix`` are JSON.
    """
    check_is_fitted(model)
    head = getattr(model, "model_", None)
    if not isinstance(head, ProbabilityModel):
        raise ValueError(
            "to_onnx takes CostBoostClassifier(loss='auto'), which has probabilities by trees and "
            f"networks, got {type(model).__name__}. Use model.save."
        )
    graph = Graph()
    features = add_features(graph, model.columns_)
    scores = add_ensemble(graph, features, head.ensemble)
    scores = graph.add("Mul", scores, graph.constant(head.temperature))
    if len(model.classes_) == 2:
        # The odds of the second class; a score of zero stands for the first.
        zeros = graph.add("Mul", scores, graph.constant(0.0))
        scores = graph.add("Concat", zeros, scores, axis=1)
    proba = graph.add("Softmax", scores, output="probabilities", axis=1)
    widths = {"probabilities": len(model.classes_)}
    properties = {"classes": labels_as_text(model.classes_)}
    if model.cost_model_ is None and not model.cost_spec_.is_per_row:
        matrix = np.asarray(model.cost_matrix_, dtype=np.float64)
        graph.add("MatMul", proba, graph.constant(matrix), output="expected_costs")
        widths["expected_costs"] = matrix.shape[1]
        properties["decisions"] = labels_as_text(model.decisions_)
        properties["cost_matrix"] = matrix.tolist()
    made = graph.model(widths, properties)
    if path is not None:
        write_bytes(Path(path), made.SerializeToString(deterministic=True))
    return made


def labels_as_text(labels: np.ndarray) -> list[str]:
    """Return labels as texts, for JSON."""
    return [str(label) for label in labels]


# --- graphs ---------------------------------------------------------------------------------------


class Graph:
    """Nodes and constants of a graph; values are known by their names."""

    def __init__(self) -> None:
        need("onnx", "onnx", "to_onnx")
        import onnx
        import onnx.helper
        import onnx.numpy_helper

        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def input(self, name: str, width: int = 1, kind: str = "DOUBLE") -> str:
        """Add an input of the graph."""
        if name in OUTPUTS or name.startswith("/"):
            raise ValueError(
                f"The column {name!r} has a name that graphs use for something else "
                f"({', '.join(OUTPUTS)}, or names that begin with '/'). Rename it and fit again."
            )
        tensor_type = getattr(self.onnx.TensorProto, kind)
        info = self.onnx.helper.make_tensor_value_info(name, tensor_type, ["n", width])
        self.inputs.append(info)
        return name

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant: doubles, unless it is said otherwise."""
        name = f"/c{len(self.constants)}"
        array = np.asarray(value, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        name = output or f"/v{len(self.nodes)}"
        for key, value in attributes.items():
            if isinstance(value, np.ndarray):
                attributes[key] = self.onnx.numpy_helper.from_array(value)
        domain = ""
        if operator in ML_OPERATORS:
            domain = "ai.onnx.ml"
        make_node = self.onnx.helper.make_node
        self.nodes.append(make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def columns(self, matrix: str, positions: Any) -> str:
        """Add some columns of a matrix."""
        return self.add("Gather", matrix, self.constant(positions, np.int64), axis=1)

    def cast(self, value: str, kind: str) -> str:
        """Add a value in another type."""
        return self.add("Cast", value, to=getattr(self.onnx.TensorProto, kind))

    def model(self, widths: dict[str, int], properties: dict[str, Any]) -> Any:
        """Return the model: outputs of these widths declared, and checked by onnx."""
        helper = self.onnx.helper
        double = self.onnx.TensorProto.DOUBLE
        outputs = [
            helper.make_tensor_value_info(name, double, ["n", width])
            for name, width in widths.items()
        ]
        graph = helper.make_graph(self.nodes, "costboost", self.inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="costboost"
        )
        texts = {name: json.dumps(value) for name, value in properties.items()}
        helper.set_model_props(model, texts)
        self.onnx.checker.check_model(model)
        return model


def add_features(graph: Graph, columns: Columns) -> str:
    """Add the table that models see: inputs side by side, categories as codes."""
    if not columns.columns:
        return graph.input("features", columns.n_inputs)
    parts = []
    for column in columns.used:
        if column.kind == "category":
            texts = np.array(column.categories, dtype=object)
            codes = graph.add(
                "LabelEncoder",
                graph.input(column.inputs[0], kind="STRING"),
                keys_tensor=texts,
                values_tensor=np.arange(len(texts), dtype=np.float64),
                default_tensor=np.array([np.nan]),
            )
            parts.append(codes)
        else:
            parts.extend(graph.input(name) for name in column.inputs)
    return graph.add("Concat", *parts, axis=1)


# --- trees and networks ---------------------------------------------------------------------------


def add_ensemble(graph: Graph, features: str, ensemble: ModelEnsemble) -> str:
    """Add the scores of models, averaged by their weights, (n, n_scores)."""
    parts = []
    for part, weight in zip(ensemble.models, ensemble.weights, strict=True):
        if isinstance(part, TreeModel):
            scores = add_trees(graph, features, part.trees, part.n_features)
        else:
            scores = add_network(graph, features, part)
        parts.append(graph.add("Mul", scores, graph.constant(weight)))
    # In the order in which the classifier adds.
    total = parts[0]
    for scores in parts[1:]:
        total = graph.add("Add", total, scores)
    return total


def add_trees(graph: Graph, features: str, trees: Trees, n_features: int) -> str:
    """Add the scores of a table of trees, (n, n_scores)."""
    if (trees.kind & ZERO_MISSING).any():
        raise ValueError("to_onnx knows no trees that take zeros for missing (zero_as_missing).")
    k = trees.n_scores
    owner = np.repeat(np.arange(len(trees.roots)), trees.sizes + 1)
    target = owner % k  # tree t adds to score t % k
    # The base is carried by the first tree of each score.
    values = trees.values.copy()
    is_first = owner < k
    values[is_first] += trees.base[owner[is_first]]
    table, column, threshold = add_questions(graph, features, trees, n_features)
    # A tree of one leaf becomes a split whose sides are the same.
    alone = np.flatnonzero(trees.roots < 0)
    zeros = np.zeros(len(alone), dtype=np.int64)
    roots = trees.roots.astype(np.int64)
    leaf_alone = ~roots[alone]
    roots[alone] = len(trees.feature) + np.arange(len(alone))
    twins = np.stack([~leaf_alone, ~leaf_alone], axis=1)
    children = np.concatenate([trees.children.reshape(-1, 2), twins]).astype(np.int64)
    is_leaf = children < 0
    positions = np.where(is_leaf, ~children, children)
    missing_left = np.concatenate([(trees.kind & MISSING_LEFT) > 0, zeros])
    lists = {
        "tree_roots": roots,
        "nodes_featureids": np.concatenate([column, zeros]),
        "nodes_truenodeids": positions[:, 0],
        "nodes_trueleafs": is_leaf[:, 0],
        "nodes_falsenodeids": positions[:, 1],
        "nodes_falseleafs": is_leaf[:, 1],
        "nodes_missing_value_tracks_true": missing_left,
        "leaf_targetids": target,
    }
    return graph.add(
        "TreeEnsemble",
        table,
        n_targets=k,
        aggregate_function=1,
        post_transform=0,
        nodes_splits=np.concatenate([threshold, zeros]),
        nodes_modes=np.zeros(len(children), np.uint8),
        leaf_weights=values,
        **{name: array.astype(np.int64).tolist() for name, array in lists.items()},
    )


def add_questions(
    graph: Graph, features: str, trees: Trees, width: int
) -> tuple[str, np.ndarray, np.ndarray]:
    """Add the table that splits look at; return it, and the column and threshold of each node."""
    column = trees.feature.astype(np.int64)
    threshold = trees.threshold.copy()
    parts = [features]
    nodes = np.flatnonzero(trees.kind & CATEGORY)
    threshold[nodes] = 0.5
    for feature in np.unique(trees.feature[nodes]):
        sets: dict[bytes, int] = {}
        for node in nodes[trees.feature[nodes] == feature]:
            first = int(trees.threshold[node])
            words = trees.categories[first : first + int(trees.words[node])]
            column[node] = width + sets.setdefault(words.astype("<u4").tobytes(), len(sets))
        parts.append(add_sides(graph, graph.columns(features, [feature]), list(sets)))
        width += len(sets)
    return graph.add("Concat", *parts, axis=1), column, threshold


def add_sides(graph: Graph, codes: str, sets: list[bytes]) -> str:
    """Add, for every set of categories of a column, a column: 0 goes left, 1 goes right."""
    # A category is looked up once, in a table with a column per set; others are in its last row.
    size = 8 * max(map(len, sets))
    table = np.ones((size + 1, len(sets)), dtype=np.uint8)
    for j, words in enumerate(sets):
        bits = np.unpackbits(np.frombuffer(words, np.uint8), bitorder="little")
        table[: len(bits), j] -= bits
    # Codes are cut towards zero, so -0.5 is category 0.
    is_above = graph.add("Greater", codes, graph.constant(-1.0))
    is_below = graph.add("Less", codes, graph.constant(float(size)))
    is_known = graph.add("And", is_above, is_below)
    row = graph.add("Where", is_known, codes, graph.constant(float(size)))
    row = graph.add("Squeeze", graph.cast(row, "INT64"), graph.constant([1], np.int64))
    sides = graph.add("Gather", graph.constant(table, np.uint8), row, axis=0)
    is_missing = graph.add("IsNaN", codes)
    return graph.add("Where", is_missing, graph.constant(np.nan), graph.cast(sides, "DOUBLE"))


def add_network(graph: Graph, features: str, model: NetworkModel) -> str:
    """Add the scores of a network, (n, n_scores)."""
    design = model.design
    parts = []
    if len(design.numeric):
        values = graph.columns(features, design.numeric)
        is_missing = graph.add("IsNaN", values)
        filled = graph.add("Where", is_missing, graph.constant(design.medians), values)
        centred = graph.add("Sub", filled, graph.constant(design.means))
        scaled = graph.add("Div", centred, graph.constant(design.scales))
        parts.append(graph.add("Clip", scaled, graph.constant(-MOST), graph.constant(MOST)))
    if len(design.gaps):
        is_missing = graph.add("IsNaN", graph.columns(features, design.gaps))
        parts.append(graph.cast(is_missing, "DOUBLE"))
    for column, size in zip(design.categorical, design.sizes, strict=True):
        if size:
            codes = graph.columns(features, [column])
            is_category = graph.add("Equal", codes, graph.constant(np.arange(size)))
            parts.append(graph.cast(is_category, "DOUBLE"))
    inputs = graph.add("Concat", *parts, axis=1)
    sums = graph.add("MatMul", inputs, graph.constant(model.slopes.T))
    hidden = graph.add("Relu", graph.add("Add", sums, graph.constant(model.shifts)))
    sums = graph.add("MatMul", hidden, graph.constant(model.tops.T))
    return graph.add("Add", sums, graph.constant(model.base))
