"""A killed fit goes on where it stopped, and ends in the identical model."""

from __future__ import annotations

import errno
import os
import resource
import signal

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.costs import per_row
from costboost.datasets import make_fraud
from costboost.files.model import contents
from costboost.gbm.members import Members

DATA = make_fraud(400, random_state=0)
COSTS = per_row(fn=DATA.amount, fp=5)


class Killed(BaseException):
    """Not caught by anybody, as a signal."""


def make(**parameters):
    chosen = {"n_estimators": 8, "ensemble": 2, "random_state": 0, "n_jobs": 1, **parameters}
    return CostBoostClassifier(**chosen)


def dies_at(head, booster, at=3):
    def after_round(told):
        if (told.head, told.booster, told.round) == (head, booster, at):
            raise Killed

    return after_round


def content(model):
    """All of a model but when it was trained, and how long it took."""
    model.trained_at_ = "now"
    model._members = {
        name: Members(member._replace(seconds=0.0) for member in members)
        for name, members in model._members.items()
    }
    model.members_ = next(iter(model._members.values()))
    manifest, members = contents(model)
    return manifest, members


def interrupted(path, head="decision", booster=1, **parameters):
    with pytest.raises(Killed):
        make(**parameters).fit(
            DATA.X, DATA.y, costs=COSTS, checkpoint=path, callbacks=dies_at(head, booster)
        )


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("head, booster", [("probability", 1), ("decision", 2)])
def test_a_resumed_fit_ends_in_the_identical_model(tmp_path, engine, head, booster):
    path = tmp_path / "fit.checkpoint"
    interrupted(path, head, booster, engine=engine)
    assert path.exists()
    rounds = []
    resumed = make(engine=engine).fit(
        DATA.X, DATA.y, costs=COSTS, checkpoint=path, callbacks=rounds.append
    )
    whole = make(engine=engine).fit(DATA.X, DATA.y, costs=COSTS)
    assert content(resumed) == content(whole)
    assert (rounds[0].head, rounds[0].booster) == (head, booster)  # nothing is trained twice
    assert os.listdir(tmp_path) == []


def test_more_classes_and_a_loss_with_costs(tmp_path):
    y = np.digitize(DATA.X[:, 0], np.quantile(DATA.X[:, 0], [0.3, 0.7]))
    path = tmp_path / "c"

    def fit(**more):
        return make(cost_matrix=1 - np.eye(3), loss="gll").fit(DATA.X, y, **more)

    with pytest.raises(Killed):
        fit(checkpoint=path, callbacks=dies_at("decision", 2))
    assert content(fit(checkpoint=path)) == content(fit())


def test_parquet_keeps_the_first_head(tmp_path):
    frame = pd.DataFrame(DATA.X).add_prefix("x").assign(amount=DATA.amount, fraud=DATA.y)
    frame.to_parquet(tmp_path / "a.parquet")
    path = tmp_path / "c"

    def fit(**more):
        model = make(engine="xgboost", ensemble=1)
        costs = {"fn": "amount", "fp": 5}
        return model.fit_parquet(tmp_path / "a.parquet", "fraud", costs=costs, **more)

    with pytest.raises(Killed):
        fit(checkpoint=path, callbacks=dies_at("decision", 1))
    rounds = []
    resumed = fit(checkpoint=path, callbacks=rounds.append)
    assert {told.head for told in rounds} == {"decision"}
    assert content(resumed) == content(fit())
    with pytest.raises(Killed):
        fit(checkpoint=path, callbacks=dies_at("decision", 1))
    frame.assign(x0=0.0).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="other files"):
        fit(checkpoint=path)


def test_a_warm_start_goes_on_too(tmp_path):
    def warm(**more):
        model = make(warm_start=True, n_estimators=3, effort="fast").fit(
            DATA.X, DATA.y, costs=COSTS
        )
        return model.set_params(n_estimators=8).fit(DATA.X, DATA.y, costs=COSTS, **more)

    path = tmp_path / "c"
    with pytest.raises(Killed):
        warm(checkpoint=path, callbacks=dies_at("decision", 1, at=5))
    assert content(warm(checkpoint=path)) == content(warm())


# What may differ, and what the error says of it.
OTHERS = {
    "rows": (lambda: ({}, DATA.X + 1, DATA.y, {"costs": COSTS}), "other rows"),
    "labels": (lambda: ({}, DATA.X, np.roll(DATA.y, 1), {"costs": COSTS}), "folds, rows"),
    "costs": (lambda: ({}, DATA.X, DATA.y, {"costs": 2 * COSTS}), "other costs"),
    "weights": (
        lambda: ({}, DATA.X, DATA.y, {"costs": COSTS, "sample_weight": 1 + DATA.y}),
        "other sample weights",
    ),
    "a parameter": (
        lambda: ({"reg_lambda": 1.0}, DATA.X, DATA.y, {"costs": COSTS}),
        "other parameters",
    ),
    "engine parameters": (
        lambda: ({"engine_params": {"max_depth": 3}}, DATA.X, DATA.y, {"costs": COSTS}),
        "other parameters",
    ),
    "the seed": (lambda: ({"random_state": 1}, DATA.X, DATA.y, {"costs": COSTS}), "folds, seeds"),
    "an eval_set": (
        lambda: ({}, DATA.X, DATA.y, {"costs": COSTS, "eval_set": (DATA.X, DATA.y, COSTS)}),
        "eval_set",
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_checkpoint_of_another_fit_is_refused(tmp_path, what):
    path = tmp_path / "c"
    interrupted(path)
    before = path.read_bytes()
    make_other, words = OTHERS[what]
    parameters, X, y, more = make_other()
    with pytest.raises(ValueError, match=words) as raised:
        make(**parameters).fit(X, y, checkpoint=path, **more)
    assert "Delete the file to start anew, or choose another path." in str(raised.value)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["c"]


def test_other_versions_are_refused(tmp_path, monkeypatch):
    from costboost.files import checkpoint

    path = tmp_path / "c"
    interrupted(path)
    monkeypatch.setattr(checkpoint, "version", lambda package: "9.9")
    with pytest.raises(ValueError, match="other versions"):
        make().fit(DATA.X, DATA.y, costs=COSTS, checkpoint=path)


@pytest.mark.parametrize("damage", [b"", b"PK", b"{}", None])
def test_damaged_files_and_model_files_are_refused_and_kept(tmp_path, damage):
    path = tmp_path / "c"
    if damage is None:
        make().fit(DATA.X, DATA.y, costs=COSTS).save(path)
    else:
        path.write_bytes(damage)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"not a checkpoint of CostBoostClassifier.*Delete"):
        make().fit(DATA.X, DATA.y, costs=COSTS, checkpoint=path)
    assert path.read_bytes() == before


def test_a_checkpoint_is_no_model(tmp_path):
    from costboost import load

    path = tmp_path / "c"
    interrupted(path)
    with pytest.raises(ValueError, match="not a classifier of costboost"):
        load(path)


def test_a_seed_is_needed(tmp_path):
    with pytest.raises(ValueError, match="Set random_state to a number"):
        make(random_state=None).fit(DATA.X, DATA.y, costs=COSTS, checkpoint=tmp_path / "c")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("where", ["missing folder/c", ".", "a file/c"])
def test_a_path_that_cannot_be_written_fails_before_the_training(tmp_path, where):
    (tmp_path / "a file").write_text("")
    rounds = []
    with pytest.raises((OSError, ValueError), match=r"checkpoint|regular file|directory"):
        make().fit(
            DATA.X, DATA.y, costs=COSTS, checkpoint=tmp_path / where, callbacks=rounds.append
        )
    assert not rounds
    assert os.listdir(tmp_path) == ["a file"]


def test_a_full_disk_is_a_clear_error_and_keeps_what_was_finished(tmp_path):
    path = tmp_path / "c"
    whole = make().fit(DATA.X, DATA.y, costs=COSTS)
    limits, old = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)

    def fill(told):
        if (told.head, told.booster, told.round) == ("probability", 2, 1):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limits[1]))

    try:
        with pytest.raises(OSError, match="What was finished before is still in it") as raised:
            make().fit(DATA.X, DATA.y, costs=COSTS, checkpoint=path, callbacks=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    assert raised.value.errno == errno.EFBIG
    assert str(path) in str(raised.value)
    assert os.listdir(tmp_path) == ["c"]
    rounds = []
    resumed = make().fit(DATA.X, DATA.y, costs=COSTS, checkpoint=path, callbacks=rounds.append)
    assert (rounds[0].head, rounds[0].booster) == ("probability", 2)
    assert content(resumed) == content(whole)


def test_what_a_killed_write_leaves_is_taken_over(tmp_path):
    path = tmp_path / "c"
    interrupted(path)
    (tmp_path / ".c.tmp").write_bytes(b"half")
    make().fit(DATA.X, DATA.y, costs=COSTS, checkpoint=path)
    assert os.listdir(tmp_path) == []


# -- the folder of fit_parquet ---------------------------------------------------------------------


def on_disk(tmp_path, **more):
    frame = pd.DataFrame(DATA.X).add_prefix("x").assign(amount=DATA.amount, fraud=DATA.y)
    frame.to_parquet(tmp_path / "a.parquet")
    model = make(engine="xgboost", ensemble=1)
    return model.fit_parquet(tmp_path / "a.parquet", "fraud", **more)


def test_too_little_room_is_an_error_before_anything_is_written(tmp_path, monkeypatch):
    """XGBoost ends the process if the disk is full."""
    usage = type("usage", (), {"free": 1000})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OSError, match=r"writes up to 1 MB.*Set the environment variable TMPDIR"):
        on_disk(tmp_path, costs={"fn": "amount", "fp": 5})
    assert os.listdir(tmp_path) == ["a.parquet"]


def test_a_missing_temporary_folder_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(OSError, match="needs a folder for temporary files"):
        on_disk(tmp_path, costs={"fn": "amount", "fp": 5})


def test_folders_of_killed_processes_go_and_those_of_living_ones_stay(tmp_path, monkeypatch):
    from costboost.gbm.parquet import spill_folder

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "costboost-dead").mkdir()
    (tmp_path / "costboost-dead" / "page").write_text("")
    (tmp_path / "costboost-dead.lock").write_text("")
    with spill_folder(0, "here") as folder:
        on_disk(tmp_path, costs={"fn": "amount", "fp": 5})
        assert folder.is_dir()
        assert sorted(os.listdir(tmp_path)) == ["a.parquet", folder.name, f"{folder.name}.lock"]
    assert os.listdir(tmp_path) == ["a.parquet"]
