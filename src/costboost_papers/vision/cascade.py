"""The attentional cascade: stages that each let almost every face pass and stop many others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Bools, Floats
from costboost._validation import (
    BOOLEAN,
    FOLDS,
    N_JOBS,
    Constraint,
    check_parameters,
    integer,
    optional_share,
)
from costboost.algorithms import AsymmetricAdaBoostClassifier
from costboost.learners import Stump
from costboost.wrappers import TargetRateClassifier
from costboost_papers.vision.features import HaarFeatures, Windows
from costboost_papers.vision.haar_stump import HaarStump
from costboost_papers.vision.mining import PictureMine
from costboost_papers.vision.stages import (
    BATCH,
    Stage,
    StumpTable,
    check_together,
    columns_of,
    compiled_stages,
    held_out_stage,
    set_aside,
    stage_lines,
)

__all__ = ["CascadeClassifier"]


class CascadeClassifier(ClassifierMixin, BaseEstimator):
    """Attentional cascade of boosted classifiers on Haar-like features."""

    # A window is positive if it passes every stage; a window that fails one is never looked at
    # again, so that the many windows without an object cost little. Each stage is the ``estimator``
    # with more rounds than the one before, whose cost ratio `TargetRateClassifier` chooses such
    # that the stage detects the named share of the positives. The negatives of a stage are false
    # alarms of the stages before it, drawn from those of the training rows and from a pool of
    # further windows (Viola & Jones 2004).
    #
    # With ``validation`` a share of the positives is set aside for all stages. A stage is then
    # fitted once, with the costs that the ``estimator`` has, and its threshold is set such that it
    # detects the named share of the positives set aside. This is far faster, and the rates it
    # reports are those of windows that no stage was trained on. The ``estimator`` must have the
    # learner `HaarStump`, which searches all features of a window.
    #
    # Training ends after the last stage, when the product of the stages' false-alarm rates has come
    # down to ``false_alarm_rate``, or when fewer than ``min_negatives`` false alarms are left.

    _rules: ClassVar[Mapping[str, Constraint]] = {
        "detection_rate": optional_share(),
        "false_alarm_rate": optional_share(),
        "delta": optional_share(),
        "cv": FOLDS,
        "n_trials": integer(1),
        "n_jobs": N_JOBS,
        "validation": optional_share(),
        "copies": integer(0),
        "carry": BOOLEAN,
    }

    def __init__(
        self,
        estimator: Any = None,
        features: HaarFeatures | None = None,
        rounds: Sequence[int] = (5, 10, 20, 40),
        detection_rate: float = 0.99,
        false_alarm_rate: float = 1e-4,
        delta: float | None = None,
        max_negatives: int = 1000,
        min_negatives: int = 20,
        cv: Any = 3,
        n_trials: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
        validation: float | None = None,
        copies: int = 0,
        carry: bool = False,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.rounds = rounds
        self.detection_rate = detection_rate
        self.false_alarm_rate = false_alarm_rate
        self.delta = delta
        self.max_negatives = max_negatives
        self.min_negatives = min_negatives
        self.cv = cv
        self.n_trials = n_trials
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.validation = validation
        self.copies = copies
        self.carry = carry

    # -- fit ------------------------------------------------------------------------------------

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        pool: ArrayLike | None = None,
        pictures: Sequence[AnyArray] = (),
    ) -> Self:
        """Train the stages in turn."""
        check_parameters(self)
        check_together(self)
        pixels, labels = np.asarray(X), np.asarray(y)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if len(self.classes_) != 2 or len(labels) != len(pixels):
            raise ValueError(
                f"y of {type(self).__name__} must name one of two classes for each of the "
                f"{len(pixels)} windows; got {len(labels)} labels of {len(self.classes_)} classes."
            )
        rng = check_random_state(self.random_state)
        features = clone(self.features or HaarFeatures(max_features=1000))
        if features.random_state is None:
            features.set_params(random_state=rng.randint(np.iinfo(np.int32).max))
        self.features_ = features.fit(pixels)
        self.n_features_in_ = self.features_.n_features_in_
        positive = labels == self.classes_[1]
        faces, held = set_aside(pixels[positive], self.validation, self.copies, rng)
        others = pixels[~positive]
        if pool is not None:
            others = np.concatenate([others, self._check_windows(pool)])
        mine = PictureMine(pictures, self.features_.shape_) if len(pictures) else None
        self._fit_stages(faces, held, others, mine, rng)
        return self

    def _fit_stages(
        self,
        faces: Windows,
        held: Windows | None,
        others: AnyArray,
        mine: PictureMine | None,
        rng: np.random.RandomState,
    ) -> None:
        self.stages_: list[Stage] = []
        self._table: StumpTable | None = None
        self.stop_ = f"all {len(self.rounds)} stages are trained"
        alive = np.arange(len(others))
        earlier = others[:0]
        for n_rounds in self.rounds:
            negatives = self._negatives(others[alive], mine, rng)
            if len(negatives) < self.min_negatives and self.stages_:
                self.stop_ = f"only {len(negatives)} false alarms are left to learn from"
                break
            stage = self._fit_stage(n_rounds, faces, held, negatives, earlier, rng)
            self.stages_.append(stage)
            self._table = compiled_stages(self.stages_, self.features_, self.carry)
            earlier = np.concatenate([negatives, earlier])[: self.max_negatives]
            if stage.total_false_alarm_rate <= self.false_alarm_rate:
                self.stop_ = "the false-alarm rate is reached"
                break
            faces = faces.take(self._passes(stage, faces))
            if held is not None:
                held = held.take(self._passes(stage, held))
            parts = [alive[start : start + BATCH] for start in range(0, len(alive), BATCH)]
            passed = [self._passes(stage, Windows.of_stack(others[part])) for part in parts]
            alive = alive[np.concatenate(passed)] if parts else alive

    def _negatives(
        self, alive: AnyArray, mine: PictureMine | None, rng: np.random.RandomState
    ) -> AnyArray:
        """False alarms of the stages so far: of the windows given, and as many of the pictures."""
        if mine is None:
            return alive[rng.permutation(len(alive))[: self.max_negatives]]
        given = alive[rng.permutation(len(alive))[: self.max_negatives // 2]]
        wanted = self.max_negatives - len(given)
        if self.stages_:
            rate = self.stages_[-1].total_false_alarm_rate
            mined = mine.draw(wanted, lambda windows: self.score_windows(windows) >= 0, rate, rng)
        else:
            mined = mine.draw(wanted, lambda windows: np.ones(len(windows), np.bool_), 1.0, rng)
        both = np.concatenate([given, mined])
        return both[rng.permutation(len(both))]

    def _fit_stage(
        self,
        n_rounds: int,
        faces: Windows,
        held: Windows | None,
        others: AnyArray,
        earlier: AnyArray,
        rng: np.random.RandomState,
    ) -> Stage:
        seed = int(rng.randint(np.iinfo(np.int32).max))
        model = self._model(seed).set_params(n_estimators=int(n_rounds))
        if held is None:
            classifier: Any = TargetRateClassifier(
                model,
                detection_rate=self.detection_rate,
                delta=self.delta,
                cv=self.cv,
                n_trials=self.n_trials,
                random_state=seed,
                n_jobs=self.n_jobs,
            )
            parts = [self.features_.compute(part) for part in (Windows.of_stack(others), faces)]
            labels = np.repeat([0, 1], [len(others), len(faces)])
            classifier.fit(np.concatenate(parts), labels)
            rates = classifier.detection_rate_, classifier.false_alarm_rate_
        else:
            # Few false alarms are too few to learn from: half of the negatives may be older ones.
            fill = earlier[: max(self.max_negatives // 2 - len(others), 0)]
            carried = self.score_windows if self.carry and self.stages_ else None
            classifier, rates = held_out_stage(
                model, faces, held, others, fill, self.detection_rate, self.delta, carried
            )
        columns = columns_of(classifier.estimator_, self.features_.n_features_out_)
        total = [1.0, 1.0]
        if self.stages_:
            total = [self.stages_[-1].total_detection_rate, self.stages_[-1].total_false_alarm_rate]
        totals = rates[0] * total[0], rates[1] * total[1]
        return Stage(classifier, columns, len(faces), len(others), *rates, *totals)

    def _model(self, seed: int) -> Any:
        learner: Any = Stump(max_bins=32)
        if self.validation is not None:
            learner = HaarStump(self.features_.shape_, self.features_.max_features)
        if self.estimator is None:
            return AsymmetricAdaBoostClassifier(estimator=learner, random_state=seed)
        model = clone(self.estimator)
        if "random_state" in model.get_params() and model.random_state is None:
            model.set_params(random_state=seed)
        return model

    def _passes(self, stage: Stage, windows: Windows) -> Bools:
        """Which windows pass a stage, of those that passed all before it."""
        if self.carry:
            return np.asarray(self.score_windows(windows) >= 0)
        return np.asarray(stage.scores(self.features_, windows) >= 0)

    # -- predict --------------------------------------------------------------------------------

    def score_windows(self, windows: Windows) -> Floats:
        """`decision_function` for windows that lie in larger images."""
        check_is_fitted(self)
        if self._table is not None:
            return self._table.decision_scores(windows)
        scores = np.empty(len(windows))
        alive = np.arange(len(windows))
        for k, stage in enumerate(self.stages_):
            stage_scores = stage.scores(self.features_, windows.take(alive))
            failed = stage_scores < 0
            left = len(self.stages_) - 1 - k
            scores[alive[failed]] = 2.0 * expit(stage_scores[failed]) - 1.0 - left
            alive, stage_scores = alive[~failed], stage_scores[~failed]
        scores[alive] = stage_scores
        return scores

    def decision_function(self, X: ArrayLike) -> Floats:
        """How far each window gets, and by how much."""
        check_is_fitted(self)
        pixels = self._check_windows(X)
        parts = [
            self.score_windows(Windows.of_stack(pixels[start : start + BATCH]))
            for start in range(0, len(pixels), BATCH)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def predict(self, X: ArrayLike) -> AnyArray:
        """Which windows pass every stage."""
        return np.asarray(self.classes_[(self.decision_function(X) >= 0).astype(np.intp)])

    def report(self) -> str:
        """The stages as a table in plain text: training windows and rates of each."""
        check_is_fitted(self)
        return "\n".join([*stage_lines(self.stages_), f"ended: {self.stop_}"])

    def _check_windows(self, X: ArrayLike) -> AnyArray:
        pixels = np.asarray(X)
        if pixels.ndim != 3 or pixels.shape[1:] != self.features_.shape_:
            raise ValueError(
                f"{type(self).__name__} needs windows of the shape seen in fit, "
                f"(n, {self.features_.shape_[0]}, {self.features_.shape_[1]}); got an array of "
                f"shape {pixels.shape}. Resize them."
            )
        return pixels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.classifier_tags.multi_class = False
        return tags
