"""A service that is stopped under load answers every request that had begun.

PYTHONPATH=src:tests python -m trust.service 50
"""

from __future__ import annotations

import json
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from serve.models import model_of, records_of, rows_of
from serve.processes import ask_once, server, wait_until
from trust.part import main

CLIENTS = 6


def ask(port, body):
    """One request on a connection of its own: its status; None if there is no connection."""
    head = (
        "POST /decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    except OSError:
        return None
    with connection:
        connection.sendall(head.encode() + body)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    first, _, content = answer.partition(b"\r\n\r\n")
    if not first.startswith(b"HTTP/1.1 200") or not content.endswith(b"}"):
        raise ConnectionError(f"half an answer: {answer[:80]!r}")
    return 200


def load(port, bodies, answers, lost):
    """Ask again and again, whatever /ready says, until nobody listens any more."""
    for turn in range(1_000_000):
        try:
            if ask(port, bodies[turn % len(bodies)]) is None:
                return
        except OSError as error:
            lost.append(repr(error))
            return
        answers.append(turn)


def run(seed, n_stops=50):
    rng = np.random.default_rng(seed)
    model = model_of("review")
    rows = records_of(rows_of(model, 20))
    bodies = [json.dumps({"records": rows[:1]}).encode()] * 4
    bodies.append(json.dumps({"records": rows * 100}).encode())  # in a thread
    counts, violations = {"stops under load": 0, "requests answered": 0, "requests lost": 0}, []
    with tempfile.TemporaryDirectory() as folder:
        path = model.save(Path(folder) / "fraud.costboost")
        for stop in range(n_stops):
            workers = 1 + stop % 2
            answers, lost = [], []
            options = ("--workers", str(workers), "--drain", "0.2")
            with server(path, *options) as (process, port):
                wait_until(lambda: ask_once(port, "/ready")[0] == 200)
                threads = [
                    threading.Thread(target=load, args=(port, bodies, answers, lost), daemon=True)
                    for _ in range(CLIENTS)
                ]
                for thread in threads:
                    thread.start()
                time.sleep(0.3 + rng.uniform(0, 0.3))
                process.send_signal(signal.SIGTERM)
                for thread in threads:
                    thread.join(60)
                status = process.wait(60)
            counts["stops under load"] += 1
            counts["requests answered"] += len(answers)
            counts["requests lost"] += len(lost)
            violations += [f"stop {stop}, {workers} workers: {one}" for one in lost]
            if status:
                violations.append(f"stop {stop}: the service ended with {status}")
    return counts, violations


if __name__ == "__main__":
    main("service", run, n_stops=int(sys.argv[1]) if len(sys.argv) > 1 else 50)
