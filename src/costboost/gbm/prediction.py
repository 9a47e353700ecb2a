"""Decisions, probabilities and explanations of a classifier with trained heads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from costboost._frames import is_sparse
from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.costs.forms import columns_of
from costboost.costs.uncertain import decide_worst, scenarios
from costboost.decisions import Explanation, explain, worst_expected_cost
from costboost.estimator import CostSensitiveClassifier
from costboost.gbm import LOSSES
from costboost.gbm.heads import Head

__all__ = ["HeadClassifier"]


def _has_probabilities(model: HeadClassifier) -> bool:
    """Whether the boosters know, or will know, probabilities of the classes."""
    if isinstance(model.loss, str) and model.loss == "auto":
        return model.decision != "learned"
    loss = LOSSES.get(model.loss) if isinstance(model.loss, str) else model.loss
    return bool(getattr(loss, "has_probabilities", False))


class HeadClassifier(CostSensitiveClassifier):
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
    cost_columns: str
    n_features_in_: int

    # -- predict --------------------------------------------------------------------------------

    def _scored(self, X: Any, *, codes: bool, proba: bool) -> tuple[Ints | None, Floats | None]:
        rows, head = self._checked(X), self._deciding_head
        taken = head.decide(head.scores(rows)) if codes and not head.decides_by_cost else None
        if (taken is not None and not proba) or not _has_probabilities(self):
            return taken, None
        head = self._first_head
        return taken, head.proba(head.scores(rows))

    def _weighed(self, proba: Floats, known: Costs, X: Any, costs: Any) -> tuple[Ints, Floats]:
        cases = self._worst_cases(X, costs, len(proba))
        if not cases:
            return super()._weighed(proba, known, X, costs)
        return decide_worst(proba, cases), worst_expected_cost(
            proba, [case.matrix for case in cases]
        )

    def with_costs(self, cost_matrix: Any) -> Self:
        """The same fitted model, deciding by other costs, without training again.

        Boosters that learned the costs of the fit no longer decide.

        Parameters
        ----------
        cost_matrix : array, frame, mapping, callable or None
            The costs, in any form of the constructor.

        Returns
        -------
        classifier
            A copy that shares the trained boosters.
        """
        other = super().with_costs(cost_matrix)
        if "probability" in self.heads_:
            other.heads_ = {"probability": self.heads_["probability"]}
        return other

    def _check_probabilities(self, what: str) -> None:
        if not _has_probabilities(self):
            raise ValueError(
                f"{type(self).__name__}(loss={self.loss!r}, decision={self.decision!r}) has "
                f"learned decisions and no probabilities, so {what} cannot use costs. Leave them "
                "out, or fit with loss='auto' and decision='auto' or 'bayes'."
            )

    def _worst_cases(self, X: Any, costs: Any, n_samples: int) -> list[Costs]:
        """The scenarios of uncertain costs, if the worst of them counts."""
        form = self.cost_matrix if costs is None else costs
        found = scenarios(form, X) if self.risk == "worst" else None
        if found is None or not found.is_uncertain:
            return []
        # What a function of X returns are costs of single rows.
        rows = costs is not None or callable(form)
        return [
            self._resolved(case, case if rows else None, X, n_samples=n_samples)
            for case in found.worst
        ]

    def _costs_of(self, head: Head, X: Any, n_samples: int) -> Costs | None:
        """The costs that a head decides by; None if it has learned them."""
        return self._decision_costs(None, n_samples, X) if head.decides_by_cost else None

    def _without_cost_columns(self, X: Any) -> Any:
        """The features: X without columns that only say what decisions cost."""
        if self.cost_columns == "features" or not hasattr(X, "columns"):
            return X
        return X[[name for name in X.columns if name not in columns_of(self.cost_matrix)]]

    def _checked(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        rows: AnyArray = self._read(self._without_cost_columns(X), missing=True, sparse_rows=True)
        return rows

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
        array of shape (n,) or (n, d)
            Two decisions: what the second is expected to save, positive if it is the cheaper one.
            More decisions: minus the expected cost of each. Boosters that learned the costs
            return their scores.
        """
        head = self._deciding_head
        scores = head.scores(self._checked(X))
        return head.decision_values(scores, self._costs_of(head, X, len(scores)))

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
        rows = self._checked(X)
        costs = self._costs_of(head, X, rows.shape[0])
        for scores in head.staged_scores(rows):
            yield head.decision_values(scores, costs)

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """The decisions after each round, without costs of single rows.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,)
            Labels of ``decisions_``.
        """
        head = self._deciding_head
        rows = self._checked(X)
        costs = self._costs_of(head, X, rows.shape[0])
        for scores in head.staged_scores(rows):
            taken = head.decide(scores) if costs is None else costs.decide(head.proba(scores))
            yield self.decisions_[taken]

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
            They sum to the calibrated log-odds of the second class (two classes), or to the scores
            whose softmax is the probability; the last column is the base. With boosters that
            learned the costs alone, they sum to the output of `decision_function`.
        """
        return self._first_head.contributions(self._checked(X))

    def explain(self, X: Any, costs: Any = None, *, codes: ArrayLike | None = None) -> Explanation:
        """Explain decisions in money: what each feature adds to what a decision saves.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array, frame or mapping, optional
            The costs to decide by, as in `predict`.
        codes : int array of shape (n,), optional
            Decisions to explain, as indices into ``decisions_``, such as those of `decide`; by
            default the cheapest ones.

        Returns
        -------
        Explanation
            Per row the decision, the runner-up, what the decision saves against it, and a part per
            feature: base and parts sum to the saving. `costboost.decisions.explain` states
            the rule; `costboost.plots.ExplanationDisplay` draws it.

        Examples
        --------
        >>> from costboost import CostBoostClassifier
        >>> from costboost.datasets import make_fraud
        >>> data = make_fraud(1000, random_state=0)
        >>> model = CostBoostClassifier({"fn": 100, "fp": 5}, n_estimators=20, random_state=0)
        >>> found = model.fit(data.X, data.y).explain(data.X[:3])
        >>> bool(abs(found.base + found.parts.sum(axis=1) - found.saving).max() < 1e-9)
        True
        """
        answer, proba, _ = self._weighed_answer(X, costs, "explain")
        known = answer.costs
        features = self._without_cost_columns(X)
        rows, head = self._checked(X), self._first_head
        names = getattr(self, "feature_names_in_", None)
        return explain(
            [head.contributions(rows)],
            known.matrix,
            proba=proba,
            decisions=known.decisions,
            codes=known.decide(proba) if codes is None else codes,
            feature_names=None if names is None else [str(name) for name in names],
            X=features.toarray() if is_sparse(features) else features,
        )

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
        """All boosters of the first head as one, whose raw score is their mean score.

        One booster is returned as it is; several of one library are merged, which takes a moment.
        The calibrated score is `temperature_` times the raw one.
        """
        return self._first_head.merged()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
