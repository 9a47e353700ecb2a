"""The scoring service under load, on this machine's loopback alone.

    python benchmarks/serve_load.py            # some minutes
    python benchmarks/serve_load.py --short    # correctness, a few seconds of load

One model of five boosters. Single rows: the service, a bare FastAPI handler that calls the same
boosters with LightGBM, and the model in this process, in turns, so that drift of the machine hits
all of them. Batches: JSON and CSV. The audit log: processor time with it and without. Every answer
is compared with the model in this process, also while the model file is replaced (SIGHUP) and while
the service stops (SIGTERM): the table counts answers, lost requests and wrong answers. The number
of requests and the time of every part are bounded.

The bare handler does what a team writes in an afternoon: a pydantic model of the row, the mean
score of the boosters, a comparison of two costs. It checks no token, limits nothing, counts
nothing and returns one word.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from harness import Bench, write_rows

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud
from costboost.serve.scoring import Service, load_service

SEED = 0
COSTS = {"fn": "amount", "fp": 5}
START = "import typer; from costboost.cli.serve import serve; typer.run(serve)"


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
        scores = [booster.predict(x, raw_score=True)[0] for booster in boosters]
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
def started(*command: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server process and its port."""
    process = subprocess.Popen(
        [sys.executable, *command], stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stderr is not None
    try:
        port = None
        for line in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                port = int(found[1])
                break
        if port is None:
            raise RuntimeError("A server did not start.")
        threading.Thread(target=process.stderr.read, daemon=True).start()
        _wait(port)
        yield process, port
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait(port: int, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            Client(port).ask(b"GET", "/health", b"", "application/json")
            return
        except ValueError:  # an answer, if no health
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class Client:
    """One connection, kept alive, with as little code as a client can have."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.closes = False

    def request(self, body: bytes, kind: str) -> bytes:
        """The bytes of a request."""
        return self._bytes(b"POST", "/decide", body, kind)

    def _bytes(self, method: bytes, path: str, body: bytes, kind: str) -> bytes:
        head = (
            f" {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\naccept: */*\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        return method + head.encode() + body

    def ask(self, method: bytes, path: str, body: bytes, kind: str) -> bytes:
        """Send a request and read its answer."""
        return self.send(self._bytes(method, path, body, kind))

    def send(self, request: bytes) -> bytes:
        """Send prepared bytes and read the body of the answer; anything but 200 is an error."""
        self.socket.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._receive()
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        size = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        parts, left = [body], size - len(body)
        while left > 0:
            parts.append(self._receive())
            left -= len(parts[-1])
        self.closes = b"connection: close" in lines
        found = b"".join(parts)
        if b" 200 " not in lines[0] + b" ":
            raise ValueError(f"{lines[0]!r}: {found[:200]!r}")
        return found

    def _receive(self) -> bytes:
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionResetError("the connection was closed before the answer was complete")
        return data


# -- the model and what is right -------------------------------------------------------------------


@dataclass
class Problem:
    """Rows, two model files and the right answers of both."""

    folder: Path
    rows: pd.DataFrame
    services: list[Service]
    files: list[Path]
    right: dict[str, np.ndarray] = field(default_factory=dict)


def make_problem(folder: Path, n_rows: int) -> Problem:
    services, files = [], []
    for seed in (SEED, SEED + 1):
        data = make_fraud(10_000, random_state=seed)
        X = pd.DataFrame(data.X, columns=list(data.feature_names))
        model = CostBoostClassifier(COSTS, effort="fast", cv=5, random_state=seed, n_jobs=1)
        model.fit(X, data.y)
        path = folder / f"{seed}.costboost"
        model.save(path)
        files.append(path)
        services.append(load_service(path))
        if seed == SEED:
            for place, booster in enumerate(model.boosters_):
                booster.save_model(str(folder / f"{place}.txt"))
            (folder / "temperature").write_text(repr(model.temperature_))
            (folder / "names").write_text(" ".join(model.feature_names_in_))
    data = make_fraud(n_rows, random_state=SEED + 2)
    rows = pd.DataFrame(data.X, columns=list(data.feature_names))
    problem = Problem(folder, rows, services, files)
    for service in services:
        problem.right[service.fingerprint] = service.model.predict_cost(rows)
    return problem


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(row) for row in rows.to_dict("records")]


@dataclass
class Tally:
    """What became of requests."""

    answers: int = 0
    lost: int = 0
    wrong: int = 0
    models: set[str] = field(default_factory=set)

    def judge(self, answer: dict[str, Any], begin: int, problem: Problem) -> None:
        """Compare an answer with the model that it names."""
        self.answers += 1
        self.models.add(answer["model"])
        found = np.array([list(row["expected_costs"].values()) for row in answer["rows"]])
        right = problem.right[answer["model"]][begin : begin + len(found)]
        taken = [row["decision"] for row in answer["rows"]]
        cheapest = [row.index(min(row)) for row in found.tolist()]
        is_right = found.shape == right.shape and np.allclose(found, right, rtol=1e-12, atol=0)
        self.wrong += not (is_right and taken == cheapest)


# -- measurements ----------------------------------------------------------------------------------


def timed(call: Callable[[], Any], times: list[float]) -> Any:
    begin = time.perf_counter()
    found = call()
    times.append(1e3 * (time.perf_counter() - begin))
    return found


def cpu_ms(pid: int) -> float:
    """Milliseconds of processor time that a process has used."""
    return 1e3 * sum(psutil.Process(pid).cpu_times()[:2])


def single_rows(problem: Problem, bench: Bench, count: int, seconds: float) -> Tally:
    """Milliseconds of one row: service, bare handler and this process, in turns."""
    tally, service = Tally(), problem.services[0]
    rows = records(problem.rows[:200])
    names = ("service", "bare", "in process")
    times: dict[str, list[float]] = {name: [] for name in names}
    with (
        started("-c", START, str(problem.files[0]), "--port", "0") as (process, port),
        started(__file__, "--bare", str(problem.folder)) as (bare_process, bare_port),
    ):
        ours, theirs = Client(port), Client(bare_port)
        kind = "application/json"
        sent = [ours.request(json.dumps({"records": [row]}).encode(), kind) for row in rows]
        plain = [theirs.request(json.dumps(row).encode(), kind) for row in rows]
        asked = [
            service.requests.from_json(json.dumps({"records": [row]}).encode(), 1) for row in rows
        ]
        before = 0.0, 0.0
        end = time.monotonic() + seconds
        for turn in range(count + 50):
            if turn == 50:  # warm by now
                for name in names:
                    times[name].clear()
                before = cpu_ms(process.pid), cpu_ms(bare_process.pid)
            place = turn % len(rows)
            calls = {
                "service": lambda p=place: ours.send(sent[p]),
                "bare": lambda p=place: theirs.send(plain[p]),
                "in process": lambda p=place: service.answer(asked[p]),
            }
            found = {}
            for step in range(3):  # none of them always comes after the same other one
                name = names[(turn + step) % 3]
                found[name] = timed(calls[name], times[name])
            answer, other = json.loads(found["service"]), json.loads(found["bare"])
            tally.judge(answer, place, problem)
            word = "fraud" if answer["rows"][0]["decision"] == 1 else "ok"
            tally.wrong += word != other["decision"]  # two programs, one decision
            if time.monotonic() > end:
                break
        used = cpu_ms(process.pid) - before[0], cpu_ms(bare_process.pid) - before[1]
    requests = len(times["service"])
    # Processor time tells more than the clock where other programs run.
    bench.add("one row", "CPU", used[0] / requests, "bare", used[1] / requests, at_most=1.3,
              unit="ms", note=f"{requests} requests")  # fmt: skip
    percentile = {
        name: (statistics.median(found), float(np.percentile(found, 99)))
        for name, found in times.items()
    }
    for place, what in enumerate(("p50", "p99")):
        mine = percentile["service"][place]
        for rival in names[1:]:
            target = 1.3 if (what, rival) == ("p50", "bare") else None
            bench.add(
                "one row", what, mine, rival, percentile[rival][place], at_most=target, unit="ms",
                note=f"{len(times['service'])} requests",
            )  # fmt: skip
    return tally


def batches(problem: Problem, bench: Bench, repeats: int) -> Tally:
    """Rows per second by JSON and by CSV, against the same model in this process."""
    tally, rows = Tally(), problem.rows
    model = problem.services[0].model
    body = json.dumps({"records": records(rows)}).encode()
    with started("-c", START, str(problem.files[0]), "--port", "0") as (_, port):
        client = Client(port)
        by_json = client.request(body, "application/json")
        by_csv = client.request(rows.to_csv(index=False).encode(), "text/csv")
        times: dict[str, list[float]] = {"JSON": [], "CSV": [], "in process": []}
        for _ in range(repeats + 1):
            for sent, name in ((by_json, "JSON"), (by_csv, "CSV")):
                answer = json.loads(timed(lambda sent=sent: client.send(sent), times[name]))
                tally.judge(answer, 0, problem)
            timed(lambda: (model.predict(rows), model.predict_cost(rows)), times["in process"])
    rate = {name: 1e3 * len(rows) / statistics.median(found[1:]) for name, found in times.items()}
    for name in ("JSON", "CSV"):
        bench.add("a batch", name, rate[name], "in process", rate["in process"], unit="rows/s",
                  note=f"{len(rows)} rows a request")  # fmt: skip
    return tally


def audit(problem: Problem, bench: Bench, count: int, repeats: int) -> Tally:
    """Processor time of requests with an audit log and without, in turns."""
    tally, command = Tally(), ("-c", START, str(problem.files[0]), "--port", "0")
    path = problem.folder / "audit.jsonl"
    with started(*command) as plain, started(*command, "--audit-log", str(path)) as logged:
        clients = [Client(port) for _, port in (plain, logged)]
        for what, n, times in (("one row", 1, count), ("a batch", len(problem.rows), repeats)):
            body = json.dumps({"records": records(problem.rows[:n])}).encode()
            sent = clients[0].request(body, "application/json")
            warm = min(50, times // 4)
            used = [0.0, 0.0]
            for turn in range(times + warm):
                if turn == warm:
                    used = [-cpu_ms(process.pid) for process, _ in (plain, logged)]
                for client in clients[:: 1 - 2 * (turn % 2)]:
                    tally.judge(json.loads(client.send(sent)), 0, problem)
            used = [
                (before + cpu_ms(process.pid)) / times
                for before, (process, _) in zip(used, (plain, logged), strict=True)
            ]
            bench.add(what, "CPU, audit log", used[1], "without", used[0], at_most=1.05,
                      unit="ms", note=f"{times} requests of {n}")  # fmt: skip
    return tally


def signals(problem: Problem, workers: int, seconds: float) -> Tally:
    """Four clients through three reloads and the end of the service."""
    rows = records(problem.rows[:60])
    served = problem.folder / "served.costboost"
    served.write_bytes(problem.files[0].read_bytes())
    tallies = [Tally() for _ in range(4)]

    def load(tally: Tally, port: int) -> None:
        client = Client(port)
        end = time.monotonic() + 3 * seconds + 30  # never for ever
        turn = 0
        while time.monotonic() < end:
            begin = turn % len(rows)
            size = 1 if turn % 5 else 20  # every fifth is a batch, which goes to a thread
            part = rows[begin : begin + size]
            body = json.dumps({"records": part}).encode()
            try:
                content = client.send(client.request(body, "application/json"))
            except (OSError, ValueError):
                tally.lost += 1
                return
            tally.judge(json.loads(content), begin, problem)
            turn += 1
            if client.closes:  # the service is about to stop
                return
        tally.lost += 1  # the service did not say goodbye

    options = ["--port", "0", "--workers", str(workers), "--drain", "1"]
    with started("-c", START, str(served), *options) as (process, port):
        threads = [
            threading.Thread(target=load, args=(tally, port), daemon=True) for tally in tallies
        ]
        for thread in threads:
            thread.start()
        for turn in range(3):
            time.sleep(seconds / 4)
            partial = served.with_suffix(".partial")
            partial.write_bytes(problem.files[(turn + 1) % 2].read_bytes())
            partial.replace(served)
            process.send_signal(signal.SIGHUP)
        time.sleep(seconds / 4)
        process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(60)
        status = process.wait(60)
    total = Tally(
        sum(tally.answers for tally in tallies),
        sum(tally.lost for tally in tallies) + (status != 0),
        sum(tally.wrong for tally in tallies),
        set().union(*(tally.models for tally in tallies)),
    )
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="correctness; no timings to quote")
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare is not None:
        bare(options.bare)
        return
    count, repeats, n_rows, seconds = (
        (100, 1, 500, 4.0) if options.short else (5000, 9, 10_000, 20.0)
    )
    bench = Bench("the scoring service on loopback; five boosters")
    with tempfile.TemporaryDirectory() as folder:
        problem = make_problem(Path(folder), n_rows)
        tallies = {
            "single rows": single_rows(problem, bench, count, 6 * seconds),
            "batches": batches(problem, bench, repeats),
            "audit log": audit(problem, bench, count, 3 * repeats),
            "reloads and drain, 1 worker": signals(problem, 1, seconds),
            "reloads and drain, 2 workers": signals(problem, 2, seconds),
        }
    bench.console.print(bench.table())
    for name, tally in tallies.items():
        bench.console.print(
            f"{name}: {tally.answers} answers by {len(tally.models)} models, {tally.lost} lost, "
            f"{tally.wrong} wrong"
        )
    if not options.short:
        write_rows("serve_load", bench.rows, SEED)
    if any(tally.lost or tally.wrong or not tally.answers for tally in tallies.values()):
        sys.exit("Answers were lost or wrong.")


if __name__ == "__main__":
    main()
