"""Ways to decide that ``costboost compare`` measures: ours, the usual ones, and rivals.

A contender is a row of a table: a name, what it is, the package it needs, and a function from
training rows to decisions on test rows. Rivals whose package is not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.cli.problem import Rows
from costboost.costs import KnownCosts

__all__ = ["Contender", "Fold", "contenders"]

ROUNDS = 200
FEW_ROWS = 10_000
"""Below this many rows one thread is faster than several."""


@dataclass(frozen=True, eq=False)
class Fold:
    """Training rows and test rows, as numbers and with their costs."""

    train: Rows
    test: Rows
    known: KnownCosts
    tested: KnownCosts
    seed: int

    def numbers(self) -> tuple[Floats, Floats]:
        """Features of training and test rows as float matrices; categories as codes."""
        from costboost.columns.frames import FrameEncoder, categorical_columns

        encoder = FrameEncoder(self.train.X, categorical_columns(self.train.X))
        return encoder.transform(self.train.X), encoder.transform(self.test.X)

    def cheapest(self, proba: Floats) -> Ints:
        """The decision of least expected cost of each test row."""
        return np.asarray(self.tested.unknown.decide(proba), dtype=np.intp)

    def likeliest(self, proba: Floats) -> Ints:
        """The right decision of the most likely class, by the mean costs of the training rows."""
        return np.asarray(self.known.average(None).argmin(axis=1)[proba.argmax(axis=1)])


Decide: TypeAlias = Callable[[Fold], Ints]


@dataclass(frozen=True)
class Contender:
    """One way to decide."""

    name: str
    kind: str
    decide: Decide
    package: str = "lightgbm"
    binary: bool = False


# --- ours --------------------------------------------------------------------------------------


def _ours(
    fold: Fold, name: str, cost_matrix: Any, settings: dict[str, Any], excludes: bool
) -> Ints:
    from costboost.cli.algorithm import make_model

    model = make_model(name, cost_matrix, settings, seed=fold.seed, exclude_cost_columns=excludes)
    model.fit(fold.train.X, fold.train.y, fold.train.weights)
    places = {label: code for code, label in enumerate(fold.known.decisions.tolist())}
    return np.array([places[label] for label in model.predict(fold.test.X).tolist()], dtype=np.intp)


# --- the usual alternatives --------------------------------------------------------------------


def _constant(fold: Fold) -> Ints:
    weights = fold.train.weights
    prices = fold.known.prices
    best = (prices if weights is None else prices * weights[:, None]).sum(axis=0).argmin()
    return np.full(len(fold.test), best, dtype=np.intp)


def _engine(name: str, fold: Fold) -> Any:
    """An ordinary boosted classifier of each library, at comparable sizes."""
    seed = fold.seed
    threads = 1 if len(fold.train) < FEW_ROWS else -1
    if name == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(
            n_estimators=ROUNDS,
            num_leaves=15,
            learning_rate=0.05,
            verbose=-1,
            random_state=seed,
            n_jobs=threads,
        )
    if name == "xgboost":
        from xgboost import XGBClassifier

        return XGBClassifier(
            n_estimators=ROUNDS, max_leaves=15, max_depth=0, grow_policy="lossguide",
            learning_rate=0.05, random_state=seed, n_jobs=threads,
        )  # fmt: skip
    return import_module("catboost").CatBoostClassifier(
        iterations=ROUNDS, depth=4, learning_rate=0.05, random_seed=seed, verbose=False,
        allow_writing_files=False, thread_count=threads,
    )  # fmt: skip


def _full_proba(model: Any, X: Floats, k: int) -> Floats:
    proba = np.zeros((len(X), k))
    proba[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(X)
    return proba


def _plain(fold: Fold, engine: str) -> Ints:
    X, X_test = fold.numbers()
    model = _engine(engine, fold).fit(X, fold.known.codes, sample_weight=fold.train.weights)
    return fold.likeliest(_full_proba(model, X_test, len(fold.known.classes)))


def _calibrated(fold: Fold, engine: str) -> Ints:
    from sklearn.calibration import CalibratedClassifierCV

    X, X_test = fold.numbers()
    model = CalibratedClassifierCV(_engine(engine, fold), method="isotonic", cv=3)
    model.fit(X, fold.known.codes, sample_weight=fold.train.weights)
    return fold.cheapest(_full_proba(model, X_test, len(fold.known.classes)))


def _weighted(fold: Fold) -> Ints:
    """The label of a row is its cheapest decision, weighted by what the others cost beyond it."""
    X, X_test = fold.numbers()
    d = len(fold.known.decisions)
    weights = fold.known.reduced.sum(axis=1) / (d - 1)
    if fold.train.weights is not None:
        weights = weights * fold.train.weights
    wanted, taken = np.unique(fold.known.labels, return_inverse=True)
    if len(wanted) == 1:
        return np.full(len(X_test), wanted[0], dtype=np.intp)
    model = _engine("lightgbm", fold)
    model.fit(X, taken, sample_weight=weights / weights.mean())
    return np.asarray(wanted[np.asarray(model.predict(X_test), dtype=np.intp)])


# --- rivals ------------------------------------------------------------------------------------


def _empulse(fold: Fold) -> Ints:
    X, X_test = (_filled(X, fold) for X in fold.numbers())
    matrix = np.asarray(fold.known.unknown.matrix)
    (tn, fp), (fn, tp) = matrix if matrix.ndim == 2 else np.moveaxis(matrix, 0, -1)
    model = import_module("empulse.models").CSBoostClassifier(_engine("xgboost", fold))
    model.fit(X, fold.known.codes, tp_cost=tp, tn_cost=tn, fn_cost=fn, fp_cost=fp)
    return np.asarray(model.predict(X_test), dtype=np.intp)


def _filled(X: Floats, fold: Fold) -> Floats:
    """Missing values replaced by the medians of the training rows."""
    medians = np.array(
        [np.median(c[np.isfinite(c)]) if np.isfinite(c).any() else 0.0 for c in fold.numbers()[0].T]
    )
    return np.where(np.isfinite(X), X, medians)


def _vowpal(fold: Fold, active: bool) -> Ints:
    """Vowpal Wabbit's cost-sensitive one-against-all, linear, five passes over the rows."""
    X, X_test = fold.numbers()
    d = len(fold.known.decisions)
    scale = np.nan_to_num(np.nanmax(np.abs(X), axis=0), nan=1.0)
    scale[scale == 0] = 1.0

    def features(row: Floats) -> str:
        known = np.flatnonzero(np.isfinite(row) & (row != 0))
        return " ".join(f"f{j}:{row[j] / scale[j]:.6g}" for j in known)

    workspace = import_module("vowpalwabbit").Workspace
    unit = float(fold.known.reduced.max()) or 1.0
    prices = fold.known.reduced / unit
    rng = np.random.default_rng(fold.seed)
    if active:
        space = workspace(
            f"--cs_active {d} --cost_max 1 --cost_min 0 --mellowness 0.1 "
            f"--random_seed {fold.seed} --quiet"
        )
    else:
        space = workspace(f"--csoaa_ldf mc -q sd --random_seed {fold.seed} --quiet")
    texts = [features(row) for row in X]
    for _ in range(5):
        for i in rng.permutation(len(texts)).tolist():
            space.learn(_example(texts[i], prices[i], d, active))
    found = [
        _vowpal_choice(space.predict(_example(features(row), None, d, active))) for row in X_test
    ]
    space.finish()
    return np.array(found, dtype=np.intp) - 1


def _example(text: str, prices: Floats | None, d: int, active: bool) -> Any:
    costs = [""] * d if prices is None else [f":{price:.6g}" for price in prices]
    if active:
        return " ".join(f"{j + 1}{cost}" for j, cost in enumerate(costs)) + f" | {text}"
    lines = [f"{j + 1}{cost} |d decision_{j + 1}" for j, cost in enumerate(costs)]
    return [f"shared |s {text}", *lines]


def _vowpal_choice(found: Any) -> int:
    return int(found[0] if isinstance(found, list | tuple) else found)


USUAL = (
    Contender("best constant decision", "usual", _constant),
    Contender("LightGBM, likeliest class", "usual", partial(_plain, engine="lightgbm")),
    Contender("LightGBM, cost weights", "usual", _weighted),
    Contender("LightGBM, calibrated", "usual", partial(_calibrated, engine="lightgbm")),
)
RIVALS = (
    Contender("XGBoost, calibrated", "rival", partial(_calibrated, engine="xgboost"),
              "xgboost"),
    Contender("CatBoost, calibrated", "rival", partial(_calibrated, engine="catboost"),
              "catboost"),
    Contender("empulse CSBoost", "rival", _empulse, "empulse", binary=True),
    Contender("Vowpal Wabbit csoaa_ldf", "rival", partial(_vowpal, active=False), "vowpalwabbit"),
    Contender("Vowpal Wabbit cs_active", "rival", partial(_vowpal, active=True), "vowpalwabbit"),
)  # fmt: skip
DEFAULT = ("CostBoost", "MinCost")


def contenders(
    names: Sequence[str],
    cost_matrix: Any,
    settings: dict[str, Any],
    *,
    excludes: bool,
    only_ours: bool,
) -> tuple[list[Contender], list[str]]:
    """The contenders of a comparison, and the packages that are not installed."""
    from costboost.cli.algorithm import algorithm_class, algorithm_names

    wanted = list(names) or list(DEFAULT)
    if [name.lower() for name in wanted] == ["all"]:
        wanted = [name for name in algorithm_names() if name != "TargetRate"]
    found = []
    for name in wanted:
        kind = algorithm_class(name)
        own = {k: v for k, v in settings.items() if k in kind().get_params(deep=False)}
        decide = partial(_ours, name=name, cost_matrix=cost_matrix, settings=own, excludes=excludes)
        found.append(Contender(kind.__name__.removesuffix("Classifier"), "ours", decide))
    if only_ours:
        return found, []
    missing = [rival.package for rival in RIVALS if find_spec(rival.package) is None]
    rivals = [rival for rival in RIVALS if rival.package not in missing]
    return [*found, *USUAL, *rivals], list(dict.fromkeys(missing))


def check_codes(codes: AnyArray, n: int, d: int) -> Ints:
    """Decisions of a contender, refused if they are not valid."""
    found = np.asarray(codes, dtype=np.intp)
    if found.shape != (n,) or found.min() < 0 or found.max() >= d:
        raise ValueError("It returned no decision for some rows.")
    return found
