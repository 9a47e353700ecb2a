"""Whether intervals cover: estimates of fits beside the true score of the same model.

    python -m benchmarks.verdicts run [--cells fast-300-noise] [--minutes 60]
    python -m benchmarks.verdicts keep

A cell is an effort, a number of rows and a table whose population is known; the effort "verdict"
is `costboost.metrics.verdict` on decisions that are given, in money. Each draw of a cell fits a
classifier and compares its estimate with its score on 20,000 fresh rows. The score is of the
known probabilities of the classes, not of drawn classes, so that hardly any chance is in it.
Draws are added to build/verdicts.csv, the ones furthest behind first, and a stopped run goes on
where it was. `keep` adds a line per cell to results/verdicts.csv: how many intervals cover, bias,
width, how often a model that loses was said to pay; later runs go on with later seeds. Seeds from
0 on are those that the page shows; whoever chooses a construction uses others (``--seed 100000
--path ...``).
"""

from __future__ import annotations

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.harness import RESULTS, append_rows, source_number

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.metrics import verdict

FRESH_ROWS = 20_000
N_FEATURES = 8
DRAWS = Path("build") / "verdicts.csv"
KEPT = RESULTS / "verdicts.csv"
# A truth or a width that is nearer to 0 than this is 0, but for rounding.
ROUNDING = 1e-9
KEYS = ["effort", "n_rows", "table", "group_size", "weights"]
FIELDS = (*KEYS, "seed", "value", "low", "high", "truth", "seconds", "source")


# --- tables whose population is known -------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """Rows of a population, with what the population is."""

    X: np.ndarray
    y: np.ndarray
    cost_matrix: object
    proba: np.ndarray  # (n, k), of the classes in sorted order
    prices: np.ndarray  # (k, d) or (n, k, d), of the decisions in sorted order
    costs: object = None  # of single rows, where they have their own
    groups: np.ndarray | None = None
    weight: np.ndarray | None = None

    def score_of(self, chosen):
        """Return the share of the avoidable cost that decisions avoid; no class is drawn."""
        reduced = self.prices - self.prices.min(axis=-1, keepdims=True)
        if reduced.ndim == 2:
            expected = self.proba @ reduced
        else:
            expected = np.einsum("nk,nkd->nd", self.proba, reduced)
        paid = expected[np.arange(len(chosen)), chosen]
        constants = np.average(expected, axis=0, weights=self.weight)
        return 1.0 - np.average(paid, weights=self.weight) / constants.min()


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def two_classes(score):
    """Return the probabilities of the negative and the positive class."""
    return np.column_stack([sigmoid(-score), sigmoid(score)])


def features(rng, n, group_size, share):
    """Return features, a group of each row, and an effect of the group that no feature shows.

    ``share`` is how much of the variance of a feature lies between groups.
    """
    groups = np.arange(n) // group_size
    n_groups = groups[-1] + 1
    centres = rng.standard_normal((n_groups, N_FEATURES))[groups]
    noise = rng.standard_normal((n, N_FEATURES))
    X = np.sqrt(share) * centres + np.sqrt(1.0 - share) * noise
    effect = share * 2.0 * rng.standard_normal(n_groups)[groups]
    return X, groups, effect


def noise(rng, n, group_size, share):
    """No feature tells anything; the best constant decision is best."""
    X, groups, effect = features(rng, n, group_size, share)
    proba = two_classes(-0.85 + effect)
    y = (rng.uniform(size=n) < proba[:, 1]).astype(int)
    prices = np.array([[0.0, 1.0], [2.4, 0.0]])
    return Sample(X, y, {"fn": 2.4, "fp": 1.0}, proba, prices, groups=groups)


def easy(rng, n, group_size, share):
    """Three features tell the class well."""
    X, groups, effect = features(rng, n, group_size, share)
    score = 2.0 * X[:, 0] + 1.5 * X[:, 1] * (X[:, 2] > 0) - 1.5 + effect
    proba = two_classes(score)
    y = (rng.uniform(size=n) < proba[:, 1]).astype(int)
    prices = np.array([[0.0, 1.0], [3.0, 0.0]])
    return Sample(X, y, {"fn": 3.0, "fp": 1.0}, proba, prices, groups=groups)


def rare(rng, n, group_size, share):
    """Five in a hundred rows are positive, and a miss costs 20 times a false alarm."""
    X, groups, effect = features(rng, n, group_size, share)
    score = 1.2 * X[:, 0] + 0.8 * X[:, 1] - 4.0 + effect
    proba = two_classes(score)
    y = (rng.uniform(size=n) < proba[:, 1]).astype(int)
    prices = np.array([[0.0, 1.0], [20.0, 0.0]])
    return Sample(X, y, {"fn": 20.0, "fp": 1.0}, proba, prices, groups=groups)


def heavy(rng, n, group_size, share):
    """A miss costs the amount of its row, which is heavy-tailed."""
    X, groups, effect = features(rng, n, group_size, share)
    amount = np.exp(1.5 * rng.standard_normal(n))
    X[:, -1] = np.log(amount)
    score = 1.5 * X[:, 0] + X[:, 1] - 1.5 + effect
    proba = two_classes(score)
    y = (rng.uniform(size=n) < proba[:, 1]).astype(int)
    prices = np.zeros((n, 2, 2))
    prices[:, 0, 1] = 1.0
    prices[:, 1, 0] = amount
    costs = per_row(fn=amount, fp=1.0)
    return Sample(X, y, None, proba, prices, costs=costs, groups=groups)


def three(rng, n, group_size, share):
    """Accept, review or block; two classes."""
    X, groups, effect = features(rng, n, group_size, share)
    score = 1.5 * X[:, 0] + X[:, 1] - 2.0 + effect
    proba = two_classes(-score)  # fraud, ok
    y = np.where(rng.uniform(size=n) < proba[:, 0], "fraud", "ok")
    classes = ("fraud", "ok")
    decisions = ("accept", "block", "review")
    prices = np.array([[10.0, 0.0, 1.5], [0.0, 4.0, 1.0]])
    mapping = {}
    for i, label in enumerate(classes):
        for j, decision in enumerate(decisions):
            mapping[label, decision] = prices[i, j]
    return Sample(X, y, mapping, proba, prices, groups=groups)


def five(rng, n, group_size, share):
    """Five classes, one cost for each pair."""
    X, groups, effect = features(rng, n, group_size, share)
    centres = 1.2 * np.random.default_rng(5).standard_normal((5, 4))
    scores = X[:, :4] @ centres.T + np.array([0.8, 0.4, 0.0, -0.4, -0.8])
    scores[:, 0] += effect
    proba = np.exp(scores - scores.max(axis=1, keepdims=True))
    proba /= proba.sum(axis=1, keepdims=True)
    scores += rng.gumbel(size=scores.shape)
    matrix = np.random.default_rng(6).integers(1, 10, (5, 5)).astype(float)
    np.fill_diagonal(matrix, 0.0)
    return Sample(X, scores.argmax(axis=1), matrix, proba, matrix, groups=groups)


TABLES = {maker.__name__: maker for maker in (noise, easy, rare, heavy, three, five)}


@dataclass(frozen=True)
class Cell:
    """An effort, a number of rows, and a table."""

    effort: str
    n_rows: int
    table: str
    group_size: int = 0  # 0: rows are independent
    weights: bool = False

    @property
    def key(self):
        return (self.effort, self.n_rows, self.table, self.group_size, int(self.weights))

    @property
    def name(self):
        parts = [self.effort, str(self.n_rows), self.table]
        if self.group_size:
            parts.append(f"groups{self.group_size}")
        if self.weights:
            parts.append("weights")
        return "-".join(parts)


def cells():
    """Return all cells of the grid, and how many draws each is to have."""
    wanted = {}
    for effort, n_draws in (("fast", 200), ("balanced", 100)):
        for n_rows in (200, 300, 500, 1000, 2000, 5000):
            for table in TABLES:
                wanted[Cell(effort, n_rows, table)] = n_draws
        for size in (1, 5, 20):
            for table in ("noise", "easy", "rare"):
                wanted[Cell(effort, 1500, table, group_size=size)] = n_draws
        for table in ("noise", "easy", "rare"):
            wanted[Cell(effort, 500, table, weights=True)] = n_draws
    for table in TABLES:
        wanted[Cell("high", 500, table)] = 40
    for n_rows in (100, 300, 600, 2000):
        wanted[Cell("verdict", n_rows, "few_frauds")] = 1000
    wanted[Cell("verdict", 600, "alike", group_size=20)] = 1000
    for n_rows in (100, 300, 1000):
        wanted[Cell("verdict", n_rows, "right_often")] = 1000
    return wanted


# --- one draw -------------------------------------------------------------------------------------


def sample(cell, rng, n, group_size):
    share = 0.0
    if cell.group_size > 0:
        share = 0.5
    rows = TABLES[cell.table](rng, n, group_size, share)
    if not cell.weights:
        return rows
    # A survey that asked some kinds of people less often than others.
    weight = np.exp(0.7 * rng.standard_normal(n) + 0.5 * rows.X[:, 0])
    return replace(rows, weight=weight)


def few_frauds(rng, n, group_size):
    """Of 95 in 100 rows that are passed .6 % are frauds, which cost more than all that is saved."""
    decided = (rng.uniform(size=n) > 0.95).astype(int)
    y = rng.uniform(size=n) < np.where(decided == 1, 0.5, 0.006)
    true_gain = 0.95 * (0.994 * 4.0 - 0.006 * 1000.0)
    return y.astype(int), decided, {"fn": 1000.0, "fp": 4.0}, true_gain


def alike(rng, n, group_size):
    """Rows of a group have classes and decisions that are alike, but not because of each other."""
    group = np.arange(n) // group_size
    y = rng.uniform(size=n) < rng.beta(0.6, 1.4, group[-1] + 1)[group]
    decided = rng.uniform(size=n) < rng.beta(0.5, 0.5, group[-1] + 1)[group]
    # Half of the rows are decided 0, where .3 are misses; always 1 is the best constant decision.
    true_gain = 0.5 * (0.7 * 1.0 - 0.3 * 2.4)
    return y.astype(int), decided.astype(int), {"fn": 2.4, "fp": 1.0}, true_gain


def right_often(rng, n, group_size):
    """Nine in ten decisions are right."""
    y = (rng.uniform(size=n) < 0.3).astype(int)
    decided = np.where(rng.uniform(size=n) < 0.9, y, 1 - y)
    true_gain = 0.7 - (0.3 * 0.1 * 3.0 + 0.7 * 0.1)
    return y, decided, {"fn": 3.0, "fp": 1.0}, true_gain


GIVEN = {maker.__name__: maker for maker in (few_frauds, alike, right_often)}


def draw_verdict(cell, seed):
    """Draw rows with decisions that are given; return the verdict, in money, and the truth."""
    rng = np.random.default_rng([seed, cell.n_rows, cell.group_size, sum(cell.table.encode())])
    y, decided, prices, true_gain = GIVEN[cell.table](rng, cell.n_rows, cell.group_size)
    groups = None
    if cell.group_size > 0:
        groups = np.arange(cell.n_rows) // cell.group_size
    start = time.process_time()
    found = verdict(y, decided, cost_matrix=prices, labels=[0, 1], groups=groups)
    return {
        **dict(zip(KEYS, cell.key, strict=True)),
        "seed": seed,
        "value": found.gain,
        "low": found.low,
        "high": found.high,
        "truth": true_gain,
        "seconds": time.process_time() - start,
    }


def draw(cell, seed):
    """Fit on one sample; return the estimate and the truth."""
    if cell.effort == "verdict":
        return draw_verdict(cell, seed)
    rng = np.random.default_rng([seed, cell.n_rows, cell.group_size, sum(cell.table.encode())])
    rows = sample(cell, rng, cell.n_rows, max(cell.group_size, 1))
    # Fresh rows come from a group each, so that they tell the truth more exactly.
    fresh = sample(cell, rng, FRESH_ROWS, 1)
    model = CostBoostClassifier(rows.cost_matrix, effort=cell.effort, random_state=seed, n_jobs=1)
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):
        model.fit(
            rows.X,
            rows.y,
            sample_weight=rows.weight,
            costs=rows.costs,
            groups=rows.groups if cell.group_size > 1 else None,
        )
        seconds = time.process_time() - start
        decided = model.predict(fresh.X, costs=fresh.costs)
    chosen = np.searchsorted(np.sort(model.decisions_), decided)
    truth = fresh.score_of(chosen)
    estimate = model.estimated_score_
    return {
        **dict(zip(KEYS, cell.key, strict=True)),
        "seed": seed,
        "value": float(estimate.value),
        "low": float(estimate.low),
        "high": float(estimate.high),
        "truth": float(truth),
        "seconds": seconds,
    }


def run(names, n_draws, first_seed, minutes, workers, path):
    """Add draws to the results until the time is over, those furthest behind first."""
    wanted = {cell: n_draws or n for cell, n in cells().items() if not names or cell.name in names}
    done = set()
    if path.exists():
        earlier = pd.read_csv(path)
        done = set(earlier[[*KEYS, "seed"]].itertuples(index=False, name=None))
    kept = {}
    if KEPT.exists():
        kept = pd.read_csv(KEPT).groupby(KEYS)["draws"].sum().to_dict()
    jobs = []
    for cell, n in wanted.items():
        first = 0
        if first_seed == 0:
            first = kept.get(cell.key, 0)
        for i in range(first, n):
            seed = first_seed + i
            if (*cell.key, seed) not in done:
                jobs.append(((i + 1) / n, cell, seed))
    jobs.sort(key=lambda job: (job[0], job[1].n_rows))
    end = time.monotonic() + 60.0 * minutes
    path.parent.mkdir(parents=True, exist_ok=True)
    source = source_number(RESULTS if path == DRAWS else path.parent)
    with ProcessPoolExecutor(workers) as pool:
        for start in range(0, len(jobs), 8 * workers):
            if time.monotonic() > end:
                break
            batch = jobs[start : start + 8 * workers]
            rows = pool.map(draw, [job[1] for job in batch], [job[2] for job in batch])
            append_rows(path, [{**row, "source": source} for row in rows], FIELDS)


# --- what it shows --------------------------------------------------------------------------------


def summary(rows):
    """Return a line per cell and source."""
    lines = []
    for key, part in rows.groupby([*KEYS, "source"]):
        covered = (part["low"] <= part["truth"] + ROUNDING) & (
            part["truth"] <= part["high"] + ROUNDING
        )
        width = part["high"] - part["low"]
        losing = part["truth"] <= ROUNDING
        pays = part["low"] > 0.0
        line = dict(zip([*KEYS, "source"], key, strict=True))
        line |= {
            "draws": len(part),
            "covered": int(covered.sum()),
            "below": int((part["truth"] < part["low"] - ROUNDING).sum()),
            "bias": (part["value"] - part["truth"]).mean(),
            "width": width.replace(np.inf, np.nan).mean(),
            "width_zero": int((width <= ROUNDING).sum()),
            "losing": int(losing.sum()),
            "losing_said_to_pay": int((losing & pays).sum()),
            "paying_said_to_pay": int((~losing & pays).sum()),
            "seconds": part["seconds"].mean(),
        }
        lines.append(line)
    return pd.DataFrame(lines).round(4)


def keep(path):
    """Add a line per cell to the results, and remove the draws that it stands for."""
    lines = summary(pd.read_csv(path))
    if KEPT.exists():
        lines = pd.concat([pd.read_csv(KEPT), lines])
    lines.to_csv(KEPT, index=False, lineterminator="\n")
    path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=("run", "show", "keep"))
    parser.add_argument("--cells", nargs="*", default=())
    parser.add_argument("--draws", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--path", type=Path, default=DRAWS)
    asked = parser.parse_args()
    if asked.what == "run":
        run(asked.cells, asked.draws, asked.seed, asked.minutes, asked.workers, asked.path)
    if asked.what == "keep":
        keep(asked.path)
        return
    with pd.option_context(
        "display.width", 220, "display.max_rows", 500, "display.max_columns", 30
    ):
        print(summary(pd.read_csv(asked.path)).to_string(index=False))


if __name__ == "__main__":
    main()
