"""The benchmark of held-out cost: statistics on rows made by hand, machinery on made data."""

import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from benchmarks.harness import SOURCES, append_rows, finished
from benchmarks.held_out_cost import early, methods, problems, report, rivals, statistics
from benchmarks.held_out_cost import run as runner
from benchmarks.held_out_cost.__main__ import RELEASE
from benchmarks.held_out_cost.methods import METHODS, Method, chosen
from benchmarks.held_out_cost.problems import Problem, Table, draw, price, problems_of, sample
from benchmarks.held_out_cost.run import FIELDS, KEYS, run, run_problem

from costboost.comparison import processor_seconds
from costboost.datasets import make_fraud

FLAGSHIP, RIVAL = "CostBoost, effort=fast", "LightGBM + Bayes"
FAST = ["LightGBM", RIVAL]
# Trainings on so few rows warn about what they find.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def fraud():
    data = make_fraud(400, random_state=0)
    X = pd.DataFrame(data.X, columns=list(data.feature_names))
    X["kind"] = pd.Categorical(np.where(data.X[:, 0] > 0, "a", "b"))
    X.iloc[::9, 1] = np.nan
    X.loc[::11, "kind"] = np.nan
    return Table(X, data.y, row_costs=data.costs)


@pytest.fixture
def small(fraud, monkeypatch):
    """Made rows in place of every set."""
    monkeypatch.setattr(runner, "table", lambda data: fraud)
    return fraud


def made_row(data, costs, group, split, method, score, **other):
    return {
        "data": data, "costs": costs, "group": group, "problem": f"{data}, {costs}",
        "split": split, "method": method, "score": score, "fit_seconds": 1.0, "n_train": 70,
        "n_test": 30, "predict_seconds": 0.1, "error": "", "estimated": np.nan,
        "development": int(data in problems.DEVELOPMENT), **other,
    }  # fmt: skip


def test_ranks_share_ties_sets_count_once_and_failures_have_no_mean():
    problems = ["x, ratio 2", "x, ratio 5", "y, ratio 2"]
    table = pd.DataFrame({"a": [0.9, 0.5, 0.2], "b": [0.1, 0.5, 0.3]}, index=problems)
    assert statistics.method_ranks(table)["a"] == pytest.approx((1 + 1.5 + 2) / 3)
    assert statistics.set_ranks(table)["a"] == pytest.approx(((1 + 1.5) / 2 + 2) / 2)
    scores = {"a": (0.1, 0.3), "b": (0.5, np.nan)}
    rows = [
        made_row("x", "ratio 2", "binary", i, k, v[i]) for k, v in scores.items() for i in (0, 1)
    ]
    means = statistics.score_table(pd.DataFrame(rows)).iloc[0]
    assert means["a"] == pytest.approx(0.2) and np.isnan(means["b"])


def test_rows_and_prices_of_a_problem(fraud, monkeypatch):
    y = np.repeat([0, 1, 2], [5000, 12, 4])
    assert np.bincount(y[sample(y, 100, seed=0)]).tolist() == [100, 10, 4]  # rare classes stay
    split = draw(fraud, 0)
    ratio = price(Problem("pima", "ratio 5"), split).matrix  # on the rarer class
    assert ratio.tolist() == [[0, 1], [5, 0]] and len(split.y_test) == 120
    assert not np.isnan(problems.encoder().fit_transform(split.X_train)).any()
    monkeypatch.setattr(problems, "MOST_ROWS", 50)
    assert len(draw(fraud, 0).y_train) == pytest.approx(50, abs=10)
    # All rows of a set are another set with the same problems.
    assert len(draw(Table(fraud.X, fraud.y, capped=False), 0).y_train) == 280
    names = ("adult", "adult (all rows)", "letter (all rows)")
    few, full, letter = ([one.costs for one in problems_of(name)] for name in names)
    assert few == full and letter == ["class frequency", "random symmetric"]
    assert Problem("bankmarketing (all rows)", problems.KNOWN).is_development
    assert not Problem("adult (all rows)", "ratio 2").is_development
    with pytest.raises(ValueError, match="got 'letter'"):
        problems_of("letter")


# --- the report on rows made by hand ----------------------------------------------------------

LEVELS = {  # mean scores by problem: CostBoost, then the two Bayes rivals
    ("adult", "ratio 2", "binary"): (0.5, 0.4, 0.3),
    ("sonar", "ratio 2", "binary"): (0.5, 0.5, 0.9),
    ("vowel", "class frequency", "multi-class"): (0.6, 0.5, 0.5),
    ("pima", "ratio 2", "binary"): (0.4, 0.3, 0.3),
    ("creditcard_subset", "row costs", "per row"): (0.3, 0.2, 0.1),
    ("creditcard_subset", "row costs, hidden", "hidden"): (0.2, 0.1, 0.3),
}


SAID = {  # by section; 4 untouched problems: first on three, second on sonar
    "Summary": (
        "Untouched sets, 4 problems: CostBoost has mean rank 1.38, place 1 of 3",
        f"against {methods.STOPPED}: 3 won, 1 tied, 0 lost",
        f"against {methods.CALIBRATED}: 3 won, 0 tied, 1 lost",
        "significantly worse on sonar, ratio 2 (without correction: sonar",
        "- Development sets, 1 problems: CostBoost has mean rank 1.00",
    ),
    "Where CostBoost loses": (
        "On 1 of 5 problems",
        f"| sonar, ratio 2 | 0.500 | 0.900 | {methods.CALIBRATED} |",
    ),
    "Costs unknown at decision time": (f"than: {methods.CALIBRATED} (creditcard_subset).",),
    # No mean, median or rank over all problems of a method that fails, or is for two classes alone.
    "Mean score and ranks (untouched sets)": ("| AdaMEC |  |  |  |", "| XGBoost |  |  |  |"),
    "Failures": ("XGBoost, 1 splits (adult, ratio 2): `ValueError: broken",),
    "CostBoost against each of the others": (
        "| AdaMEC | 3 | 3 / 0 / 0 |",
        "| XGBoost | 4 | 4 / 0 / 0 |",
    ),
}


def section(page, title):
    return page.split(f"## {title}", 1)[1].split("\n## ", 1)[0]


def test_page_gives_the_verdicts_and_the_gaps_of_the_rows(tmp_path):
    rows = []
    for problem, means in LEVELS.items():
        for split, jitter in enumerate((-0.004, -0.002, 0.0, 0.002, 0.004)):
            for method, mean in zip((methods.FLAGSHIP, *methods.BAYES_RIVALS), means, strict=True):
                moved = jitter if method == methods.FLAGSHIP else 0.0
                rows.append(made_row(*problem, split, method, mean + moved))
            if problem[2] != "multi-class":
                rows.append(made_row(*problem, split, "AdaMEC", 0.05))
            rows.append(made_row(*problem, split, "XGBoost", 0.01))
    failed = next(row for row in rows if row["method"] == "XGBoost" and row["data"] == "adult")
    failed |= {"score": np.nan, "error": "ValueError: broken | on purpose"}
    append_rows(tmp_path / "made.csv", rows, FIELDS)
    page = report.write(tmp_path / "made.csv").read_text()
    for name in ("made-ranks.png", "made-differences.png"):
        assert f"]({name})" in page
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    for title, said in SAID.items():
        assert all(words in section(page, title) for words in said), title
    assert "hidden" not in section(page, "Summary")
    assert f"| {methods.FLAGSHIP} |  |" not in section(page, "Mean score and ranks (untouched")


# --- the runner -------------------------------------------------------------------------------


def test_problems_of_a_set_share_rows_and_blind_trainings(small, monkeypatch):
    seen, made = [], []

    def spy(fold):
        seen.append((fold.seed, fold.X_test, fold.costs.matrix[1, 0]))
        return np.zeros(len(fold.X_test), dtype=int)

    class Model:
        def __init__(self, seed):
            made.append(seed)

        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    monkeypatch.setitem(METHODS, "spy", Method("spy", spy))
    monkeypatch.setitem(METHODS, "blind", Method("blind", methods.blind("blind", Model)))
    for split in (0, 1):
        for problem in problems_of("pima"):
            rows = run_problem(problem, split, chosen(["spy", "blind"]), set())
            assert [row["error"] for row in rows] == ["", ""]
            assert rows[0]["score"] <= 0
    assert [seed for seed, _, _ in seen] == [1000] * 3 + [1001] * 3
    assert [ratio for _, _, ratio in seen[:3]] == [2, 5, 20]
    assert made == [1000, 1001]  # one training for the problems of a split
    expected = draw(small, problems.FIRST_SEED).X_test
    pd.testing.assert_frame_equal(seen[0][1].reset_index(drop=True), expected)
    assert not seen[0][1].equals(seen[3][1])


def test_a_row_has_what_is_needed_to_trust_it(small, tmp_path):
    path = tmp_path / "rows.csv"
    run(["creditcard_subset"], chosen([FLAGSHIP, RIVAL]), path, splits=[0])
    rows = pd.read_csv(path).merge(pd.read_csv(tmp_path / SOURCES), on="source")
    assert len(rows) == 4 and rows["error"].isna().all() and rows["score"].between(-5, 1).all()
    assert rows.loc[rows["method"] == FLAGSHIP, "estimated"].notna().all()
    assert rows[["commit", "python", "cores", "versions"]].notna().all(axis=None)


def test_resume_runs_what_is_missing_or_failed(small, tmp_path, monkeypatch):
    """Also after a row that was cut."""
    path = tmp_path / "rows.csv"
    run(["pima"], chosen(FAST), path, splits=[0, 1])
    whole, lines = finished(path, *KEYS), path.read_text().splitlines(keepends=True)
    assert len(whole) == 2 * 3 * 2
    for kept in ("".join(lines[:6]), "".join(lines)[:-30]):
        path.write_text(kept)
        run(["pima"], chosen(FAST), path, splits=[0, 1])
        assert finished(path, *KEYS) == whole
        assert path.read_text().startswith(kept.rpartition("\n")[0])
    monkeypatch.setitem(METHODS, "broken", Method("broken", lambda fold: fold.nothing))
    for _ in range(2):
        run(["pima"], chosen(["broken"]), path, splits=[0], costs=["ratio 5"])
        assert "nothing" in pd.read_csv(path).set_index("method")["error"]["broken"]
    assert finished(path, *KEYS) == whole
    path.write_text("data,costs,split,method,error\n")
    with pytest.raises(SystemExit, match="an earlier version wrote it"):
        run(["pima"], chosen(FAST), path, splits=[0])


def test_a_set_from_its_file(data_dir):
    """As the runner before this one measured it."""
    (row,) = run_problem(Problem("hepatitis", "ratio 5"), 0, chosen([RIVAL]), set())
    assert row["n_train"] + row["n_test"] == len(problems.table("hepatitis").y)
    assert row["score"] == pytest.approx(0.324324, abs=1e-6)


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_early_stopped_stops(engine, fraud):
    numbers = fraud.X.drop(columns="kind")
    model = early.EarlyStopped(engine, seed=0).fit(numbers, fraud.y)
    assert 1 <= model.n_rounds_ < early.TREES - early.PATIENCE
    assert model.predict_proba(numbers).shape == (400, 2)


def test_time_is_that_of_the_processor():
    start, burn = processor_seconds(), "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    assert processor_seconds() - start > 0.25  # children count
    with rivals.processor_clock():
        start = time.time()
        time.sleep(0.2)
        assert time.time() - start < 0.15  # waiting does not use up a time limit


@pytest.mark.parametrize("folds", [1, 3])
def test_catboost_takes_categories_and_gaps_and_stops(fraud, folds, monkeypatch):
    pytest.importorskip("catboost")
    monkeypatch.setattr(rivals, "TREES", 200)
    monkeypatch.setattr(rivals, "PATIENCE", 5)
    split = draw(fraud, 0)
    model = rivals.CatBoost(0, stopped=True, folds=folds).fit(split.X_train, split.y_train)
    proba = model.predict_proba(split.X_test)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert len(model.models_) == folds
    assert folds <= model.n_rounds_ < folds * 200
    own = [each.predict_proba(rivals.catboost_frame(split.X_test)) for each in model.models_]
    np.testing.assert_allclose(proba, sum(own) / folds)


def test_costs_reach_vowpalwabbit_by_decision():
    both = {name: rivals.VowpalWabbit(name) for name in ("csoaa_ldf", "cs_active")}
    for model in both.values():
        model.k = 2
    cost = np.array([0.0, 0.5])
    assert both["cs_active"].example("0:1", cost) == "1:0 2:0.5 |s 0:1"
    lines = both["csoaa_ldf"].example("0:1", cost).split("\n")
    assert lines == ["shared |s 0:1", "1:0 |d d0", "2:0.5 |d d1", ""]


# --- the comparison with AutoGluon ------------------------------------------------------------

# Savings of CostBoost and of AutoGluon, which did not finish all splits.
SAVED = {
    ("adult", "ratio 2", "binary"): ((0.50, 0.52), (0.40, 0.42)),
    ("sonar", "ratio 2", "binary"): ((0.50, 0.50), (0.502, None)),
    ("vowel", "random symmetric", "multi-class"): ((0.30, 0.30), (0.31, None)),
    ("creditcard_subset", "row costs, hidden", "hidden"): ((0.6, 0.6), (0.5, 0.5)),
    ("pima", "ratio 2", "binary"): ((0.30,), (0.40,)),
    ("adult (all rows)", "ratio 2", "binary"): ((0.6,), (0.9,)),
}


def test_only_splits_that_both_finished_count(tmp_path, monkeypatch):
    for name in ("draw_ranks", "draw_differences"):  # the time that figures take
        monkeypatch.setattr(report, name, lambda *given: None)
    rows = pd.DataFrame([
        made_row(*problem, split, method, value, fit_seconds=seconds, error=np.nan)
        for problem, pair in SAVED.items()
        for method, seconds, values in zip((methods.FLAGSHIP, methods.AUTOGLUON), (2.0, 20.0), pair,
                                           strict=True)
        for split, value in enumerate(values)
        if value is not None
    ])  # fmt: skip
    page = report.compose(rows, tmp_path / "rows.csv")
    # Differences of 0.1, -0.002 and -0.01: t = 4.303 with two degrees of freedom.
    means = "+0.0293 | +0.0293 | 0.1524 | -0.010 | 0.100"
    assert f"| CostBoost | untouched, 3 | 3 | 1 / 1 / 1 | {means} |" in page
    assert "| CostBoost | development, 1 | 1 | 0 / 0 / 1 |" in page
    assert "| CostBoost | 0.600 (2) |" in section(page, "All rows of the large sets")
    assert "4 problems on 4 data sets" in page  # neither hidden costs nor full sizes
    page = report.compose(rows[rows["method"] == methods.AUTOGLUON], tmp_path / "rows.csv")
    assert "## CostBoost against AutoGluon" not in page and "| AutoGluon + Bayes |" in page


def test_a_release_names_methods_and_sets_that_exist():
    for part in RELEASE:
        assert set(part["methods"]) <= set(METHODS)
        assert set(part["sets"]) <= {*problems.SETS, *problems.FULL}
    assert {name for part in RELEASE for name in part["methods"]} == set(METHODS)
