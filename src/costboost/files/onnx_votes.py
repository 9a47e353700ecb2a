"""ONNX graphs of classifiers of several classes whose weak rules are trees.

The graph adds or averages the rules as the classifier does, and settles ties as it does: of scores
that are equal up to rounding, the decision that was cheapest for all training rows wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import softmax

from costboost._typing import Floats, Ints
from costboost.algorithms._base import TIE, shares
from costboost.costs.table import same_labels
from costboost.files.onnx_graph import forest_of
from costboost.files.onnx_nodes import (
    Graph,
    assembled,
    cheapest,
    label_constant,
    named,
    outputs_of,
    scaled,
    scores_of,
)
from costboost.files.onnx_trees import Forest, from_sklearn
from costboost.learners.base import ConstantRule, Ensemble
from costboost.learners.classes import ClassRule, ConstantClass
from costboost.learners.coordinates import ProjectedEnsemble
from costboost.learners.cost_tree import CheapestClassRule
from costboost.learners.mixture import Mixture, stochastic
from costboost.learners.pairs import PairEnsemble
from costboost.learners.tree import TreeEnsemble, TreeRule

__all__ = ["votes_to_onnx"]


def votes_to_onnx(model: Any, *, costs: bool, exact: bool, metadata: dict[str, Any]) -> Any:
    """The ONNX model of a fitted classifier of several classes."""
    # Outputs are ``scores``, (n, d), ``decision``, the label, and, if the decisions are the
    # classes, ``probabilities``, (n, k); with costs also ``expected_costs``.
    owner = type(model).__name__
    k, d = len(model.classes_), len(model.decisions_)
    link = _link(model) if same_labels(model.decisions_, model.classes_) else None
    by_cost = costs or getattr(model, "decision", None) == "bayes"
    if by_cost and link is None:
        raise ValueError(
            f"{owner} has no probabilities of the classes, so its graph cannot use costs. Leave "
            "costs out."
        )
    if not model.n_iter_:
        raise ValueError(f"to_onnx needs a rule, and {owner} was fitted without any.")
    graph = Graph()
    n_features = model.n_features_in_
    scores = _Sums(graph, n_features, exact, owner).of(model._ensemble, d)
    winner = _winner(graph, scores, model._by_cost)
    outputs = [named(graph, scores, "scores")]
    if link is not None:
        proba = _ordered(graph, _linked(graph, scores, link), winner, d)
        outputs.append(named(graph, proba, "probabilities"))
        if by_cost:
            expected, winner = cheapest(graph, proba, k, of_classes=True)
            outputs.append(named(graph, expected, "expected_costs"))
    labels = label_constant(graph, model.decisions_)
    outputs.append(graph("Gather", labels, winner, output="decision", axis=0))
    shapes = {"scores": d, "probabilities": k, "expected_costs": d, "decision": None}
    matrix = getattr(model, "cost_matrix_", np.zeros((k, d)))
    chosen = model.decisions_
    return assembled(graph, n_features, outputs, shapes, chosen, matrix, costs, metadata)


# -- scores -------------------------------------------------------------------------------------


class _Sums:
    """Scores of ensembles as nodes of a graph."""

    def __init__(self, graph: Graph, n_features: int, exact: bool, owner: str) -> None:
        self.graph, self.n_features = graph, n_features
        self.exact, self.owner = exact, owner

    def of(self, ensemble: Ensemble, d: int) -> str:
        """The scores of an ensemble, (n, d)."""
        graph = self.graph
        if isinstance(ensemble, Mixture):
            if ensemble._shape is stochastic and isinstance(ensemble.parts, PairEnsemble):
                return self._distributions(ensemble, ensemble.parts, d)
            return graph("Add", graph.constant(ensemble._start), self.of(ensemble.parts, d))
        if isinstance(ensemble, PairEnsemble):
            signed = self._columns(ensemble.parts)
            total = graph("Add", signed, graph.constant(float(ensemble.votes.sum())))
            return graph("Mul", graph.constant(0.5), total)
        if isinstance(ensemble, ProjectedEnsemble):
            F = self._columns(ensemble.inner.parts)
            return graph("MatMul", F, graph.constant(ensemble._directions))
        return self._class_votes(ensemble, d)

    def _columns(self, parts: Sequence[Ensemble]) -> str:
        """A sum of trees per column, (n, parts)."""
        sums = [scores_of(self.graph, self._voting(part), self.exact) for part in parts]
        return self.graph("Concat", *sums, axis=1)

    def _voting(self, part: Ensemble) -> Forest:
        """The trees of a sum, with votes in their leaves."""
        if isinstance(part, TreeEnsemble):
            return forest_of(part.booster)
        forest = Forest(self.n_features, 1, np.float64, mode=0)
        for vote, rule in zip(part.votes, part.rules, strict=True):
            forest.constant(0, float(vote) * self._constant(rule))
        if not part.rules:
            forest.constant(0, 0.0)
        return forest

    def _constant(self, rule: Any) -> float:
        if isinstance(rule, ConstantRule):
            return float(rule.value)
        raise self._refusal(rule)

    def _distributions(self, mixture: Mixture, parts: PairEnsemble, d: int) -> str:
        """An average of relations, each made a distribution over the decisions first."""
        graph = self.graph
        axis = graph.constant([2], np.int64)
        relations = [graph("Unsqueeze", self._outputs(part), axis) for part in parts.parts]
        half = graph.constant(0.5)
        signed = graph("Concat", *relations, axis=2)  # (n, rounds, d)
        claims = graph("Add", half, graph("Mul", half, signed))
        claimed = graph("ReduceSum", claims, axis, keepdims=1)
        share = graph("Div", claims, graph("Max", claimed, graph.constant(1.0)))
        is_claimed = graph("Greater", claimed, graph.constant(0.0))
        shaped = graph("Where", is_claimed, share, graph.constant(1.0 / d))
        weighted = graph("Mul", graph.constant(parts.votes[:, None]), shaped)
        return self._added(weighted, mixture._start)

    def _outputs(self, part: Ensemble) -> str:
        """What each rule of a sum says, without its vote, (n, rounds)."""
        forest = Forest(self.n_features, 1, np.float64, mode=0)
        if isinstance(part, TreeEnsemble):
            forest = forest_of(part.booster)
        places = []
        for rule in part.rules:
            if isinstance(rule, TreeRule):
                forest.set_leaves(rule.index, rule.leaf_outputs)
                places.append(rule.index)
            else:
                forest.constant(0, self._constant(rule))
                places.append(len(forest.roots) - 1)
        each = outputs_of(self.graph, forest)
        return self.graph("Gather", each, self.graph.constant(places, np.int64), axis=1)

    def _class_votes(self, ensemble: Ensemble, d: int) -> str:
        """Votes of rules that name one decision each, (n, d)."""
        forest = Forest(self.n_features, d, np.float64, mode=0, rounds_inputs=True)
        for vote, rule in zip(ensemble.votes, ensemble.rules, strict=True):
            if isinstance(rule, ConstantClass):
                forest.constant(rule.code, float(vote))
                forest.leaf_target += [rule.code] * 2
                continue
            tree, codes = self._leaf_classes(rule)
            from_sklearn(forest, tree, float(vote), codes)
        graph = self.graph
        if not self.exact:
            return scores_of(graph, forest, exact=False)
        each = outputs_of(graph, forest)
        shape = graph.constant([-1, len(forest.roots), d], np.int64)
        return self._added(graph("Reshape", each, shape), 0.0)

    def _leaf_classes(self, rule: Any) -> tuple[Any, Ints]:
        """The tree of a rule, and the class that each of its nodes names."""
        model: Any = getattr(rule, "classifier", getattr(rule, "regressor", None))
        tree = getattr(model, "tree_", None)
        if tree is not None and isinstance(rule, CheapestClassRule):
            return tree, tree.value[:, :, 0].argmin(axis=1)
        if tree is not None and isinstance(rule, ClassRule) and tree.n_outputs == 1:
            best = tree.value[:, 0, :].argmax(axis=1)
            return tree, np.asarray(model.classes_, dtype=np.intp)[best]
        raise self._refusal(rule)

    def _added(self, parts: str, start: float) -> str:
        """The sum over rounds, from the first to the last, of (n, rounds, d)."""
        graph = self.graph
        first = graph("Gather", parts, graph.constant([0], np.int64), axis=1)
        begin = graph("Add", graph("Mul", first, graph.constant(0.0)), graph.constant(start))
        running = graph(
            "CumSum", graph("Concat", begin, parts, axis=1), graph.constant(1, np.int64)
        )
        return graph("Gather", running, graph.constant(-1, np.int64), axis=1)

    def _refusal(self, rule: Any) -> ValueError:
        return ValueError(
            f"to_onnx takes {self.owner} with trees as weak rules, got {type(rule).__name__}. Fit "
            "with estimator='tree', or with a decision tree of scikit-learn."
        )


# -- decisions ----------------------------------------------------------------------------------


def _winner(graph: Graph, scores: str, by_cost: Ints) -> str:
    """Codes of the largest scores; of those that tie, the one cheapest for all training rows."""
    axes = graph.constant([1], np.int64)
    order = graph.constant(by_cost, np.int64)
    ordered = graph("Gather", scores, order, axis=1)
    best = graph("ReduceMax", ordered, axes, keepdims=1)
    size = graph("ReduceMax", graph("Abs", ordered), axes, keepdims=1)
    least = graph("Sub", best, graph("Mul", graph.constant(TIE), size))
    tied = graph("GreaterOrEqual", ordered, least)
    as_number = graph("Cast", tied, to=graph.onnx.TensorProto.INT64)
    return graph("Gather", order, graph("ArgMax", as_number, axis=1, keepdims=0), axis=0)


def _link(model: Any) -> float | None:
    """How scores become probabilities: 0 for shares of their sum, else the slope of a softmax."""
    scores: Floats = 1.0 + np.arange(len(model.classes_))[None] / 7.0
    proba = model._probabilities(scores)
    if np.allclose(proba, shares(scores), rtol=1e-12, atol=0):
        return 0.0
    slope = float(7.0 * np.log(proba[0, 1] / proba[0, 0]))
    if np.allclose(proba, softmax(slope * scores, axis=1), rtol=1e-9, atol=0):
        near = round(slope)
        return float(near) if abs(slope - near) < 1e-12 else slope
    return None


def _linked(graph: Graph, scores: str, link: float) -> str:
    if link:
        return graph("Softmax", scaled(graph, scores, link, 0.0), axis=1)
    total = graph("ReduceSum", scores, graph.constant([1], np.int64), keepdims=1)
    some = graph("Greater", total, graph.constant(0.0))
    share = graph("Div", scores, graph("Where", some, total, graph.constant(1.0)))
    tens = graph.constant(1e15)
    rounded = graph("Div", graph("Round", graph("Mul", share, tens)), tens)
    ones = graph("Add", graph("Mul", scores, graph.constant(0.0)), graph.constant(1.0))
    count = graph("ReduceSum", ones, graph.constant([1], np.int64), keepdims=1)
    uniform = graph("Round", graph("Mul", graph("Div", ones, count), tens))
    return graph("Where", some, rounded, graph("Div", uniform, tens))


def _ordered(graph: Graph, proba: str, winner: str, d: int) -> str:
    """Probabilities whose largest is that of the decision, where ties would hide it."""
    axes = graph.constant([1], np.int64)
    column = graph("Unsqueeze", winner, axes)
    is_winner = graph("Equal", column, graph.constant(np.arange(d)[None], np.int64))
    first = graph("Unsqueeze", graph("ArgMax", proba, axis=1, keepdims=0), axes)
    is_hidden = graph("Not", graph("Equal", first, column))
    best = graph("ReduceMax", proba, axes, keepdims=1)
    raised = graph("Mul", graph.constant(1.0 + TIE), best)
    return graph("Where", graph("And", is_winner, is_hidden), raised, proba)
