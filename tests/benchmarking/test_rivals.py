"""The rivals of the held-out costs: what can be tested without their packages, and the rest."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.held_out_cost import methods, problems, report, rivals, targets  # noqa: E402
from benchmarks.held_out_cost import run as runner  # noqa: E402
from benchmarks.held_out_cost.methods import METHODS  # noqa: E402
from benchmarks.held_out_cost.problems import Problem, Table, draw, problems_of  # noqa: E402

from costboost.datasets import make_fraud  # noqa: E402

GROUPS = {"per row": "Costs per row", "binary": "Two classes", "multi-class": "Many classes"}


@pytest.fixture
def fraud() -> Table:
    data = make_fraud(400, random_state=0)
    X = pd.DataFrame(data.X, columns=list(data.feature_names))
    X["kind"] = pd.Categorical(np.where(data.X[:, 0] > 0, "a", "b"))
    X.iloc[::9, 1] = np.nan
    X.loc[::11, "kind"] = np.nan
    return Table(X, data.y, row_costs=data.costs)


def compared(table: Table, name: str) -> list[dict]:
    """Rows of one method on a ratio and on hidden costs."""
    asked = [Problem("pima", "ratio 5"), Problem("creditcard_subset", problems.HIDDEN)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(runner.compare(draw(table, 0), 0, [(one, METHODS[name]) for one in asked]))


# --- sets -------------------------------------------------------------------------------------


def test_all_rows_of_a_set_are_another_set_with_the_same_problems() -> None:
    full = [problem.costs for problem in problems_of("adult (all rows)")]
    assert full == [problem.costs for problem in problems_of("adult")]
    assert [problem.costs for problem in problems_of("letter (all rows)")] == [
        "class frequency", "random symmetric",
    ]  # fmt: skip
    assert Problem("bankmarketing (all rows)", problems.KNOWN).is_development
    assert not Problem("adult (all rows)", "ratio 2").is_development
    with pytest.raises(ValueError, match="got 'letter'"):
        problems_of("letter")


def test_the_cap_is_lifted(fraud: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "MOST_ROWS", 50)
    assert len(draw(fraud, 0).y_train) == pytest.approx(50, abs=10)
    whole = Table(fraud.X, fraud.y, capped=False)
    assert len(draw(whole, 0).y_train) == 280


def test_choices_may_be_made_on_two_of_the_new_sets() -> None:
    added = {"german", "telco", "mlc_churn", "nursery", "winewhite", "drybean"}
    assert added < set(problems.SETS)
    assert added & set(problems.DEVELOPMENT) == {"german", "mlc_churn"}


# --- the runner -------------------------------------------------------------------------------


def test_a_method_whose_module_is_missing_is_skipped(
    fraud: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    for needs in ("no_such_module", "no_such_package.part"):
        absent = methods.Method("absent", lambda s, p: None, methods.plainly, needs=needs)
        assert not absent.is_installed
    monkeypatch.setitem(METHODS, "absent", absent)
    monkeypatch.setattr(runner, "table", lambda data: fraud)
    path = tmp_path / "rows.csv"
    runner.run(["pima"], ["absent", "LightGBM"], path, splits=1, jobs=1)
    assert set(pd.read_csv(path)["method"]) == {"LightGBM"}
    assert "skipped: absent needs no_such_package.part" in capsys.readouterr().out


def test_by_split_runs_the_first_split_of_all_sets_first(
    fraud: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = methods.Method("right", lambda s, p: None, lambda model, split, prices: split.y_test)
    monkeypatch.setitem(METHODS, "right", right)
    monkeypatch.setattr(runner, "table", lambda data: fraud)
    path = tmp_path / "rows.csv"
    runner.run(["wbc", "adult"], ["right"], path, splits=2, jobs=1, by_split=True)
    rows = pd.read_csv(path).drop_duplicates(["data", "split"])
    order = list(zip(rows["data"], rows["split"], strict=True))
    assert order == [("wbc", 0), ("adult", 0), ("wbc", 1), ("adult", 1)]


def test_versions_of_two_environments_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, versions = tmp_path / "rows.csv", iter(["sklearn==1", "sklearn==2", "sklearn==3"])
    monkeypatch.setattr(runner, "provenance", lambda seed: {"versions": next(versions)})
    monkeypatch.setattr(runner, "MORE_PACKAGES", ())

    def told(names: list[str], keep: bool = True) -> dict[str, str]:
        runner.record_source(path, names, keep)
        return runner.json.loads(path.with_suffix(".json").read_text())

    assert told(["LightGBM"], keep=False) == {"versions": "sklearn==1"}
    both = {"versions": "sklearn==1", runner.RIVALS_VERSIONS: "sklearn==2"}
    assert told([methods.AUTOGLUON]) == both
    assert told(["LightGBM"]) == {**both, "versions": "sklearn==3"}


def test_processor_time_counts_children() -> None:
    start = runner.cpu_seconds()
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    assert runner.cpu_seconds() - start > 0.25


def test_waiting_does_not_use_up_a_time_limit() -> None:
    with rivals.processor_clock():
        start = time.time()
        time.sleep(0.2)
        assert time.time() - start < 0.15
    start = time.time()
    time.sleep(0.01)
    assert time.time() - start >= 0.01


# --- trainings --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["logistic regression + Bayes", "RandomForest + Bayes"])
def test_one_training_of_scikit_learn_serves_all_problems(
    fraud: Table, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivals, "FOREST_TREES", 30)
    rows = compared(fraud, name)
    assert [row["error"] for row in rows] == ["", ""]
    assert [row["fresh"] for row in rows] == [True, False]
    assert rows[0]["score"] > 0.1


def test_an_encoded_model_knows_its_own_test_rows_alone(fraud: Table) -> None:
    split = draw(fraud, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rivals.logistic(split, None)
    np.testing.assert_allclose(model.predict_proba(split.X_test).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="its own split"):
        model.predict_proba(split.X_train)


@pytest.mark.parametrize("folds", [1, 3])
def test_catboost_takes_categories_and_gaps_and_stops(
    fraud: Table, folds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_costs_reach_vowpalwabbit_by_decision() -> None:
    both = {name: rivals.VowpalWabbit(name) for name in ("csoaa_ldf", "cs_active")}
    for model in both.values():
        model.k = 2
    cost = np.array([0.0, 0.5])
    assert both["cs_active"]._example("0:1", cost) == "1:0 2:0.5 |s 0:1"
    lines = both["csoaa_ldf"]._example("0:1", cost).split("\n")
    assert lines == ["shared |s 0:1", "1:0 |d d0", "2:0.5 |d d1", ""]


@pytest.mark.parametrize("name", ["VW csoaa_ldf mc", "VW cs_active"])
def test_vowpalwabbit_learns_a_line(name: str) -> None:
    pytest.importorskip("vowpalwabbit")
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = (X[:, 0] > X[:, 1]).astype(int)
    X = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=pd.Categorical(["u", "v"] * 300))
    (row,) = runner.compare(draw(Table(X, y), 0), 0, [(Problem("pima", "ratio 2"), METHODS[name])])
    assert row["error"] == ""
    assert row["score"] > 0.8


def test_autogluon_is_asked_once_and_a_class_it_dropped_has_probability_zero() -> None:
    class Predictor:
        asked = 0

        def predict_proba(self, X: pd.DataFrame, **given: bool) -> pd.DataFrame:
            self.asked += 1
            return pd.DataFrame({2: [0.9] * len(X), 0: [0.1] * len(X)})

    model = rivals.AutoGluon()
    model.k, model.predictor_ = 3, Predictor()
    one, two = pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": [1.0, 2.0]})
    assert model.predict_proba(one).tolist() == [[0.1, 0.0, 0.9]]
    model.predict_proba(one)
    assert model.predictor_.asked == 1
    assert model.predict_proba(two).shape == (2, 3)
    assert model.predictor_.asked == 2


def test_autogluon_decides_and_leaves_no_files(
    fraud: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("autogluon.tabular")
    monkeypatch.setattr(rivals.tempfile, "tempdir", str(tmp_path))
    split = draw(fraud, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rivals.AutoGluon(10.0).fit(split.X_train, split.y_train)
        proba = model.predict_proba(split.X_test)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-5)
    assert list(tmp_path.glob("autogluon-*"))
    del model
    assert not list(tmp_path.glob("autogluon-*"))


# --- the comparison with AutoGluon ------------------------------------------------------------

# Savings of CostBoost, of AutoGluon and of AdaC2 on the splits; AutoGluon did not finish all.
SAVED = {
    ("adult", "ratio 2", "binary"): ((0.50, 0.52), (0.40, 0.42), (0.50, 0.52)),
    ("sonar", "ratio 2", "binary"): ((0.50, 0.50), (0.502, None), (0.58, 0.58)),
    ("vowel", "random symmetric", "multi-class"): ((0.30, 0.30), (0.31, None), ()),
    ("creditcard_subset", "row costs, hidden", "hidden"): ((0.6, 0.6), (0.5, 0.5), (0.78, 0.78)),
    ("pima", "ratio 2", "binary"): ((0.30,), (0.40,), (0.30,)),
    ("adult (all rows)", "ratio 2", "binary"): ((0.6,), (0.9,), ()),
}
NAMES = (methods.FLAGSHIP, methods.AUTOGLUON, "AdaC2")
SECONDS = dict(zip(NAMES, (2.0, 20.0, 1.0), strict=True))


@pytest.fixture
def rows() -> pd.DataFrame:
    made = []
    for (data, costs, group), by_method in SAVED.items():
        for method, values in zip(NAMES, by_method, strict=True):
            for split, value in enumerate(values):
                if value is not None:
                    made.append({
                        "data": data, "costs": costs, "group": group, "split": split,
                        "problem": f"{data}, {costs}", "method": method, "score": value,
                        "fit_seconds": SECONDS[method], "predict_seconds": 0.1, "n_train": 70,
                        "n_test": 30, "error": np.nan, "estimated": np.nan,
                        "development": int(data in problems.DEVELOPMENT),
                    })  # fmt: skip
    return pd.DataFrame(made)


def capped(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[~rows["data"].str.endswith(problems.ALL_ROWS)]


def test_a_match_counts_shared_splits_and_their_seconds(rows: pd.DataFrame) -> None:
    found = targets.match(capped(rows), methods.FLAGSHIP)
    assert found is not None
    assert found.differences.round(6).to_dict() == {
        "adult, ratio 2": 0.1, "creditcard_subset, row costs, hidden": 0.1, "pima, ratio 2": -0.1,
        "sonar, ratio 2": -0.002, "vowel, random symmetric": -0.01,
    }  # fmt: skip
    assert found.record == (2, 1, 2)
    assert found.total_time == pytest.approx(0.1)
    assert targets.match(rows, methods.HIGH) is None


def test_table_has_a_line_per_part_and_group(rows: pd.DataFrame) -> None:
    table = targets.against_autogluon(capped(rows), GROUPS).set_index(["sets", "problems of"])
    assert table.loc[("untouched", "all"), "won / tied / lost"] == "1 / 1 / 1"
    assert table.loc[("untouched", "all"), "mean difference"] == pytest.approx(0.088 / 3)
    assert table.loc[("untouched", "two classes"), "problems"] == 2
    assert table.loc[("untouched", "costs hidden when deciding"), "problems"] == 1
    assert table.loc[("development", "all"), "won / tied / lost"] == "0 / 0 / 1"


@pytest.mark.parametrize(
    ("ours", "score", "seconds", "reached"),
    [
        (methods.FLAGSHIP, 0.398, 2.5, True),
        (methods.FLAGSHIP, 0.396, 2.5, False),
        (methods.FLAGSHIP, 0.398, 2.6, False),
        (methods.HIGH, 0.41, 10.0, True),
        (methods.HIGH, 0.402, 10.0, False),  # a tie: no more wins than losses
        (methods.HIGH, 0.41, 10.1, False),
    ],
)
def test_targets(ours: str, score: float, seconds: float, reached: bool) -> None:
    rows = pd.DataFrame(
        {"problem": "x", "split": 0, "method": [ours, methods.AUTOGLUON],
         "score": [score, 0.4], "fit_seconds": [seconds, 20.0]}
    )  # fmt: skip
    found = targets.match(rows, ours)
    assert found is not None
    assert found.reaches(targets.TARGETS[ours]) is reached


def test_problems_where_a_method_of_ours_is_much_better(rows: pd.DataFrame) -> None:
    found = targets.much_better(capped(rows), methods.FLAGSHIP)
    assert list(found) == ["creditcard_subset, row costs, hidden", "sonar, ratio 2"]
    assert found["sonar, ratio 2"] == ("AdaC2", pytest.approx(0.08))


@pytest.fixture
def page_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[pd.DataFrame], str]:
    """The page of rows, without the time that its figures take."""
    for name in ("draw_ranks", "draw_differences"):
        monkeypatch.setattr(report, name, lambda *given: None)

    def page(rows: pd.DataFrame) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return report.compose(rows, {}, tmp_path / "rows.csv")

    return page


def test_the_page_of_partial_rows(
    rows: pd.DataFrame, page_of: Callable[[pd.DataFrame], str]
) -> None:
    page = page_of(rows)
    assert "| CostBoost | untouched | all | 3 | 1 / 1 / 1 | +0.0293 |" in page
    assert "CPU ≤ 0.125: **reached** (+0.0293, CPU 0.100" in page
    assert "- CostBoost: creditcard_subset, row costs, hidden (AdaC2, 0.180); sonar" in page
    full = page.split("## All rows of the large sets", 1)[1].split("\n## ", 1)[0]
    assert "| CostBoost | 0.600 (2) |" in full
    assert "4 problems on 4 data sets" in page  # neither hidden costs nor full sizes
    alone = page_of(rows[rows["data"] == "adult (all rows)"])
    assert "| AutoGluon + Bayes | 0.900 (20) |" in alone


def test_the_page_of_rivals_alone(
    rows: pd.DataFrame, page_of: Callable[[pd.DataFrame], str]
) -> None:
    page = page_of(rows[rows["method"] == methods.AUTOGLUON])
    assert "## CostBoost against AutoGluon" not in page
    assert "| AutoGluon + Bayes |" in page
