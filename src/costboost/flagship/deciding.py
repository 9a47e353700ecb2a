"""Decisions, probabilities and explanations of averaged boosters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Floats, Ints
from costboost.base import TableClassifier
from costboost.costs import Costs
from costboost.costs.uncertain import decide_worst, scenarios
from costboost.flagship.heads import Head, to_proba
from costboost.gbm.decisions import decide, probability
from costboost.losses import LOSSES

__all__ = ["HeadClassifier"]


def _has_probabilities(model: HeadClassifier) -> bool:
    """Whether the boosters know, or will know, probabilities of the classes."""
    if isinstance(model.loss, str) and model.loss == "auto":
        return model.decision != "learned"
    loss = LOSSES.get(model.loss) if isinstance(model.loss, str) else model.loss
    return bool(getattr(loss, "has_probabilities", False))


class HeadClassifier(TableClassifier):
    """What a classifier with trained heads can do, however they were trained.

    Attributes
    ----------
    heads_ : dict of str to Head
        ``"probability"`` knows the probabilities of the classes, ``"decision"`` decides by its own
        scores; at least one of them.
    """

    loss: Any
    decision: str
    risk: str
    heads_: dict[str, Head]
    cost_matrix_: Floats
    n_features_in_: int
    _unit: float

    def _known_costs(self, costs: Any, X: Any, n_samples: int, codes: Ints | None = None) -> Costs:
        """The costs, uncertain ones by their means."""
        return Costs.resolve(
            scenarios(self.cost_matrix).expected if costs is None else None,
            None if costs is None else scenarios(costs).expected,
            classes=self.classes_,
            n_samples=n_samples,
            X=X,
            codes=codes,
            owner=type(self).__name__,
        )

    # -- predict --------------------------------------------------------------------------------

    def predict(self, X: Any, costs: Any = None) -> AnyArray:
        """The decision of smallest expected cost for each row.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array of shape (n, k, k), optional
            The rows' own cost matrices, truth by decision, where they are known; they may be
            uncertain. Without them a callable ``cost_matrix`` gives the costs; else, if the rows
            had costs of their own in ``fit``, the boosters that learned them decide, else
            ``cost_matrix`` does.

        Returns
        -------
        array of shape (n,)
            Class labels.
        """
        check_is_fitted(self)
        if costs is not None and not _has_probabilities(self):
            raise ValueError(
                f"{type(self).__name__}(loss={self.loss!r}, decision={self.decision!r}) has "
                "learned decisions and no probabilities, so predict cannot use costs. Leave them "
                "out, or fit with loss='auto' and decision='auto' or 'bayes'."
            )
        told = costs is not None or (callable(self.cost_matrix) and _has_probabilities(self))
        if not told and "decision" in self.heads_:
            scores = self.heads_["decision"].scores(self._checked(X))
            return self.classes_[self._decide("decision", scores, None)]
        proba = self.predict_proba(X)
        worst = scenarios(costs if costs is not None else self.cost_matrix, X)
        if self.risk == "worst" and worst.is_uncertain:
            # What a function of X returns are costs of single rows, too.
            cases = [
                Costs.resolve(
                    None if told else case,
                    case if told else None,
                    classes=self.classes_,
                    n_samples=len(proba),
                    X=X,
                    owner=type(self).__name__,
                )
                for case in worst.worst
            ]
            return self.classes_[decide_worst(proba, cases)]
        if told:
            return self.classes_[self._known_costs(costs, X, len(proba)).decide(proba)]
        return self.classes_[Costs(self.classes_, self.cost_matrix_).decide(proba)]

    def _tellable(self, costs: Any) -> Any:
        return costs if _has_probabilities(self) else None

    def _certain(self, costs: Any) -> Any:
        return scenarios(costs).expected

    def _decide(self, head: str, scores: Floats, costs: Costs | None) -> Ints:
        """Class codes from the scores of a head, with the rows' costs where they are known."""
        if head == "decision":
            if self.loss != "auto":
                return decide(scores, self.loss, cost_matrix=self.cost_matrix_ / self._unit)
            return np.asarray(scores >= 0 if scores.ndim == 1 else scores.argmax(1), np.intp)
        if costs is None or costs.matrix is None:
            costs = Costs(self.classes_, self.cost_matrix_)
        return costs.decide(to_proba(scores))

    def _checked(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return np.asarray(self._read(X, missing=True))

    def _deciding(self) -> str:
        """The head that decides when ``predict`` is not told costs."""
        check_is_fitted(self)
        return "decision" if "decision" in self.heads_ else "probability"

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Calibrated class probabilities.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column per class, in the order of ``classes_``.
        """
        rows = self._checked(X)
        if self.loss != "auto":
            scores = self.heads_["decision"].scores(rows)
            return probability(scores, self.loss, cost_matrix=self.cost_matrix_ / self._unit)
        return to_proba(self.heads_["probability"].scores(rows))

    def decision_function(self, X: Any) -> Floats:
        """Scores that decide when ``predict`` is not told costs.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,) or (n, k)
            Two classes: what deciding for the second is expected to save, positive if it is the
            cheaper decision. More: minus the expected cost of each decision. With boosters that
            learned the costs, their scores.
        """
        name = self._deciding()
        return self._decision_values(name, self.heads_[name].scores(self._checked(X)))

    def _decision_values(self, head: str, scores: Floats) -> Floats:
        if head == "decision":
            return scores
        expected = Costs(self.classes_, self.cost_matrix_).expected(to_proba(scores))
        return expected[:, 0] - expected[:, 1] if scores.ndim == 1 else -expected

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The output of `decision_function` after each round.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,) or (n, k)
            Scores; boosters that stopped early stay where they are.
        """
        name = self._deciding()
        for scores in self.heads_[name].staged_scores(self._checked(X)):
            yield self._decision_values(name, scores)

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """The decisions after each round, without costs of single rows.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,)
            Class labels.
        """
        name = self._deciding()
        for scores in self.heads_[name].staged_scores(self._checked(X)):
            yield self.classes_[self._decide(name, scores, None)]

    # -- inspection -----------------------------------------------------------------------------

    def contributions(self, X: Any) -> Floats:
        """What each feature adds to the score of each row: SHAP values.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, d + 1) or (n, k, d + 1)
            They sum to the boosters' mean calibrated log-odds of the second class (two classes), or
            to the mean scores whose softmax is the probability; the last column is the base. With
            boosters that learned the costs alone, they sum to the output of
            `decision_function`.
        """
        rows = self._checked(X)
        return self._first_head.contributions(rows)

    @property
    def _first_head(self) -> Head:
        check_is_fitted(self)
        return next(iter(self.heads_.values()))

    @property
    def temperature_(self) -> float:
        """What calibrates the scores."""
        return self._first_head.temperature

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain of all splits."""
        return self._first_head.importances(self.n_features_in_)

    @property
    def boosters_(self) -> list[Any]:
        """The engine's boosters, of the probabilities if there are two sets."""
        return [model.booster for model in self._first_head.models]

    @property
    def booster_(self) -> Any:
        """The only booster, if ``ensemble=1``."""
        boosters = self.boosters_
        if len(boosters) != 1:
            raise AttributeError(
                f"{type(self).__name__} has {len(boosters)} boosters, whose scores are averaged: "
                "see boosters_, or set ensemble=1."
            )
        return boosters[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
