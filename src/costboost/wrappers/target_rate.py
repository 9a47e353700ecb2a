"""A named detection or false-alarm rate in place of costs."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, check_cv, cross_val_predict, train_test_split
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._utils import (
    FOLDS,
    N_JOBS,
    Rules,
    check_parameters,
    check_weights,
    fit_at_once,
    integer,
    number,
    share,
)
from costboost.costs.labels import check_same_index
from costboost.costs.spec import positive_code
from costboost.decisions.order_statistics import order_rank, order_threshold, rows_needed
from costboost.errors import CollapseWarning
from costboost.estimator import CostSensitiveClassifier
from costboost.wrappers.min_cost import (
    check_features,
    check_rows,
    hand_on_weights,
    limit_folds,
    route_metadata,
    route_to_fit,
    take_metadata,
    take_rows,
)

# The detection rate where no rate is named.
DETECTION_RATE = 0.9

# The search spans this many decades of the cost ratio either side of its centre.
_DECADES = 4.0


def _has_scores(classifier: TargetRateClassifier) -> bool:
    fitted = hasattr(classifier, "estimator_")
    model = classifier.estimator_ if fitted else classifier._model()
    if hasattr(model, "decision_function"):
        return True
    return classifier.delta is not None and hasattr(model, "predict_proba")


@dataclass(eq=False, repr=False)
class TargetRateClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A named detection rate, or a named false-alarm rate, instead of costs.

    **The search.** For a cost-sensitive estimator, the cost ratio r = C₁/C₂ that meets the rate is
    searched for on a log scale (Masnadi-Shirazi & Vasconcelos 2011, section 2.1): both rates grow
    with r, so each trial halves the range, which starts at the odds of the classes times 10⁻⁴ to
    10⁴. The rates of a trial are those of cross-validated decisions. Of the trials that meet the
    named rate, the one with the best other rate is fitted on all rows. It meets the rate on
    average; new rows may well miss it.

    **The guarantee.** With ``delta``, a held-out part of the rows sets a threshold on the score
    such that the promise fails with probability at most δ over the draw of those rows (Tong, Feng &
    Li 2018). For a false-alarm limit α and the scores of n held-out negatives in order,
    :math:`T_{(1)} \le \dots \le T_{(n)}`,

    .. math::

        \hat k = \min\Bigl\{k : \sum_{j=k}^{n} \binom nj (1-\alpha)^j \alpha^{n-j}
        \le \delta\Bigr\}, \qquad
        \hat y(x) = + \iff s(x) > T_{(\hat k)}

    whatever the distribution of the scores. A detection rate is treated alike, as a limit 1 - β on
    the misses among the held-out positives. The price is caution: the rate is met with room to
    spare. The guarantee takes rows for independent draws, so `sample_weight` has no part in it.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A classifier with the parameter ``cost_matrix``, or a pipeline with one such step. With
        ``delta``, any classifier with ``decision_function`` or ``predict_proba``: without
        ``cost_matrix`` it only gets the threshold. None is `AdaBoostCClassifier` with stumps, whose
        rates grow steadily over the whole range of ratios; trees soon fit the training rows
        whatever the ratio.
    detection_rate : float or None, default=None
        The smallest share of the positives to detect. Give either this or ``false_alarm_rate``;
        without either it is 0.9.
    false_alarm_rate : float or None, default=None
        The largest share of the negatives that may be flagged.
    delta : float or None, default=None
        Largest probability that the rate is missed on new rows; None gives no guarantee.
    positive : label or None, default=None
        The positive class. None is the greater of two numbers; with text labels it must be named.
    cv : int, splitter or iterable, default=5
        Folds that measure the rates; an integer means that many stratified, shuffled folds, but at
        most as many as the rarer class has rows.
    n_trials : int, default=12
        Largest number of cost ratios tried; each takes a cross-validation.
    tol : float, default=0.005
        A trial that meets the rate with no more than this to spare ends the search.
    held_out : float, default=0.3
        Share of the rows, of both classes alike, that sets the threshold; only with ``delta``.
    random_state : int, RandomState or None, default=None
        Seed of the folds, of the held-out part, and of the default estimator.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The classes.
    estimator_ : classifier
        The fitted estimator.
    cost_ratio_ : float or None
        The ratio found, what a miss costs when a false alarm costs 1; None if the estimator takes
        no costs.
    threshold_ : float or None
        With ``delta``: above it, the decision is the positive class. The score is the
        estimator's ``decision_function``, counted towards the positive class, or its probability
        of the positive class.
    detection_rate_, false_alarm_rate_ : float
        The rates measured: by cross-validation at ``cost_ratio_``, or with ``delta`` on the
        held-out rows at ``threshold_``.
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
    H. Masnadi-Shirazi and N. Vasconcelos, "Cost-sensitive boosting", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 33(2), 2011, doi:10.1109/TPAMI.2010.71.

    X. Tong, Y. Feng and J. J. Li, "Neyman-Pearson classification algorithms and NP receiver
    operating characteristics", Science Advances 4(2), 2018, doi:10.1126/sciadv.aao1659.

    Examples
    --------
    >>> from costboost import TargetRateClassifier
    >>> from costboost.datasets import make_gaussians_2d
    >>> X, y = make_gaussians_2d(500, random_state=0)
    >>> clf = TargetRateClassifier(detection_rate=0.9, random_state=0).fit(X, y)
    >>> bool(0.9 <= clf.detection_rate_ < 0.95), bool(clf.cost_ratio_ > 1)
    (True, True)

    At most 10 % false alarms, with 95 % confidence, from a classifier that knows no costs:

    >>> from sklearn.linear_model import LogisticRegression
    >>> clf = TargetRateClassifier(
    ...     LogisticRegression(), false_alarm_rate=0.1, delta=0.05, random_state=0
    ... )
    >>> bool(clf.fit(X, y).false_alarm_rate_ <= 0.1)
    True
    """

    _rules: ClassVar[Rules] = {
        "detection_rate": share(optional=True),
        "false_alarm_rate": share(optional=True),
        "delta": share(optional=True),
        "cv": FOLDS,
        "n_trials": integer(1),
        "tol": number(0),
        "held_out": share(),
        "n_jobs": N_JOBS,
    }

    estimator: Any = None
    detection_rate: float | None = None
    false_alarm_rate: float | None = None
    delta: float | None = None
    positive: Any = None
    cv: Any = 5
    n_trials: int = 12
    tol: float = 0.005
    held_out: float = 0.3
    random_state: Any = None
    n_jobs: int | None = None

    # -- fit ------------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **metadata: Any
    ) -> Self:
        """Search for the cost ratio, fit the estimator, and set the threshold if there is a δ.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows, as the estimator takes them.
        y : array of shape (n,)
            Their true classes: two of them.
        sample_weight : array of shape (n,), optional
            Weights of the rows, passed on to the estimator and used in the rates of the search.
            In the held-out part only a weight of 0 counts: the row is left out.
        **metadata
            What else the fit of the estimator asks for, by scikit-learn's metadata routing.

        Returns
        -------
        self
            The fitted classifier.
        """
        return fit_at_once(self, X, y, sample_weight, metadata)

    def _fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, metadata: dict[str, Any]
    ) -> None:
        check_parameters(self)
        owner = type(self).__name__
        if self.detection_rate is not None and self.false_alarm_rate is not None:
            raise ValueError(
                f"{owner} takes one named rate; got detection_rate={self.detection_rate!r} and "
                f"false_alarm_rate={self.false_alarm_rate!r}. Leave one of them out."
            )
        check_same_index(owner, X=X, y=y, sample_weight=sample_weight)
        X, labels, _ = check_rows(self, X, y)
        self._positive_index = 1
        if self.positive is not None or self.classes_.dtype.kind not in "biuf":
            self._positive_index = positive_code(self.positive, self.classes_, "positive", owner)
        weights = check_weights(sample_weight, len(labels), owner)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        model = self._model(seed)
        cost_parameter = self._cost_parameter(model)
        routed = route_metadata(self, metadata)
        if self.delta is not None:
            rows, held = train_test_split(
                np.arange(len(labels)),
                test_size=self.held_out,
                stratify=labels,
                random_state=seed,
            )
            routed = take_metadata(X, routed, rows)
            X_held = take_rows(X, held)
            held_labels = labels[held]
            mass = weights[held]
            X = take_rows(X, rows)
            labels = labels[rows]
            weights = weights[rows]
            truth = np.where(mass > 0, self._is_positive(held_labels), -1)
            self._check_enough(truth)
        arguments: dict[str, Any] = dict(routed)
        if sample_weight is not None:
            arguments |= hand_on_weights(model, weights, owner)
        with warnings.catch_warnings():
            # A search passes through ratios at which one class takes all rows; only the outcome
            # counts.
            warnings.simplefilter("ignore", CollapseWarning)
            self.cost_ratio_: float | None = None
            if cost_parameter is not None:
                self._search(model, cost_parameter, X, labels, weights, arguments, seed)
            self.estimator_ = model.fit(X, labels, **arguments)
        self.threshold_: float | None = None
        if self.delta is not None:
            self._set_threshold(X_held, truth)
        decisions = self.predict(X)
        if (decisions == decisions[0]).all():
            warnings.warn(
                f"{owner} predicts class {decisions.tolist()[0]!r} for every training row. Name a "
                "looser rate, or give the estimator more rows.",
                CollapseWarning,
                stacklevel=4,
            )

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata reaches the estimator: its fit gets what it asks for.

        Returns
        -------
        MetadataRouter
            The routing of scikit-learn.
        """
        return route_to_fit(self)

    def _model(self, seed: int | None = None) -> Any:
        """The estimator, unfitted."""
        if self.estimator is not None:
            return clone(self.estimator)
        # Imported here because AdaMEC, one of the algorithms, builds on this package.
        from costboost.algorithms.landesa2012 import AdaBoostCClassifier

        return AdaBoostCClassifier(estimator="stump", random_state=seed)

    def _cost_parameter(self, model: Any) -> str | None:
        """Name of the estimator's parameter that takes the costs; None if it takes none."""
        owner, kind = type(self).__name__, type(model).__name__
        parameters = model.get_params()
        if "cost_matrix" in parameters:
            return "cost_matrix"
        nested = [name for name in parameters if name.endswith("__cost_matrix")]
        if len(nested) > 1:
            raise ValueError(
                f"The 'estimator' parameter of {owner} must take costs in one place; {kind} takes "
                f"them in {nested}. Keep one cost-sensitive step."
            )
        if not nested and self.delta is None:
            raise ValueError(
                f"The 'estimator' parameter of {owner} must have the parameter cost_matrix; {kind} "
                "does not. Set delta, which puts a threshold on the scores of any classifier."
            )
        return nested[0] if nested else None

    # -- the search -----------------------------------------------------------------------------

    def _is_positive(self, labels: AnyArray) -> Bools:
        return np.asarray(labels == self.classes_[self._positive_index], dtype=np.bool_)

    @property
    def _limit(self) -> tuple[int, float]:
        """Whether the named rate is about positives, and the largest share of errors on them."""
        if self.false_alarm_rate is not None:
            return 0, self.false_alarm_rate
        return 1, 1.0 - self._detection_rate

    @property
    def _detection_rate(self) -> float:
        return DETECTION_RATE if self.detection_rate is None else self.detection_rate

    def _search(
        self, model: Any, costs: str, X: Any, y: AnyArray, mass: Floats, arguments: Any, seed: int
    ) -> None:
        """Bisect the cost ratio on a log scale, and leave the best in the parameter `costs`."""
        positive = self._is_positive(y)
        if not (mass[positive].any() and mass[~positive].any()):
            raise ValueError(
                f"sample_weight of {type(self).__name__} leaves only one class with weights above "
                "0, and rates need both."
            )
        # The same folds for every trial, so that trials differ by the ratio alone.
        splitter = limit_folds(self, np.searchsorted(self.classes_, y))
        if isinstance(splitter, int):
            splitter = StratifiedKFold(splitter, shuffle=True, random_state=seed)
        folds = list(check_cv(splitter, y, classifier=True).split(X, y))
        about = self.false_alarm_rate is None
        named = self._detection_rate
        if self.false_alarm_rate is not None:
            named = self.false_alarm_rate
        # Around the odds of the classes, where the two classes weigh the same.
        centre = math.log10(mass[~positive].sum() / mass[positive].sum())
        low, high = centre - _DECADES, centre + _DECADES
        # What a trial has to spare, its false-alarm and detection rates, its ratio.
        trials: list[tuple[float, float, float, float]] = []
        p = self._positive_index
        while len(trials) < self.n_trials:
            middle = 0.5 * (low + high)
            matrix = np.zeros((2, 2))
            matrix[p, 1 - p], matrix[1 - p, p] = 10.0**middle, 1.0
            model.set_params(**{costs: matrix})
            decided = cross_val_predict(model, X, y, cv=folds, n_jobs=self.n_jobs, params=arguments)
            flagged = self._is_positive(decided)
            alarmed, detected = (
                float(np.average(flagged[part], weights=mass[part]))
                for part in (~positive, positive)
            )
            spare = detected - named if about else named - alarmed
            trials.append((spare, alarmed, detected, 10.0**middle))
            if 0 <= spare <= self.tol:
                break
            # Met with room: towards the better other rate. Not met: away from it.
            if (spare >= 0) == about:
                high = middle
            else:
                low = middle
        # Of the trials that meet the rate, the one whose other rate is best; else the nearest.
        met = [trial for trial in trials if trial[0] >= 0]
        best = min(met or [max(trials)], key=lambda trial: trial[1] if about else -trial[2])
        _, self.false_alarm_rate_, self.detection_rate_, ratio = best
        if not met and self.delta is None:  # else the threshold sees to the rate
            warnings.warn(
                f"{type(self).__name__} met the named rate at none of {len(trials)} cost ratios; "
                f"the nearest, {ratio:.3g}, gives a detection rate of {self.detection_rate_:.3f} "
                f"and a false-alarm rate of {self.false_alarm_rate_:.3f}. Name a looser rate, "
                "raise n_trials, set delta, or use an estimator that fits less closely.",
                ConvergenceWarning,
                stacklevel=5,
            )
        matrix[p, 1 - p] = ratio
        model.set_params(**{costs: matrix})
        self.cost_ratio_ = ratio

    # -- the threshold --------------------------------------------------------------------------

    def _set_threshold(self, X: Any, truth: Ints) -> None:
        """Put the threshold on the scores of held-out rows: 1 positive, 0 negative, -1 left out."""
        scores, (about, limit) = self._scores(X), self._limit
        # Towards the errors: low scores of positives, high scores of negatives.
        side = -1.0 if about else 1.0
        threshold = side * order_threshold(
            side * scores[truth == about], limit, float(self.delta or 0.0)
        )
        # A miss must have a score below the order statistic: detection at the statistic itself.
        self.threshold_ = float(np.nextafter(threshold, -np.inf)) if about else threshold
        flagged = scores > self.threshold_
        self.false_alarm_rate_, self.detection_rate_ = (
            float(flagged[truth == one].mean()) if (truth == one).any() else math.nan
            for one in (0, 1)
        )

    def _check_enough(self, truth: Ints) -> None:
        """Refuse too few held-out rows before anything is fitted."""
        about, limit = self._limit
        n, delta = int((truth == about).sum()), float(self.delta or 0.0)
        if order_rank(n, limit, delta) > n:
            index = self._positive_index if about else 1 - self._positive_index
            rate = f"false_alarm_rate={self.false_alarm_rate!r}"
            if about:
                rate = f"detection_rate={self._detection_rate!r}"
            raise ValueError(
                f"{type(self).__name__} holds out {n} rows of class "
                f"{self.classes_.tolist()[index]!r}, and {rate} with "
                f"delta={self.delta!r} needs at least {rows_needed(limit, delta)}. Give it more "
                "rows of that class, raise held_out or delta, or name a looser rate."
            )

    def _scores(self, X: Any) -> Floats:
        """Scores towards the positive class, (n,)."""
        p = self._positive_index
        if hasattr(self.estimator_, "decision_function"):
            scores = np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
            return scores if p == 1 else -scores
        return np.asarray(self.estimator_.predict_proba(X)[:, p], dtype=np.float64)

    # -- predict --------------------------------------------------------------------------------

    @available_if(_has_scores)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The estimator's score, less the threshold if there is one.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            Scores towards ``classes_[1]``, decided by their sign.
        """
        X = check_features(self, X)
        if self.threshold_ is None:
            return np.asarray(self.estimator_.decision_function(X))
        excess = self._scores(X) - self.threshold_
        return excess if self._positive_index == 1 else -excess

    def predict(self, X: Any) -> AnyArray:
        """The decision for each row: the estimator's, or by the threshold if there is one.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            Class labels.
        """
        X = check_features(self, X)
        if self.threshold_ is None:
            return np.asarray(self.estimator_.predict(X))
        flagged = self._scores(X) > self.threshold_
        p = self._positive_index
        return np.asarray(self.classes_[np.where(flagged, p, 1 - p)])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Youden's index: detection rate less false-alarm rate.

        It is the savings if an error costs the reciprocal of the size of its class.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            1 for no error, 0 for a constant decision.
        """
        options = {"sample_weight": sample_weight, "adjusted": True}
        return float(balanced_accuracy_score(y, self.predict(X), **options))

    save = CostSensitiveClassifier.save

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._model()).input_tags
        tags.classifier_tags.multi_class = False
        return tags
