"""Decisions, probabilities and explanations of a classifier with trained heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Floats, Ints
from costboost.base import TableClassifier
from costboost.costs import Costs
from costboost.costs.uncertain import decide_worst, scenarios
from costboost.gbm import LOSSES
from costboost.gbm.blocks import Pricing
from costboost.gbm.heads import Head, has_link

__all__ = ["HeadClassifier"]


def _has_probabilities(model: HeadClassifier) -> bool:
    """Whether the boosters know, or will know, probabilities of the classes."""
    if isinstance(model.loss, str) and model.loss == "auto":
        return model.decision != "learned"
    return has_link(LOSSES.get(model.loss) if isinstance(model.loss, str) else model.loss)


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

    def _pricing(self) -> Pricing:
        return Pricing(self.cost_matrix, self.classes_, type(self).__name__)

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
        head = self._deciding_head
        if self.risk == "worst" and (told or head.decides_by_cost):
            cases = scenarios(costs if costs is not None else self.cost_matrix, X)
            if cases.is_uncertain:
                return self._named(self._decide_worst(X, cases.worst, told))
        if told:
            proba = self.predict_proba(X)
            return self._named(self._pricing().resolve(costs, X, len(proba)).decide(proba))
        return self._named(head.decide(head.scores(self._checked(X))))

    def _decide_worst(self, X: Any, cases: Sequence[Any], told: bool) -> Ints:
        """The decisions whose expected cost is smallest in the case that is worst for them."""
        proba = self.predict_proba(X)
        priced = [
            # What a function of X returns are costs of single rows, too.
            Costs.resolve(
                None if told else case,
                case if told else None,
                classes=self.classes_,
                n_samples=len(proba),
                X=X,
                owner=type(self).__name__,
            )
            for case in cases
        ]
        return decide_worst(proba, priced)

    def _named(self, decisions: Ints) -> AnyArray:
        """Labels of decisions from their codes."""
        return self.classes_[decisions]

    def _tellable(self, costs: Any) -> Any:
        return costs if _has_probabilities(self) else None

    def _certain(self, costs: Any) -> Any:
        return scenarios(costs).expected

    def _checked(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return np.asarray(self._read(X, missing=True))

    @property
    def _first_head(self) -> Head:
        """The head of probabilities, if there is one."""
        check_is_fitted(self)
        return next(iter(self.heads_.values()))

    @property
    def _deciding_head(self) -> Head:
        """The head that decides when ``predict`` is not told costs."""
        check_is_fitted(self)
        return next(reversed(self.heads_.values()))

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
        head = self._first_head
        return head.proba(head.scores(self._checked(X)))

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
            cheaper decision. More classes: minus the expected cost of each decision. Boosters
            that learned the costs return their scores.
        """
        head = self._deciding_head
        return head.decision_values(head.scores(self._checked(X)))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The output of `decision_function` after each round.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,) or (n, k)
            Scores; boosters that stopped early keep their last ones.
        """
        head = self._deciding_head
        for scores in head.staged_scores(self._checked(X)):
            yield head.decision_values(scores)

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
        head = self._deciding_head
        for scores in head.staged_scores(self._checked(X)):
            yield self._named(head.decide(scores))

    # -- inspection -----------------------------------------------------------------------------

    def contributions(self, X: Any) -> Floats:
        """What each feature adds to the score of each row (SHAP values).

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
        return self._first_head.contributions(self._checked(X))

    @property
    def temperature_(self) -> float:
        """Factor that calibrates the scores."""
        return self._first_head.temperature

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain of all splits."""
        return self._first_head.importances(self.n_features_in_)

    @property
    def boosters_(self) -> list[Any]:
        """The engine's own boosters; those of the probabilities if there are two heads."""
        return self._first_head.boosters

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
