"""Figure 4: the windows of a draw, and the scores of all detectors trained on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.utils import check_random_state

from costboost._typing import Floats, Ints
from costboost.boosting import BinaryProblem
from costboost.datasets.files import _folder
from costboost.learners.base import Rows
from costboost.losses.base import cost_pair
from costboost_papers.item import Mode
from costboost_papers.masnadi2007.faces_verdicts import HELD_OUT, OURS, PLAIN, TEST
from costboost_papers.masnadi2007.methods import classifier
from costboost_papers.vision import HaarStump, background_windows, face_windows
from costboost_papers.vision.features import Windows
from costboost_papers.vision.haar_stump import HaarEnsemble
from costboost_papers.vision.together import boost_together

__all__ = ["Draw", "draw", "faces_file", "scores_of_all"]

FILE = "cbcl_faces.npz"
FEATURES: dict[tuple[Mode, str], int | None] = {("full", TEST): None, ("quick", HELD_OUT): 300}
BINS = 32
N_CUT = 300
TEST_SHARE = 3832 / 9832


def faces_file() -> Path | None:
    """Where the face set is, or None: `cbcl_faces.npz` in the folder of the benchmark files."""
    folder = _folder(None, missing_ok=True)
    path = None if folder is None else folder / FILE
    return path if path is not None and path.is_file() else None


@dataclass(frozen=True, eq=False)
class Draw:
    """Windows to train on, with equal class sizes, and windows to test on; 1 is a face."""

    train: Floats  # (n, h, w)
    y: Ints
    test: Floats
    truth: Ints


def draw(mode: Mode, setting: str, seed: int) -> Draw:
    """The windows of one draw."""
    # Test part: all training faces and as many other training windows, drawn at random; the set's
    # own test part. Held-out windows: the paper's share of the training faces and as many others;
    # as many of both classes from the rest. Quick: the faces of scikit-image and windows cut from
    # its pictures, in place of the set.
    rng = check_random_state(seed)
    if mode == "quick":
        windows, y = face_windows()
        windows = np.concatenate([windows, background_windows(N_CUT, random_state=0)])
        y = np.concatenate([y, np.zeros(N_CUT, dtype=np.intp)])
    else:
        windows, y = face_windows(_known_file(), part="train")
    faces, others = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    if setting == TEST:
        others = np.sort(rng.choice(others, min(len(faces), len(others)), replace=False))
        rows = np.concatenate([faces, others])
        return Draw(windows[rows], y[rows], *face_windows(_known_file(), part="test"))
    faces, others = rng.permutation(faces), rng.permutation(others)
    n_train = round((1.0 - TEST_SHARE) * len(faces))
    rows = np.concatenate([faces[:n_train], others[:n_train]])
    held = np.concatenate([faces[n_train:], others[n_train : len(faces)]])
    return Draw(windows[rows], y[rows], windows[held], y[held])


def _known_file() -> Path:
    path = faces_file()
    if path is None:
        raise FileNotFoundError(
            f"figure4 of masnadi2007 needs the file {FILE}, the MIT CBCL face set, which is for "
            "research use and not part of the package. Put it into the folder of the benchmark "
            "files (--data or COSTBOOST_DATA), or run with --quick, which uses the 100 faces of "
            "scikit-image."
        )
    return path


def scores_of_all(
    data: Draw,
    detectors: Sequence[tuple[str, float]],
    rounds: Sequence[int],
    max_features: int | None,
    seed: int,
) -> Floats:
    """Scores of the test windows, (detectors, rounds, n), of (method, Ĉ1) trained side by side."""
    h, w = data.train.shape[1:]
    learner = HaarStump((h, w), max_features, BINS).bind(
        Rows(data.train.reshape(len(data.y), -1), np.ones(len(data.y)), (), 1, seed)
    )
    y = np.where(data.y == 1, 1.0, -1.0)
    schemes = []
    for method, C1 in detectors:
        model = classifier(OURS if method == PLAIN else method, C1, max(rounds))
        costs = (C1, 1.0)
        problem = BinaryProblem(
            y, np.where(y > 0, C1, 1.0), np.ones(len(y)), costs, cost_pair(y, costs)
        )
        schemes.append(model._binary_scheme(problem, model.init or model._default_init))
    histories = boost_together(schemes, learner, max(rounds))
    del learner  # its bins are large
    windows = Windows.of_stack(data.test)
    scores = np.zeros((len(detectors), len(rounds), len(data.test)))
    for k, history in enumerate(histories):
        if history.rules:
            staged = list(HaarEnsemble(history.rules, np.array(history.votes)).staged_of(windows))
            scores[k] = [staged[min(count, len(staged)) - 1] for count in rounds]
    return scores
