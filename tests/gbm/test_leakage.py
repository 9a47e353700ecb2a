"""What makes estimates too good is found, kept with the model, and said in every verdict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import costboost
from costboost import CostBoostClassifier
from costboost.errors import CostWarning
from costboost.gbm.leakage import (
    SKETCH_ROWS,
    compare_rows,
    find_copies,
    find_leaks,
    hash_rows,
    sketch_rows,
)

COSTS = {"fn": 5, "fp": 1}
FOLDS = [(np.arange(0, 500), np.arange(500, 1000)), (np.arange(500, 1000), np.arange(0, 500))]


def table(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0.3).astype(int)
    return X, y


def quick(**options):
    return CostBoostClassifier(COSTS, effort="fast", n_estimators=60, random_state=0, **options)


# -- hashes ----------------------------------------------------------------------------------------


def test_equal_rows_have_equal_hashes_and_others_do_not():
    grid = np.array(np.meshgrid(*[range(8)] * 6)).reshape(6, -1).T.astype(float)
    assert len(np.unique(hash_rows(grid))) == len(grid)
    numbers = np.random.default_rng(0).permutation(200_000).astype(float)[:, None]
    assert len(np.unique(hash_rows(numbers))) == len(numbers)
    X = np.array([[0.0, np.nan, 3.0], [-0.0, -np.nan, 3.0], [0.0, 3.0, np.nan]])
    a, b, c = hash_rows(X)
    assert a == b != c
    assert (hash_rows(X.astype(np.float32)) == [a, b, c]).all()


def test_sparse_rows_have_the_hashes_of_dense_ones():
    rng = np.random.default_rng(0)
    X = np.where(rng.uniform(size=(300, 20)) < 0.2, rng.normal(size=(300, 20)), 0.0)
    X[7] = 0.0
    assert (hash_rows(sparse.csr_matrix(X)) == hash_rows(X)).all()


# -- findings --------------------------------------------------------------------------------------


def test_nothing_is_found_in_honest_rows():
    X, y = table()
    assert find_leaks(X, y, FOLDS) == []


def test_columns_that_tell_the_class_are_named():
    X, y = table()
    X[:, 2] = y
    (finding,) = find_leaks(X, y, FOLDS, names=["a", "b", "Mahnstufe", "d"])
    assert finding.columns == ("Mahnstufe",)
    assert finding.doubt == "column Mahnstufe alone tells the class"
    X[:, 3] = 1 - y
    (finding,) = find_leaks(X, y, FOLDS)
    assert finding.doubt == "each of the columns 2, 3 alone tells the class"


def test_copies_across_folds_are_counted():
    X, _ = table()
    X[500:700] = X[:200]
    finding = find_copies(X, hash_rows(X), FOLDS)
    assert finding.doubt == "40.0\u00a0% of the held-out rows are copies of training rows"
    assert finding.warning.startswith("40% of the held-out rows are equal to a row")


# -- rows of the training --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2000, 100_000])
@pytest.mark.parametrize("known", [0.0, 0.3, 1.0])
def test_rows_of_the_training_are_recognised(n, known):
    X, y = table(n)
    sketch, natural_share = sketch_rows(X, y)
    assert len(sketch) == min(n, SKETCH_ROWS) and natural_share == 0.0
    Z, z = table(1000, seed=1)
    n_known = round(1000 * known)
    Z[:n_known] = X[:n_known]
    z[:n_known] = y[:n_known]
    found = compare_rows(Z, z, sketch, natural_share)
    assert abs(found.share - known) < 0.1
    assert found.are_new == (known == 0.0) and (found.doubt is None) == (known == 0.0)
    if known == 1.0:
        assert found.doubt == "the model was trained on these rows"
    if known == 0.3 and n == 2000:
        assert found.doubt == "the model was trained on 30.0\u00a0% of these rows"


def test_few_distinct_rows_repeat_honestly():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (800, 4)).astype(float)
    y = (rng.uniform(size=800) < X[:, 0] / 4).astype(int)
    sketch, natural_share = sketch_rows(X[:500], y[:500])
    new = compare_rows(X[500:], y[500:], sketch, natural_share)
    assert new.share > 0.5 and new.doubt is None
    assert compare_rows(X[:300], y[:300], sketch, natural_share).doubt is not None


def test_too_few_rows_are_not_called_new():
    X, y = table(100_000)
    sketch, natural_share = sketch_rows(X, y)
    few = compare_rows(*table(30, seed=1), sketch, natural_share)
    assert few.n_compared < 20 and not few.are_new and few.doubt is None


# -- with the model --------------------------------------------------------------------------------


def test_a_model_knows_its_rows_also_from_a_file(tmp_path):
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 1] > 0, "u", "v"))
    model = quick().fit(frame, y)
    assert model.doubts_ == []
    later, z = table(seed=1)
    later = pd.DataFrame(later, columns=list("abcd")).assign(
        kind=np.where(later[:, 1] > 0, "u", "v")
    )
    for other in (model, costboost.load(model.save(tmp_path / "m.costboost"))):
        assert other.known_rows(frame, y).share == 1.0
        assert other.known_rows(later, z).are_new
    path = model.save(tmp_path / "m.costboost", row_hashes=False)
    assert costboost.load(path).known_rows(frame, y) is None
    assert model.known_rows(frame, y) is not None


WAYS = {
    "pays": "The model pays: it saves",
    "trained": "Cannot tell: the model was trained on these rows. On these rows it saves",
    "leak": "Cannot tell: column Mahnstufe alone tells the class. On these rows it saves",
    "unknown": "The model pays: it saves",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_verdict_of_a_report_knows_what_the_fit_knew(way, tmp_path):
    X, y = table()
    later, z = table(seed=1)
    names = ["a", "b", "c", "Mahnstufe"]
    if way == "leak":
        X[:, 3] = y
        later[:, 3] = z
    if way == "trained":
        later, z = X, y
    X, later = (pd.DataFrame(rows, columns=names) for rows in (X, later))
    model = quick()
    if way == "leak":
        with pytest.warns(CostWarning, match="'Mahnstufe' of X tells the class"):
            model.fit(X, y)
    else:
        model.fit(X, y)
    path = model.save(tmp_path / "m.costboost", row_hashes=way != "unknown")
    model = costboost.load(path)
    report = model.report_data(later, z)
    assert str(report.headline.verdict).startswith(WAYS[way])
    page = model.report(later, z, path=tmp_path / "report.html").read_text(encoding="utf-8")
    first_page = page[: page.index('id="comparison"')]
    is_new = "that the model has not seen" in first_page
    assert is_new == (way in ("pays", "leak"))
    assert ("Deploy it" in first_page) == (way in ("pays", "unknown"))
    assert ("Do not bet on this" in first_page) == (way in ("trained", "leak"))
    assert ('<p class="big">Not known' in first_page) == (way in ("trained", "leak"))


def test_a_comparison_says_what_its_table_leaks():
    X, y = table()
    X[:, 3] = y
    methods = {"ours": quick()}
    found = costboost.compare(methods, (X, y), costs=COSTS, splits=2, progress=False)
    verdict = found.verdicts()["ours"]
    assert verdict.answer == "cannot tell" and "column 3 alone" in verdict.title
