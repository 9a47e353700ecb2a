"""Real processes: no answer is lost or wrong through a reload and a drain."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from contextlib import closing, suppress
from itertools import chain, count, cycle

import psutil
import pytest
import typer
from typer.testing import CliRunner

from costboost import CostBoostClassifier
from costboost.cli.serve import serve
from costboost.serve import Settings
from costboost.serve.app import Application
from costboost.serve.scoring import load_service
from costboost.serve.workers import _loader, _make_no_more
from serve.models import REVIEW, SMALL, Client, fraud_frame, model_of, records_of, rows_of
from serve.processes import ask, ask_once, server, wait_until


def ask_on(port, bodies, answers, ends):
    """Ask again and again on one connection, until the service closes it."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        for body in cycle(bodies):
            try:
                status, content, says = ask(connection, "/decide", body)
            except (OSError, http.client.HTTPException) as error:
                ends.append(repr(error))
                return
            answers.append((body, status, json.loads(content)))
            if says == "close":
                ends.append("closed")
                return


ALONE = pytest.mark.skipif(
    "COSTBOOST_TRUST" not in os.environ,
    reason="two workers under load need a machine of their own: make trust",
)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of Unix")
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=ALONE)])
def test_reload_and_drain_lose_nothing(tmp_path, workers):
    path, first, right = tmp_path / "fraud.costboost", model_of("review"), {}
    second = CostBoostClassifier(REVIEW, **{**SMALL, "random_state": 5}).fit(*fraud_frame(seed=5))
    rows = records_of(rows_of(first, 12))
    bodies = [json.dumps({"records": some}).encode() for some in (rows[:1], rows[1:2], rows * 40)]
    for model in (second, first):
        service = load_service(model.save(path))
        client = Client(Application(Settings(path), lambda service=service: service))
        right |= {(service.fingerprint, body): client.decide(body).json() for body in bodies}
    new, old = dict.fromkeys(model for model, _ in right)
    with server(path, "--workers", str(workers), "--drain", "0.5") as (process, port):

        def counted(name):
            found = re.search(rf"costboost_{name} (\S+)", ask_once(port, "/metrics")[1].decode())
            return float(found[1]) if found else 0.0

        def is_ready():
            with suppress(OSError):
                return json.loads(ask_once(port, "/ready")[1]).get("model") == old

        wait_until(is_ready)
        answers, ends = [[] for _ in range(4)], []
        askers = [threading.Thread(target=ask_on, args=(port, bodies, x, ends)) for x in answers]
        for asker in askers:
            asker.start()
        wait_until(lambda: min(map(len, answers)) > 20)
        second.save(path)
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: counted(r'reloads_total\{result="done"\}') == workers)
        path.write_bytes(b"damaged")
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: counted(r'reloads_total\{result="failed"\}') == workers)
        before = list(map(len, answers))
        wait_until(lambda: all(len(x) > n + 10 for x, n in zip(answers, before, strict=True)))
        done = counted(r'requests_total\{path="/decide",status="200"\}')
        process.send_signal(signal.SIGTERM)
        for asker in askers:
            asker.join(60)
        assert process.wait(60) == 0
    assert ends == ["closed"] * 4
    assert sum(before) <= done <= sum(map(len, answers))
    for body, status, answer in chain(*answers):
        assert (status, answer) == (200, right[answer["model"], body])
    assert {answer["model"] for *_, answer in chain(*answers)} == {old, new}


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of Unix")
def test_a_signal_that_comes_too_early_waits(tmp_path):
    path = tmp_path / "fraud.costboost"
    model_of("review").save(path)
    before = (  # a thread that does not block the signal, as those of other libraries
        "import os, signal, threading, time; import costboost.serve.workers as w; load = w._loader;"
        "threading.Thread(target=time.sleep, args=(99,), daemon=True).start();"
        "w._loader = lambda *a: (os.kill(os.getpid(), signal.SIGHUP), load(*a))[1];"
    )
    with server(path, before=before) as (_, port):
        done = b'reloads_total{result="done"} 1.0'
        wait_until(lambda: done in ask_once(port, "/metrics")[1])


def test_a_late_worker_puts_no_older_model_back(tmp_path, monkeypatch):
    settings = Settings(tmp_path / "model")
    settings.model.write_bytes(b"old")

    def slow(path, *_):
        data = path.read_bytes()
        if data == b"old":  # meanwhile another worker loads the next model
            settings.model.write_bytes(b"new")
            assert _loader(settings, tmp_path)() == b"new"
        return data

    monkeypatch.setattr("costboost.serve.scoring.load_service", slow)
    monkeypatch.setattr(os, "getpid", count().__next__)
    assert _loader(settings, tmp_path)() == b"old"
    assert (tmp_path / "last_good").read_bytes() == b"new"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="by Linux's packet filter")
def test_connections_that_were_made_can_be_accepted_when_no_more_are():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        before = [socket.create_connection(address, timeout=5) for _ in range(3)]
        _make_no_more(listener)
        with pytest.raises(TimeoutError):
            socket.create_connection(address, timeout=0.2)
        for one in before:
            one.sendall(b"x")
            accepted = listener.accept()[0]
            assert accepted.recv(1) == b"x"
            accepted.close()
            one.close()


def test_unfinished_connections(tmp_path):
    """Clients that never finish a request keep nobody else out, and fill no log."""
    path, log = tmp_path / "fraud.costboost", []
    model_of("review").save(path)
    before = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256));"
        "import costboost.serve.workers as w; w._HEAD_SECONDS = 3.0;"
    )
    with server(path, before=before, log=log) as (process, port):

        def send(data):
            found = socket.create_connection(("127.0.0.1", port), timeout=30)
            found.sendall(data)
            return found

        wait_until(lambda: ask_once(port, "/health")[0] == 200)
        with send(b"POST /decide HTTP/1.1\r\nHost: loc") as first:
            for byte in b"alh":  # a byte now and then does not help
                time.sleep(0.5)
                first.sendall(bytes([byte]))
            started = time.monotonic()
            assert first.recv(100) == b""
            assert time.monotonic() - started < 10
        half = [send(b"GET /health HTTP/1.1\r\nHost: loc") for _ in range(300)]
        assert ask_once(port, "/health")[0] == 200
        for one in half:
            one.close()
        for _ in range(100):  # nonsense is answered, and logged a few times
            with send(b"nonsense\r\n\r\n") as one:
                assert b"400" in one.recv(1000)
        with send(
            b"POST /decide HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n"
        ) as one:
            answer = b"".join(iter(lambda: one.recv(10_000), b""))
            assert answer.startswith(b"HTTP/1.1 400") and answer.count(b"HTTP/1.1") == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert 0 < len(log) < 50, log


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="children are found by /proc")
def test_workers_outlive_bad_files_and_end_with_their_supervisor(tmp_path):
    names = [tmp_path / "one.costboost", tmp_path / "two.costboost"]
    for name, path in zip(("review", "expression"), names, strict=True):
        model_of(name).save(path)
    one, two = (load_service(path).fingerprint for path in names)
    link = tmp_path / "now.costboost"
    link.symlink_to(names[0])

    with server(link, "--workers", "2") as (process, port):

        def models():
            with suppress(OSError, http.client.HTTPException):
                # One that a killed worker had taken may never be answered.
                found = [ask_once(port, "/ready", 5) for _ in range(8)]
                return {json.loads(content)["model"] for _, content, _ in found}
            return set()

        def workers():
            found = set()
            for child in psutil.Process(process.pid).children():
                with suppress(psutil.NoSuchProcess):  # or a zombie
                    found |= {child.pid} if "spawn_main" in " ".join(child.cmdline()) else set()
            return found

        wait_until(lambda: len(workers()) == 2 and models() == {one})
        link.unlink()
        link.symlink_to(names[1])
        process.send_signal(signal.SIGHUP)
        both = b'reloads_total{result="done"} 2.0'  # one that was late would keep the first model
        wait_until(lambda: models() == {two} and both in ask_once(port, "/metrics")[1])
        names[1].write_bytes(names[1].read_bytes()[:1000])
        process.send_signal(signal.SIGHUP)
        before = workers()
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: len(workers() - before) == 1)
        os.kill(max(before), signal.SIGKILL)  # the new ones must answer
        wait_until(lambda: len(workers() - before) == 2 and models() == {two}, 120)
        last = [psutil.Process(pid) for pid in workers()]
        process.kill()
        assert psutil.wait_procs(last, 30)[1] == []


def test_bad_starts_say_why(tmp_path):
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
        ([good, "--host", "203.0.113.7", "--without-token"], "assign requested address"),
    ):
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == 2, result.output
        assert word in " ".join(result.output.split()), result.output
