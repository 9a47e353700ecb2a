"""The attentional cascade: stages that each let almost every face pass and stop many others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_sample_images
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._utils import (
    BOOLEAN,
    FOLDS,
    N_JOBS,
    Constraint,
    check_parameters,
    integer,
    share,
)
from costboost.algorithms import AsymmetricAdaBoostClassifier
from costboost.decisions.guarantee import order_threshold
from costboost.learners import Stump
from costboost.learners.base import ConstantRule, voted
from costboost.learners.steps import StepRule
from costboost.wrappers import TargetRateClassifier
from costboost_papers.vision._kernels import compiled
from costboost_papers.vision.features import FLAT, HaarFeatures, Windows, import_skimage
from costboost_papers.vision.haar_stump import HaarRule, HaarStump
from costboost_papers.vision.images import (
    BACKGROUNDS,
    background_pictures,
    face_windows,
    grey,
    picture_levels,
    varied_windows,
)

# --- mining --------------------------------------------------------------------------------------

# How many times as many windows are looked at as the pass rate asks for, since it is an estimate.
_SPARE = 2.0


class PictureMine:
    """Pictures without an object, from which false alarms are drawn."""

    def __init__(self, pictures: Sequence[AnyArray], shape: tuple[int, int]) -> None:
        self.shape = shape
        self._levels = [
            level.astype(np.float32)
            for picture in pictures
            for level in picture_levels(grey(picture), shape)
        ]
        h, w = shape
        self._sizes = np.array(
            [(level.shape[0] - h + 1) * (level.shape[1] - w + 1) for level in self._levels]
        )
        self.n_windows = int(self._sizes.sum())
        self.scanned = 0

    def draw(
        self, wanted: int, passes: Callable[[Windows], Bools], rate: float, rng: Any
    ) -> Floats:
        """Windows that pass, (m, h, w) with m at most ``wanted``."""
        share = min(1.0, _SPARE * wanted / max(rate * self.n_windows, 1e-12))
        cuts = self._sample(share, passes, rng)
        while len(cuts) < wanted and share < 1.0:
            # Fewer pass than was thought: look at more.
            share = min(1.0, share * max(4.0, _SPARE * wanted / max(len(cuts), 1)))
            cuts = self._sample(share, passes, rng)
        return np.asarray(cuts[rng.permutation(len(cuts))[:wanted]], dtype=np.float64)

    def _sample(self, share: float, passes: Callable[[Windows], Bools], rng: Any) -> AnyArray:
        """The windows that pass, of a share of all."""
        found: list[AnyArray] = [np.empty((0, *self.shape), dtype=np.float32)]
        self.scanned = 0
        for level in self._levels:
            windows = Windows.of_image(level, self.shape)
            if share < 1.0:
                windows = windows.take(np.flatnonzero(rng.random_sample(len(windows)) < share))
            self.scanned += len(windows)
            kept = windows.take(np.flatnonzero(passes(windows)))
            views = np.lib.stride_tricks.sliding_window_view(level, self.shape)
            found.append(views[kept.tops, kept.lefts])
        return np.concatenate(found)


# --- stages --------------------------------------------------------------------------------------

# Windows whose features are in memory at a time.
BATCH = 2048


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage of a cascade, and how it did."""

    classifier: Any
    columns: Ints
    n_positives: int
    n_negatives: int
    detection_rate: float
    false_alarm_rate: float
    total_detection_rate: float
    total_false_alarm_rate: float

    def scores(self, features: HaarFeatures, windows: Windows) -> Floats:
        """Scores of the windows towards the positive class; 0 and above pass."""
        if isinstance(self.classifier, HeldOutStage):
            return self.classifier.scores(windows)
        scores = np.empty(len(windows))
        for start in range(0, len(windows), BATCH):
            part = windows.take(slice(start, start + BATCH))
            rows = features.compute(part, self.columns)
            scores[start : start + BATCH] = self.classifier.decision_function(rows)
        return scores


class HeldOutStage:
    """A boosted classifier of stumps on Haar features, its threshold set on held-out faces."""

    def __init__(self, estimator: Any, threshold: float) -> None:
        self.estimator_ = estimator
        self.threshold_ = threshold
        found = stumps_of(estimator, None, threshold)
        if found is None:
            raise ValueError(
                "estimator of HeldOutStage must have rules of HaarStump and normalised windows."
            )
        self._table = StumpTable.join([found])

    def scores(self, windows: Windows) -> Floats:
        """Scores less the threshold, (n,)."""
        return self._table.run(windows)[0]


def check_together(cascade: Any) -> None:
    """Raise a ValueError if parameters of a cascade do not go together."""
    owner = type(cascade).__name__
    for name in ("detection_rate", "false_alarm_rate"):
        if getattr(cascade, name) is None:
            words = "must be a number in (0, 1). Got None instead."
            raise ValueError(f"The {name!r} parameter of {owner} {words}")
    if not len(cascade.rounds) or min(cascade.rounds) < 1:
        raise ValueError(
            f"The 'rounds' parameter of {owner} must name at least one stage, each with an "
            f"integer >= 1. Got {cascade.rounds!r} instead."
        )
    if cascade.validation is not None and not (
        cascade.estimator is None
        or isinstance(getattr(cascade.estimator, "estimator", None), HaarStump)
    ):
        raise ValueError(
            f"The 'estimator' parameter of {owner} must be a classifier with "
            f"estimator=HaarStump(...) if there is a validation share. Got {cascade.estimator!r} "
            "instead."
        )
    if cascade.carry and cascade.validation is None:
        raise ValueError(
            f"The 'carry' parameter of {owner} must be False if there is no validation share. "
            "Got True instead. Set validation, for example to 0.2."
        )
    if not 2 <= cascade.min_negatives <= cascade.max_negatives:
        raise ValueError(
            f"The 'min_negatives' parameter of {owner} must be an integer from 2 to "
            f"max_negatives ({cascade.max_negatives!r}). Got {cascade.min_negatives!r} instead."
        )


class Stumps(NamedTuple):
    """A sum of stumps on Haar features, less a threshold."""

    points: Ints  # (m, 9, 2)
    weights: Floats  # (m, 9)
    counts: Ints  # (m,)
    excess: Floats  # (m,)
    edges: Floats  # (m,)
    outputs: Floats  # (m, 2) at most the edge, above it
    level: float  # what the sum starts from
    shape: tuple[int, int]


def stumps_of(model: Any, features: HaarFeatures | None, threshold: float = 0.0) -> Stumps | None:
    """The stumps of a fitted classifier; None if it has rules of another kind."""
    rules, votes = getattr(model, "estimators_", ()), getattr(model, "estimator_weights_", ())
    level, found = -threshold, []
    for rule, vote in zip(rules, votes, strict=True):
        if isinstance(rule, ConstantRule):
            level += float(voted(vote, np.array(rule.value)))
        elif isinstance(rule, HaarRule):
            features = rule.features
            found.append((rule.feature, rule.edge, voted(vote, np.array([rule.low, rule.high]))))
        elif isinstance(rule, StepRule) and len(rule.edges) == 1 and features is not None:
            found.append((rule.feature, float(rule.edges[0]), voted(vote, rule.outputs[:2])))
        else:
            return None
    if not found or features is None or not features.normalize:
        return None
    columns = np.array([feature for feature, _, _ in found])
    return Stumps(
        features._points[columns],
        features._weights[columns],
        features._counts[columns],
        features._excess[columns],
        np.array([edge for _, edge, _ in found]),
        np.array([outputs for _, _, outputs in found]),
        level,
        features.shape_,
    )


@dataclass(frozen=True, eq=False)
class StumpTable:
    """The stumps of all stages of a cascade, run on windows by one compiled loop."""

    stumps: Stumps
    ends: Ints  # (stages,) the stump after the last one of each stage
    levels: Floats  # (stages,)
    carry: bool = False  # whether a stage starts from the score of the one before it

    @classmethod
    def join(cls, stages: Sequence[Stumps], carry: bool = False) -> StumpTable:
        """The table of several stages' stumps, in their order."""
        points, weights, counts, excess, edges, outputs = (
            np.concatenate(column) for column in zip(*(part[:6] for part in stages), strict=True)
        )
        shape = stages[0].shape
        joined = Stumps(points, weights, counts, excess, edges, outputs, 0.0, shape)
        ends = np.cumsum([len(part.edges) for part in stages])
        return cls(joined, ends, np.array([part.level for part in stages]), carry)

    def run(self, windows: Windows) -> tuple[Floats, Ints]:
        """Score at the last stage that a window sees, and the number of stages it passes."""
        scores, passed = np.zeros(len(windows)), np.zeros(len(windows), dtype=np.intp)
        m, width = len(windows.sums), windows.sums.shape[2]
        h, w = windows.shape
        s = self.stumps
        compiled()["cascade"](
            windows.sums.reshape(m, -1),
            windows.squares.reshape(m, -1),
            windows.image,
            windows.tops,
            windows.lefts,
            width,
            (h * width, w, h * width + w, h * w),
            FLAT,
            self.ends,
            self.levels,
            self.carry,
            s.points @ np.array([width, 1]),
            s.weights,
            s.counts,
            s.excess,
            s.edges,
            s.outputs,
            scores,
            passed,
        )
        return scores, passed

    def decision_scores(self, windows: Windows) -> Floats:
        """Score of the last stage where all are passed; else how many stages were left, (n,)."""
        # A window that fails with j more stages to come has a score in [-j - 1, -j].
        scores, passed = self.run(windows)
        # Squashed into (-1, 0) below the integer that says how many stages were left.
        failed, left = scores < 0, len(self.ends) - 1 - passed
        scores[failed] = 2.0 * expit(scores[failed]) - 1.0 - left[failed]
        return scores


def compiled_stages(
    stages: Sequence[Stage], features: HaarFeatures, carry: bool = False
) -> StumpTable | None:
    """All stages as one table of stumps; None if some have rules of another kind."""
    parts = []
    for stage in stages:
        classifier = stage.classifier
        part = stumps_of(classifier.estimator_, features, classifier.threshold_ or 0.0)
        if part is None:
            return None
        parts.append(part)
    return StumpTable.join(parts, carry)


def columns_of(model: Any, n_features: int) -> Ints:
    """The features that a fitted model looks at; all of them if its rules do not say."""
    rules = [
        rule for rule in getattr(model, "estimators_", ()) if not isinstance(rule, ConstantRule)
    ]
    if rules and all(hasattr(rule, "feature") for rule in rules):
        return np.unique([rule.feature for rule in rules])
    return np.arange(n_features)


def set_aside(
    faces: AnyArray, share: float | None, copies: int, rng: np.random.RandomState
) -> tuple[Windows, Windows | None]:
    """The positives to train on and those that set thresholds, with their varied copies."""
    held: AnyArray | None = None
    if share is not None:
        order = rng.permutation(len(faces))
        n_held = round(share * len(faces))
        faces, held = faces[order[n_held:]], faces[order[:n_held]]
    if copies:
        faces = np.concatenate([faces, varied_windows(faces, copies, random_state=rng)])
        if held is not None:
            held = np.concatenate([held, varied_windows(held, copies, random_state=rng)])
    return Windows.of_stack(faces), None if held is None else Windows.of_stack(held)


def held_out_stage(
    model: Any,
    faces: Windows,
    held: Windows,
    others: AnyArray,
    fill: AnyArray,
    detection_rate: float,
    delta: float | None,
    carried: Callable[[Windows], Floats] | None = None,
) -> tuple[HeldOutStage, tuple[float, float]]:
    """A stage fitted once, whose threshold meets the detection rate on held-out positives."""
    n_measure = len(others) // 5
    measure, learn = others[:n_measure], np.concatenate([others[n_measure:], fill])
    rows = np.concatenate([learn, faces.pixels()]).reshape(len(learn) + len(faces), -1)
    model.fit(rows, np.repeat([0, 1], [len(learn), len(faces)]))
    stage = HeldOutStage(model, 0.0)

    def scores(windows: Windows) -> Floats:
        own = stage.scores(windows)
        return own if carried is None else own + carried(windows)

    found = scores(held)
    if delta is None:
        threshold = float(np.sort(found)[int((1.0 - detection_rate) * len(found))])
    else:
        threshold = -order_threshold(-found, 1.0 - detection_rate, delta)
    passed = (scores(held) >= threshold, scores(Windows.of_stack(measure)) >= threshold)
    return HeldOutStage(model, threshold), (float(passed[0].mean()), float(passed[1].mean()))


# --- cascade -------------------------------------------------------------------------------------


class CascadeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
        "detection_rate": share(optional=True),
        "false_alarm_rate": share(optional=True),
        "delta": share(optional=True),
        "cv": FOLDS,
        "n_trials": integer(1),
        "n_jobs": N_JOBS,
        "validation": share(optional=True),
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
        lines = ["stage  rounds  features  positives  negatives  detected  false alarms  in all"]
        for k, s in enumerate(self.stages_):
            lines.append(
                f"{k + 1:5d}  {s.classifier.estimator_.n_estimators:6d}  {len(s.columns):8d}  "
                f"{s.n_positives:9d}  {s.n_negatives:9d}  {s.detection_rate:8.3f}  "
                f"{s.false_alarm_rate:12.3f}  {s.total_false_alarm_rate:6.4f}"
            )
        return "\n".join([*lines, f"ended: {self.stop_}"])

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


# --- recipe --------------------------------------------------------------------------------------

# Pictures without a face that are kept from training, to look for false alarms in.
HELD_OUT = ("brick", "coffee", "gravel")
_ROUNDS = (5, 10, 20, 40, 60, 80, 100, 120, 150, 200, 200, 200)


def face_free_pictures() -> list[AnyArray]:
    """Pictures without a face from scikit-image and scikit-learn."""
    # Each comes as it is, upside down and turned to the side, and as the negatives of these three.
    # Those named in ``HELD_OUT`` are left out.
    found = background_pictures([name for name in BACKGROUNDS if name not in HELD_OUT])
    found += list(load_sample_images().images)
    views = [view for picture in found for view in (picture, np.flipud(picture), np.rot90(picture))]
    return views + [import_skimage("util").invert(view) for view in views]


def face_cascade(
    source: str | Path | None = None,
    *,
    part: str | None = "train",
    pictures: Sequence[AnyArray] | None = None,
    rounds: Sequence[int] = _ROUNDS,
    max_features: int = 4000,
    random_state: int = 0,
) -> CascadeClassifier:
    """Train a cascade of face detectors."""
    # Each stage is Viola and Jones's asymmetric AdaBoost, for which a missed face costs twice a
    # false alarm, on a random choice of the Haar features of the window; its score is added to
    # those of the stages before. Every face comes with four varied copies; a fifth of the faces
    # sets the thresholds, at 99.5 % of them per stage; the negatives are false alarms of the
    # earlier stages.
    windows, y = face_windows() if source is None else face_windows(source, part=part)
    h, w = windows.shape[1:]
    model = AsymmetricAdaBoostClassifier(
        {"fn": 2, "fp": 1}, estimator=HaarStump((h, w), max_features)
    )
    cascade = CascadeClassifier(
        model,
        rounds=rounds,
        detection_rate=0.97 if source is None else 0.995,
        false_alarm_rate=1e-7,
        max_negatives=5000 if source is None else 8000,
        min_negatives=50,
        validation=0.2,
        copies=20 if source is None else 4,
        carry=True,
        random_state=random_state,
    )
    chosen = face_free_pictures() if pictures is None else pictures
    return cascade.fit(windows, y, pictures=chosen)
