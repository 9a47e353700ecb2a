"""The scoring service on this machine's loopback alone, beside a bare FastAPI handler.

    python benchmarks/serve_load.py            # some minutes
    python benchmarks/serve_load.py --short    # correctness, a few seconds of load

One model of five boosters. Single rows: the service, a bare FastAPI handler that calls the same
boosters with LightGBM, and the model in this process, in turns, so that drift of the machine hits
all of them; then eight connections at once. Batches, and the processor time of the audit log. Every
answer is compared with the model in this process.

The bare handler does what a team writes in an afternoon: a pydantic model of the row, the mean
score of the boosters, a comparison of two costs. It checks no token, limits nothing, counts
nothing and returns one word.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from harness import Bench, write_rows

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud

SEED = 0
COSTS = {"fn": "amount", "fp": 5}
START = "import typer; from costboost.cli.serve import serve; typer.run(serve)"
CONNECTIONS = 8
WARM_REQUESTS = 50


# -- the bare handler ------------------------------------------------------------------------------


def bare(folder: str) -> None:
    """A FastAPI handler that calls LightGBM; run in a process of its own."""
    import lightgbm as lgb
    import uvicorn
    from fastapi import FastAPI
    from pydantic import create_model
    from scipy.special import expit

    boosters = [lgb.Booster(model_file=str(path)) for path in sorted(Path(folder).glob("*.txt"))]
    temperature = float((Path(folder) / "temperature").read_text())
    names = (Path(folder) / "names").read_text().split()
    row_type: Any = create_model("Row", **dict.fromkeys(names, (float, ...)))
    app = FastAPI()

    async def decide(row: Any) -> dict[str, str]:
        x = np.array([[getattr(row, name) for name in names]])
        scores = [booster.predict(x, raw_score=True, num_threads=1)[0] for booster in boosters]
        p = float(expit(temperature * np.mean(scores)))
        return {"decision": "fraud" if p * row.amount >= (1 - p) * 5 else "ok"}

    decide.__annotations__["row"] = row_type
    app.post("/decide")(decide)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, log_level="error", access_log=False)
    uvicorn.Server(config).run([listener])


# -- processes and clients -------------------------------------------------------------------------


@contextmanager
def started(*command: str) -> Iterator[tuple[psutil.Process, int]]:
    """A server process and its port."""
    process = subprocess.Popen(
        [sys.executable, *command], stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stderr is not None
    try:
        port = None
        for line in process.stderr:
            if match := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                port = int(match[1])
                break
        if port is None:
            raise RuntimeError("A server did not start.")
        threading.Thread(target=process.stderr.read, daemon=True).start()
        wait_until_it_answers(port)
        yield psutil.Process(process.pid), port
    finally:
        process.terminate()
        process.wait(60)


def wait_until_it_answers(port: int) -> None:
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        with suppress(OSError):
            Client(port).get("/health")
            return
        time.sleep(0.1)
    raise RuntimeError("A server did not answer.")


class Client:
    """One connection, kept alive."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def get(self, path: str) -> None:
        self.connection.request("GET", path)
        self.connection.getresponse().read()

    def decide(self, body: bytes) -> dict[str, Any]:
        """Ask for decisions; anything but 200 is an error."""
        headers = {"content-type": "application/json"}
        self.connection.request("POST", "/decide", body, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise ValueError(f"{answer.status}: {content[:200]!r}")
        decided: dict[str, Any] = json.loads(content)
        return decided


# -- the model and what is right -------------------------------------------------------------------


@dataclass
class Problem:
    """Rows, a model and its file, and what it expects decisions to cost."""

    folder: Path
    rows: pd.DataFrame
    model: CostBoostClassifier
    file: Path
    costs: np.ndarray

    def serve(self, *options: str) -> tuple[str, ...]:
        """The command of the service."""
        return "-c", START, str(self.file), "--port", "0", *options

    def body(self, start: int, size: int) -> bytes:
        """A request for some rows."""
        return json.dumps({"records": self.rows[start : start + size].to_dict("records")}).encode()

    def check(self, answer: dict[str, Any], start: int) -> None:
        """Compare an answer with the model in this process."""
        costs = np.array([list(row["expected_costs"].values()) for row in answer["rows"]])
        expected = self.costs[start : start + len(costs)]
        decisions = [row["decision"] for row in answer["rows"]]
        np.testing.assert_allclose(costs, expected, rtol=1e-12)
        np.testing.assert_array_equal(decisions, expected.argmin(axis=1))


def make_problem(folder: Path, n_rows: int) -> Problem:
    data = make_fraud(10_000, random_state=SEED)
    X = pd.DataFrame(data.X, columns=list(data.feature_names))
    model = CostBoostClassifier(COSTS, effort="fast", cv=5, random_state=SEED, n_jobs=1)
    model.fit(X, data.y)
    for place, booster in enumerate(model.boosters_):
        booster.save_model(str(folder / f"{place}.txt"))
    (folder / "temperature").write_text(repr(model.temperature_))
    (folder / "names").write_text(" ".join(model.feature_names_in_))
    data = make_fraud(n_rows, random_state=SEED + 2)
    rows = pd.DataFrame(data.X, columns=list(data.feature_names))
    file = model.save(folder / "fraud.costboost")
    return Problem(folder, rows, model, file, model.predict_cost(rows))


# -- measurements ----------------------------------------------------------------------------------


def milliseconds(call: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return 1e3 * (time.perf_counter() - start), result


def cpu_ms(process: psutil.Process) -> float:
    """Milliseconds of processor time that a process has used."""
    times = process.cpu_times()
    return 1e3 * (times.user + times.system)


def single_rows(problem: Problem, bench: Bench, n_requests: int) -> None:
    """Milliseconds of one row: service, bare handler and this process, in turns."""
    times: dict[str, list[float]] = {"service": [], "bare": [], "in process": []}
    with (
        started(*problem.serve()) as (service, port),
        started(__file__, "--bare", str(problem.folder)) as (bare_service, bare_port),
    ):
        ours = Client(port)
        theirs = Client(bare_port)
        for turn in range(n_requests + WARM_REQUESTS):
            if turn == WARM_REQUESTS:
                for measured in times.values():
                    measured.clear()
                before = cpu_ms(service)
                bare_before = cpu_ms(bare_service)
            place = turn % len(problem.rows)
            row = problem.rows[place : place + 1]
            body = problem.body(place, 1)
            plain = json.dumps(row.to_dict("records")[0]).encode()
            calls = {
                "service": lambda body=body: ours.decide(body),
                "bare": lambda plain=plain: theirs.decide(plain),
                "in process": lambda row=row: problem.model.decide(row),
            }
            answers = {}
            for step in range(3):  # none of them always comes after the same other one
                name = list(calls)[(turn + step) % 3]
                duration, answers[name] = milliseconds(calls[name])
                times[name].append(duration)
            problem.check(answers["service"], place)
            word = ["ok", "fraud"][answers["service"]["rows"][0]["decision"]]
            assert word == answers["bare"]["decision"], "two programs, one decision"
        used = cpu_ms(service) - before
        bare_used = cpu_ms(bare_service) - bare_before
    note = f"{n_requests} requests"
    # Processor time tells more than the clock where other programs run.
    bench.add(
        "one row", "CPU", used / n_requests, "bare", bare_used / n_requests, at_most=2.0,
        unit="ms", note=note,
    )  # fmt: skip
    for what, percent in (("p50", 50), ("p99", 99)):
        mine = float(np.percentile(times["service"], percent))
        for rival in ("bare", "in process"):
            theirs_ms = float(np.percentile(times[rival], percent))
            bench.add("one row", what, mine, rival, theirs_ms, unit="ms", note=note)


def requests_per_second(command: tuple[str, ...], body: bytes, seconds: float) -> float:
    """Requests that a service answers by several connections at once."""
    counts = [0] * CONNECTIONS
    with started(*command) as (_, port):

        def ask(number: int) -> None:
            client = Client(port)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                client.decide(body)
                counts[number] += 1

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return sum(counts) / seconds


def many_connections(problem: Problem, bench: Bench, seconds: float) -> None:
    """Requests per second by several connections at once, service and bare handler."""
    row = json.dumps(problem.rows[:1].to_dict("records")[0]).encode()
    service = requests_per_second(problem.serve(), problem.body(0, 1), seconds)
    bare_command = (__file__, "--bare", str(problem.folder))
    beside = requests_per_second(bare_command, row, seconds)
    bench.add("one row", "requests", service, "bare", beside, unit="requests/s",
              note=f"{CONNECTIONS} connections")  # fmt: skip


def batches(problem: Problem, bench: Bench, repeats: int) -> None:
    """Rows per second, against the same model in this process."""
    body = problem.body(0, len(problem.rows))
    times = []
    in_process = []
    with started(*problem.serve()) as (_, port):
        client = Client(port)
        for _ in range(repeats + 1):
            duration, answer = milliseconds(lambda: client.decide(body))
            problem.check(answer, 0)
            times.append(duration)
            in_process.append(milliseconds(lambda: problem.model.decide(problem.rows))[0])
    rate, beside = (1e3 * len(problem.rows) / statistics.median(t[1:]) for t in (times, in_process))
    bench.add("a batch", "JSON", rate, "in process", beside, unit="rows/s",
              note=f"{len(problem.rows)} rows a request")  # fmt: skip


def audit(problem: Problem, bench: Bench, n_requests: int) -> None:
    """Processor time of requests with an audit log and without, in turns."""
    logged_command = problem.serve("--audit-log", str(problem.folder / "audit.jsonl"))
    body = problem.body(0, 1)
    with started(*problem.serve()) as plain, started(*logged_command) as logged:
        clients = [Client(port) for _, port in (plain, logged)]
        for turn in range(n_requests + WARM_REQUESTS):
            if turn == WARM_REQUESTS:
                before = [cpu_ms(process) for process, _ in (plain, logged)]
            for client in clients[:: 1 - 2 * (turn % 2)]:
                problem.check(client.decide(body), 0)
        after = [cpu_ms(process) for process, _ in (plain, logged)]
    without, with_log = ((b - a) / n_requests for a, b in zip(before, after, strict=True))
    bench.add("one row", "CPU, audit log", with_log, "without", without, unit="ms",
              note=f"{n_requests} requests")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="correctness; no timings to quote")
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare is not None:
        bare(options.bare)
        return
    n_requests = 100 if options.short else 2000
    bench = Bench("the scoring service on loopback; five boosters")
    with tempfile.TemporaryDirectory() as folder:
        problem = make_problem(Path(folder), 500 if options.short else 10_000)
        single_rows(problem, bench, n_requests)
        many_connections(problem, bench, 2.0 if options.short else 10.0)
        batches(problem, bench, 1 if options.short else 9)
        audit(problem, bench, n_requests)
    bench.console.print(bench.table())
    if not options.short:
        write_rows("serve_load", bench.rows, SEED)


if __name__ == "__main__":
    main()
