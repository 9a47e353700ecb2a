"""A service that is stopped under load answers every request that had begun.

PYTHONPATH=src:tests python -m trust.service 50
"""

from __future__ import annotations

import json
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np

from serve.models import model_of, records_of, rows_of
from serve.processes import ask_once, server, wait_until
from trust.part import main

CLIENTS = 6


def ask(port, name, body):
    """One request on a connection of its own; its answer, empty if there is none."""
    head = (
        "POST /decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"X-Request-ID: {name}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(head.encode() + body)
        with suppress(ConnectionResetError):  # the kernel had made it, the service had not taken it
            while part := connection.recv(65536):
                answer += part
    return answer


def load(port, bodies, prefix, answers):
    """Ask again and again until nobody listens any more."""
    for turn in count():
        name = f"{prefix}-{turn}"
        try:
            answers[name] = ask(port, name, bodies[turn % len(bodies)])
        except OSError:
            return


def is_whole(answer):
    """Whether an answer is a decision, or says that the service is busy, up to its last byte."""
    head, _, content = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    is_known = head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503"))
    return is_known and length is not None and int(length[1]) == len(content)


def run(seed, n_stops=50):
    rng = np.random.default_rng(seed)
    model = model_of("review")
    rows = records_of(rows_of(model, 20))
    bodies = [json.dumps({"records": rows[:1]}).encode()] * 4
    bodies.append(json.dumps({"records": rows * 100}).encode())
    counts = {"stops under load": 0, "requests answered": 0, "requests lost": 0}
    violations = []
    with tempfile.TemporaryDirectory() as folder:
        path = model.save(Path(folder) / "fraud.costboost")
        for stop in range(n_stops):
            workers = 1 + stop % 2
            answers = {}
            audit = Path(folder) / f"audit-{stop}.jsonl"
            options = ("--workers", str(workers), "--audit-log", str(audit))
            with server(path, *options) as (process, port):
                wait_until(lambda port=port: ask_once(port, "/ready")[0] == 200)
                threads = [
                    threading.Thread(target=load, args=(port, bodies, place, answers), daemon=True)
                    for place in range(CLIENTS)
                ]
                for thread in threads:
                    thread.start()
                time.sleep(0.3 + rng.uniform(0, 0.3))
                process.send_signal(signal.SIGTERM)
                for thread in threads:
                    thread.join(60)
                process.wait(60)
            lines = audit.read_text().splitlines()
            decided = {json.loads(line)["request"] for line in lines}
            answered = {name for name, answer in answers.items() if answer}
            lost = sorted(decided - answered)
            lost += [name for name in answered if not is_whole(answers[name])]
            counts["stops under load"] += 1
            counts["requests answered"] += len(answered)
            counts["requests lost"] += len(lost)
            violations += [f"stop {stop}, {workers} workers: request {name}" for name in lost]
    return counts, violations


if __name__ == "__main__":
    main("service", run, n_stops=int(sys.argv[1]) if len(sys.argv) > 1 else 50)
