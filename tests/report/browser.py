"""A headless Chromium, driven through its DevTools protocol."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--remote-debugging-port=0", "--remote-allow-origins=*"),
)


class Browser:
    """One page of a headless Chromium."""

    def __init__(self):
        import websocket

        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port = self._port()
        with urlopen(f"http://127.0.0.1:{port}/json") as answer:
            pages = json.load(answer)
        address = next(page for page in pages if page["type"] == "page")["webSocketDebuggerUrl"]
        self._socket = websocket.create_connection(address, timeout=120)
        self._calls = 0
        self.messages = []  # what the page wrote to the console, and its errors
        self.requests = []  # what it asked of the network
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")

    def _port(self):
        file = Path(self._folder.name) / "DevToolsActivePort"
        for _ in range(600):
            if file.exists() and file.read_text().strip():
                return int(file.read_text().split()[0])
            time.sleep(0.1)
        raise TimeoutError("Chromium did not start within a minute.")

    def call(self, method, **parameters):
        self._calls += 1
        self._socket.send(json.dumps({"id": self._calls, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._calls:
                assert "error" not in message, message
                return message["result"]
            if message.get("method") == "Runtime.exceptionThrown":
                self.messages.append(message["params"]["exceptionDetails"])
            if message.get("method") == "Runtime.consoleAPICalled":
                self.messages.append(message["params"]["args"])
            if message.get("method") == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])

    def open(self, path, width=1280, height=900, dark=False):
        """Open a report and wait until its charts are drawn."""
        mode = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[mode])
        self.resize(width, height)
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        self.wait("document.documentElement?.dataset.charts === 'ready'")

    def resize(self, width, height=900):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def wait(self, condition, seconds=60):
        for _ in range(seconds * 20):
            if self.run(condition):
                return
            time.sleep(0.05)
        raise TimeoutError(f"{condition}; the page said: {self.messages}")

    def run(self, code):
        """Evaluate JavaScript; a promise is awaited."""
        more = {"returnByValue": True, "awaitPromise": True}
        answer = self.call("Runtime.evaluate", expression=code, **more)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key, code=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        self._socket.close()
        self._process.terminate()
        self._process.wait(timeout=30)
        self._folder.cleanup()
