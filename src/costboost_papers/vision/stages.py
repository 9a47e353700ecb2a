"""The stages of a cascade: how one is trained, and all of them as one compiled table of stumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from costboost._typing import AnyArray, Floats, Ints
from costboost.decisions.guarantee import order_threshold
from costboost.learners.base import ConstantRule, voted
from costboost.learners.steps import StepRule
from costboost_papers.vision._kernels import compiled
from costboost_papers.vision.features import FLAT, HaarFeatures, Windows
from costboost_papers.vision.haar_stump import HaarRule, HaarStump
from costboost_papers.vision.images import varied_windows

__all__ = [
    "HeldOutStage",
    "Stage",
    "StumpTable",
    "check_together",
    "columns_of",
    "compiled_stages",
    "held_out_stage",
    "set_aside",
    "stage_lines",
    "stumps_of",
]

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


def uses_haar_stumps(estimator: Any) -> bool:
    """Whether a classifier takes flat pixels and finds its own Haar features."""
    return isinstance(getattr(estimator, "estimator", None), HaarStump)


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
        cascade.estimator is None or uses_haar_stumps(cascade.estimator)
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
        joined = Stumps(
            np.concatenate([part.points for part in stages]),
            np.concatenate([part.weights for part in stages]),
            np.concatenate([part.counts for part in stages]),
            np.concatenate([part.excess for part in stages]),
            np.concatenate([part.edges for part in stages]),
            np.concatenate([part.outputs for part in stages]),
            level=0.0,
            shape=stages[0].shape,
        )
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


def stage_lines(stages: Sequence[Stage]) -> list[str]:
    """The stages as lines of plain text: training windows and rates of each."""
    lines = ["stage  rounds  features  positives  negatives  detected  false alarms  in all"]
    for k, s in enumerate(stages):
        lines.append(
            f"{k + 1:5d}  {s.classifier.estimator_.n_estimators:6d}  {len(s.columns):8d}  "
            f"{s.n_positives:9d}  {s.n_negatives:9d}  {s.detection_rate:8.3f}  "
            f"{s.false_alarm_rate:12.3f}  {s.total_false_alarm_rate:6.4f}"
        )
    return lines


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
