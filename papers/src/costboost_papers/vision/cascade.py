"""The attentional cascade: stages that each let almost every face pass and stop many others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from skimage.util import invert
from sklearn.base import clone
from sklearn.datasets import load_sample_images
from sklearn.utils import check_random_state

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost.algorithms import AsymmetricAdaBoostClassifier
from costboost.learners.base import voted
from costboost_papers.vision import _kernels as kernels
from costboost_papers.vision.features import FLAT, Windows
from costboost_papers.vision.haar_stump import HaarRule, HaarStump
from costboost_papers.vision.images import (
    BACKGROUNDS,
    background_pictures,
    face_windows,
    grey,
    picture_levels,
    varied_windows,
)

# How many times as many windows are looked at as the pass rate asks for, since it is an estimate.
_SPARE = 2.0
# Windows whose integral images are in memory at a time.
_BATCH = 2048


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
        sizes = [level.shape for level in self._levels]
        self.n_windows = sum((rows - h + 1) * (columns - w + 1) for rows, columns in sizes)

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
        for level in self._levels:
            windows = Windows.of_image(level, self.shape)
            if share < 1.0:
                windows = windows.take(rng.random_sample(len(windows)) < share)
            kept = windows.take(passes(windows))
            views = np.lib.stride_tricks.sliding_window_view(level, self.shape)
            found.append(views[kept.tops, kept.lefts])
        return np.concatenate(found)


# --- stages --------------------------------------------------------------------------------------


class Stage(NamedTuple):
    """A stage of a cascade, and how it did."""

    classifier: Any  # boosted stumps on Haar features
    threshold: float  # taken off its score
    n_positives: int
    n_negatives: int
    detection_rate: float
    false_alarm_rate: float
    total_detection_rate: float = 1.0
    total_false_alarm_rate: float = 1.0


class StumpTable:
    """The stumps of classifiers, each less a threshold, run on windows by one compiled loop."""

    def __init__(self, stages: Sequence[tuple[Any, float]]) -> None:
        rules: list[HaarRule] = []
        outputs, ends, levels = [], [], []
        for model, threshold in stages:
            level = -threshold  # what the score of the stage starts from
            for rule, vote in zip(model.estimators_, model.estimator_weights_, strict=True):
                if isinstance(rule, HaarRule):
                    rules.append(rule)
                    outputs.append(voted(vote, np.array([rule.low, rule.high])))
                else:  # a constant
                    level += float(voted(vote, np.array(rule.value)))
            levels.append(level)
            ends.append(len(rules))
        if not rules:
            raise ValueError(
                "A stage found no feature that tells its windows apart. Give more windows."
            )
        self.ends, self.levels = np.array(ends), np.array(levels)
        self.points, *self.columns = (
            np.array([getattr(rule.features, name)[rule.feature] for rule in rules])
            for name in ("points_", "weights_", "counts_", "excess_")
        )
        self.columns += [np.array([rule.edge for rule in rules]), np.array(outputs)]

    def run(self, windows: Windows) -> tuple[Floats, Ints]:
        """Score at the last stage that a window sees, and the number of stages it passes."""
        scores, passed = np.zeros(len(windows)), np.zeros(len(windows), dtype=np.intp)
        m, width = len(windows.sums), windows.sums.shape[2]
        h, w = windows.shape
        kernels.cascade(
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
            self.points @ np.array([width, 1]),
            *self.columns,
            scores,
            passed,
        )
        return scores, passed


# --- cascade -------------------------------------------------------------------------------------


@dataclass
class CascadeClassifier:
    """Attentional cascade of boosted classifiers on Haar-like features."""

    # A window is positive if it passes every stage; a window that fails one is never looked at
    # again, so that the many windows without an object cost little (Viola & Jones 2004). Each stage
    # is the ``estimator``, a classifier with the learner `HaarStump`, with more rounds than the one
    # before; its score is added to those of the stages before. A share of the positives,
    # ``validation``, is set aside for all stages, and a stage's threshold is where it detects the
    # named share of them: the rates it reports are those of windows that no stage was trained on.
    # The negatives of a stage are false alarms of the stages before it, of the training rows and
    # of pictures without an object.
    #
    # Training ends after the last stage, when the product of the stages' false-alarm rates has come
    # down to ``false_alarm_rate``, or when fewer than ``min_negatives`` false alarms are left.

    estimator: Any
    rounds: Sequence[int] = (5, 10, 20, 40)
    detection_rate: float = 0.99
    false_alarm_rate: float = 1e-4
    max_negatives: int = 1000
    min_negatives: int = 20
    validation: float = 0.2
    copies: int = 0  # varied ones, of each positive
    random_state: Any = None

    # -- fit ------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, pictures: Sequence[AnyArray] = ()) -> Self:
        """Train the stages in turn."""
        pixels, labels = np.asarray(X), np.asarray(y)
        self.classes_ = np.unique(labels)
        if pixels.ndim != 3 or len(self.classes_) != 2:
            raise ValueError(
                "CascadeClassifier needs a stack of grey windows, (n, h, w), of two classes; got "
                f"an array of shape {pixels.shape} and {len(self.classes_)} classes."
            )
        if not isinstance(getattr(self.estimator, "estimator", None), HaarStump):
            raise ValueError(
                "The 'estimator' parameter of CascadeClassifier must be a classifier with "
                f"estimator=HaarStump(...). Got {self.estimator!r} instead."
            )
        self.shape_ = pixels.shape[1:]
        rng = check_random_state(self.random_state)
        rng.randint(np.iinfo(np.int32).max)  # as before: the same seed trains the same cascade
        positive = labels == self.classes_[1]
        faces, held = self._set_aside(pixels[positive], rng)
        mine = PictureMine(pictures, self.shape_) if len(pictures) else None
        self.stages_: list[Stage] = []
        self.stop_ = f"all {len(self.rounds)} stages are trained"
        others = pixels[~positive]
        earlier = others[:0]
        for n_rounds in self.rounds:
            negatives = self._negatives(others, mine, rng)
            if len(negatives) < self.min_negatives and self.stages_:
                self.stop_ = f"only {len(negatives)} false alarms are left to learn from"
                break
            stage = self._fit_stage(n_rounds, faces, held, negatives, earlier, rng)
            self.stages_.append(stage)
            self._table = StumpTable([(s.classifier, s.threshold) for s in self.stages_])
            earlier = np.concatenate([negatives, earlier])[: self.max_negatives]
            if stage.total_false_alarm_rate <= self.false_alarm_rate:
                self.stop_ = "the false-alarm rate is reached"
                break
            faces, held = (part.take(self._passes(part)) for part in (faces, held))
            others = others[self.decision_function(others) >= 0]
        return self

    def _set_aside(self, faces: AnyArray, rng: np.random.RandomState) -> list[Windows]:
        """The positives to train on and those that set thresholds, with their varied copies."""
        order = rng.permutation(len(faces))
        n_held = round(self.validation * len(faces))
        parts = [faces[order[n_held:]], faces[order[:n_held]]]
        if self.copies:
            parts = [
                np.concatenate([part, varied_windows(part, self.copies, random_state=rng)])
                for part in parts
            ]
        return [Windows.of_stack(part) for part in parts]

    def _negatives(
        self, alive: AnyArray, mine: PictureMine | None, rng: np.random.RandomState
    ) -> AnyArray:
        """False alarms of the stages so far: of the windows given, and as many of the pictures."""
        if mine is None:
            return alive[rng.permutation(len(alive))[: self.max_negatives]]
        given = alive[rng.permutation(len(alive))[: self.max_negatives // 2]]
        rate = self.stages_[-1].total_false_alarm_rate if self.stages_ else 1.0
        mined = mine.draw(self.max_negatives - len(given), self._passes, rate, rng)
        both = np.concatenate([given, mined])
        return both[rng.permutation(len(both))]

    def _fit_stage(
        self,
        n_rounds: int,
        faces: Windows,
        held: Windows,
        others: AnyArray,
        earlier: AnyArray,
        rng: np.random.RandomState,
    ) -> Stage:
        """A stage whose threshold meets the detection rate on the positives set aside."""
        seed = int(rng.randint(np.iinfo(np.int32).max))
        model = clone(self.estimator).set_params(n_estimators=int(n_rounds))
        if model.random_state is None:
            model.set_params(random_state=seed)
        # Few false alarms are too few to learn from: half of the negatives may be older ones. A
        # fifth of the new ones measures the false-alarm rate.
        fill = earlier[: max(self.max_negatives // 2 - len(others), 0)]
        n_measure = len(others) // 5
        measure, learn = others[:n_measure], np.concatenate([others[n_measure:], fill])
        rows = np.concatenate([learn, faces.pixels()]).reshape(len(learn) + len(faces), -1)
        model.fit(rows, np.repeat([0, 1], [len(learn), len(faces)]))
        table = StumpTable([(model, 0.0)])

        def scores(windows: Windows) -> Floats:
            own = table.run(windows)[0]
            return own + self.score_windows(windows) if self.stages_ else own

        found = scores(held)
        threshold = float(np.sort(found)[int((1.0 - self.detection_rate) * len(found))])
        alarms = scores(Windows.of_stack(measure)) >= threshold
        rates = float((found >= threshold).mean()), float(alarms.mean())
        last = self.stages_[-1][-2:] if self.stages_ else (1.0, 1.0)
        sizes = (len(faces), len(others))
        return Stage(model, threshold, *sizes, *rates, rates[0] * last[0], rates[1] * last[1])

    def _passes(self, windows: Windows) -> Bools:
        """Which windows pass all stages so far."""
        if not self.stages_:
            return np.ones(len(windows), dtype=np.bool_)
        return np.asarray(self.score_windows(windows) >= 0)

    # -- predict --------------------------------------------------------------------------------

    def score_windows(self, windows: Windows) -> Floats:
        """`decision_function` for windows that lie in larger images."""
        # Where all stages are passed, the score of the last. A window that fails with j more to
        # come has a score in (-j - 1, -j).
        scores, passed = self._table.run(windows)
        failed, left = scores < 0, len(self.stages_) - 1 - passed
        scores[failed] = 2.0 * expit(scores[failed]) - 1.0 - left[failed]
        return scores

    def decision_function(self, X: ArrayLike) -> Floats:
        """How far each window gets, and by how much."""
        pixels = np.asarray(X)
        if pixels.ndim != 3 or pixels.shape[1:] != self.shape_:
            raise ValueError(
                f"{type(self).__name__} needs windows of the shape seen in fit, "
                f"(n, {self.shape_[0]}, {self.shape_[1]}); got an array of shape {pixels.shape}. "
                "Resize them."
            )
        parts = [
            self.score_windows(Windows.of_stack(pixels[start : start + _BATCH]))
            for start in range(0, len(pixels), _BATCH)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def predict(self, X: ArrayLike) -> AnyArray:
        """Which windows pass every stage."""
        return np.asarray(self.classes_[(self.decision_function(X) >= 0).astype(np.intp)])

    def report(self) -> str:
        """The stages as a table in plain text: training windows and rates of each."""
        lines = ["stage  rounds  positives  negatives  detected  false alarms  in all"]
        for k, s in enumerate(self.stages_):
            lines.append(
                f"{k + 1:5d}  {s.classifier.n_estimators:6d}  {s.n_positives:9d}  "
                f"{s.n_negatives:9d}  {s.detection_rate:8.3f}  {s.false_alarm_rate:12.3f}  "
                f"{s.total_false_alarm_rate:6.4f}"
            )
        return "\n".join([*lines, f"ended: {self.stop_}"])


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
    return views + [invert(view) for view in views]


def face_cascade(
    source: str | Path | None = None,
    *,
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
    windows, y = face_windows(source)
    h, w = windows.shape[1:]
    few = source is None
    cascade = CascadeClassifier(
        AsymmetricAdaBoostClassifier({"fn": 2, "fp": 1}, estimator=HaarStump((h, w), max_features)),
        rounds=rounds,
        detection_rate=0.97 if few else 0.995,
        false_alarm_rate=1e-7,
        max_negatives=5000 if few else 8000,
        min_negatives=50,
        copies=20 if few else 4,
        random_state=random_state,
    )
    chosen = face_free_pictures() if pictures is None else pictures
    return cascade.fit(windows, y, pictures=chosen)
