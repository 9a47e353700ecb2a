"""AdaMEC: AdaBoost, calibrated, then the cheapest decision.

N. Nikolaou, N. Edakunni, M. Kull, P. Flach and G. Brown, "Cost-sensitive boosting algorithms: Do we
really need them?", Machine Learning 104, 2016, 359-384, doi:10.1007/s10994-016-5572-x.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from costboost._utils import Rules, integer
from costboost.algorithms.landesa2012 import AdaBoostCClassifier
from costboost.boosting import Recipe
from costboost.columns import Rows
from costboost.wrappers.min_cost import Calibration, MinCostClassifier, check_features

__all__ = ["AdaMECClassifier"]


class AdaMECClassifier(MinCostClassifier):
    r"""AdaMEC: cost-blind AdaBoost scores, calibrated, then the decision of least expected cost.

    .. math::

        F(x) = \sum_t \alpha_t h_t(x), \qquad
        \hat p(x) = \frac{1}{1 + e^{A F(x) + B}}, \qquad
        \hat y(x) = \operatorname{sign}\bigl(\hat p\,C_1 - (1 - \hat p)\,C_2\bigr)

    F is AdaBoost's score, `AdaBoostCClassifier` with equal initial weights; A and B, by Platt's
    scaling, are fitted on rows that the score has not seen. Of fifteen cost-sensitive variants of
    AdaBoost, Nikolaou et al. find three that theory supports, and these perform alike once
    calibrated; they recommend this one, the simplest. It is the one that a cost-sensitive algorithm
    has to beat. The costs enter only when it decides, so they may differ from row to row and from
    call to call.

    The paper calibrates on one part of the rows that the score is not fitted on. Here every fold of
    a cross-validation calibrates the score of the other folds, and the probabilities are averaged.
    The paper's score is :math:`\sum_t \alpha_t [h_t = 1] / \sum_t \alpha_t`, an increasing affine
    function of F, which A and B absorb.

    Parameters
    ----------
    cost_matrix : array, frame, mapping or None, default=None
        What each decision costs: a (2, 2) array, rows = truth, columns = decision, in the order of
        ``classes_``; a labelled frame; ``{(truth, decision): cost}``; ``{"fn": 5, "fp": 1}`` (also
        ``"tp"``, ``"tn"`` and ``"positive"``, the positive class);
        None if every mistake costs 1.
    n_estimators : int, default=100
        Number of boosting rounds. Boosting may stop earlier.
    estimator : str, Learner, scikit-learn estimator or None, default=None
        The weak learner, as in the other algorithms. None is a tree.
    max_leaves : int, default=8
        Largest number of leaves of a tree, for the ``"tree"`` learner.
    calibration : {"sigmoid", "isotonic"} or None, default="sigmoid"
        Platt's scaling, isotonic regression, or none: AdaBoost's own link
        :math:`1/(1 + e^{-2F})`, which is too sure of itself.
    cv : int, splitter or iterable, default=5
        Folds of the calibration; an integer means that many stratified folds, but at most as many
        as the rarer class has rows.
    ensemble : bool, default=True
        Whether to average one calibrated score per fold, or to fit one score on all rows and
        calibrate it on the predictions of the folds.
    random_state : int, RandomState or None, default=None
        Seed of the weak learner, where it is random.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel; without calibration, number of threads. With None, folds
        are fitted one after another, with one thread below 10,000 rows and all threads above.
    columns : mapping of name to kind or None, default=None
        What columns of a table are, as in `AdaBoostCClassifier`.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The classes; the second one is the positive class of the equations.
    n_classes_ : int
        Their number.
    columns_ : costboost.columns.Columns
        What each column holds and what became of it.
    decisions_ : array of shape (d,)
        The decisions that `predict` chooses from: the classes, unless the costs name others.
    costs_ : CostSummary
        The costs of the fit; ``print`` shows them in words.
    cost_spec_ : CostSpec
        The ``cost_matrix`` of the fit, parsed; the caller's may change afterwards.
    cost_matrix_ : array of shape (2, 2)
        The costs, averaged over the rows where they differ.
    feature_importances_ : array of shape (n_features_in_,)
        How much each feature is used, averaged over the boosted classifiers.
    estimator_ : CalibratedClassifierCV or AdaBoostCClassifier
        The calibrated scores; its ``calibrated_classifiers_`` hold the boosted classifiers.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if X had any.
    trained_at_ : str
        When the fit ended, UTC.
    data_fingerprint_ : str
        A SHA-256 of all training rows.

    References
    ----------
    N. Nikolaou, N. Edakunni, M. Kull, P. Flach and G. Brown, "Cost-sensitive boosting algorithms:
    Do we really need them?", Machine Learning 104, 2016, 359-384, doi:10.1007/s10994-016-5572-x.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AdaMECClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AdaMECClassifier({"fn": 1, "fp": 5}, n_estimators=20).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "AdaBoost, calibrated, then the cheapest decision", "Nikolaou et al. 2016", link="yes"
    )
    _rules: ClassVar[Rules] = {
        "n_estimators": integer(1),
        "max_leaves": integer(2),
    }

    def __init__(
        self,
        cost_matrix: Any = None,
        n_estimators: int = 100,
        estimator: Any = None,
        max_leaves: int = 8,
        calibration: Calibration | None = "sigmoid",
        cv: Any = 5,
        ensemble: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(estimator, cost_matrix, calibration, cv, ensemble, n_jobs, columns)
        self.n_estimators = n_estimators
        self.max_leaves = max_leaves
        self.random_state = random_state

    # X reaches AdaBoost as it was passed, which reads columns itself.

    def _read_training(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        return X, *super()._read_training(X, y)[1:]

    def _read(self, X: Any) -> Any:
        return X if isinstance(X, Rows) else check_features(self, X)

    def _model(self, n_samples: int = 0) -> Any:
        """AdaBoost."""
        return AdaBoostCClassifier(
            n_estimators=self.n_estimators,
            estimator=self.estimator,
            max_leaves=self.max_leaves,
            init="uniform",
            random_state=self.random_state,
            n_jobs=self._threads(),
            columns=self.columns,
        )
