"""Real processes: a service that is stopped answers what it has begun."""

from __future__ import annotations

import json
import re

import pytest
import typer
from typer.testing import CliRunner

from costboost.cli.serve import serve
from serve.models import model_of, records_of, rows_of
from serve.processes import ask_once, server, wait_until
from trust.service import run


@pytest.mark.slow
def test_begun_requests_are_answered():
    """Two stops under load: one process, then two; more of them in `make trust`."""
    counts, violations = run(seed=1, n_stops=2)
    assert violations == []
    assert counts["requests answered"] > 20


@pytest.mark.slow
def test_workers_count_together(tmp_path):
    path = model_of("review").save(tmp_path / "fraud.costboost")
    body = json.dumps({"records": records_of(rows_of(model_of("review"), 2))})
    with server(path, "--workers", "2") as (_, port):
        wait_until(lambda: ask_once(port, "/ready")[0] == 200)
        for _ in range(8):
            assert ask_once(port, "/decide", body)[0] == 200
        text = ask_once(port, "/metrics")[1].decode()
        counts = re.findall(r"^costboost_decisions_total\S+ (\S+)$", text, re.MULTILINE)
        assert sum(map(float, counts)) == 16


def test_bad_starts_say_why(tmp_path, monkeypatch):
    monkeypatch.delenv("COSTBOOST_TOKEN", raising=False)
    app = typer.Typer()
    app.command()(serve)
    good, pickled, empty = (tmp_path / name for name in ("fraud.costboost", "model.pkl", "token"))
    model_of("review").save(good)
    pickled.write_bytes(b"\x80\x04N.")
    empty.write_text(" \n")
    for arguments, word in (
        ([tmp_path / "absent"], "no model file"),
        ([pickled], "model.pkl"),
        ([good, "--host", "0.0.0.0"], "token"),
        ([good, "--token-file", empty], "--token-file"),
    ):
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == 2, result.output
        assert word in " ".join(result.output.split()), result.output
