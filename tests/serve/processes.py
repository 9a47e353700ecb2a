"""Services in processes of their own, and how to ask them."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress

START = "import typer; from costboost.cli.serve import serve; typer.run(serve)"
JSON = {"content-type": "application/json"}


@contextmanager
def server(model, *options):
    command = [sys.executable, "-c", START, str(model), "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert process.stderr is not None
    # Read on, or the service would wait for the pipe.
    reader = threading.Thread(target=process.stderr.read, daemon=True)
    try:
        port = None
        for line in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+) ", line):
                port = int(found[1])
                break
        assert port is not None, "the server did not start"
        reader.start()
        yield process, port
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # workers too: they hold the pipe open
        process.wait(60)
        if reader.ident is not None:
            reader.join(60)
        process.stderr.close()


def ask(connection, path, body=None):
    connection.request("GET" if body is None else "POST", path, body, JSON)
    answer = connection.getresponse()
    return answer.status, answer.read()


def ask_once(port, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection):
        return ask(connection, path, body)


def wait_until(question, seconds=60.0):
    end = time.monotonic() + seconds
    while True:
        with suppress(OSError):  # nobody listens yet
            if question():
                return
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
