"""A headless Chromium: what a script at the end of a page returns."""

from __future__ import annotations

import json
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--window-size=1300,1000", "--virtual-time-budget=60000"),
    "--dump-dom",
)
WATCH = """<head><script>
window.said = [];
addEventListener("error", (event) => said.push(event.message));
addEventListener("unhandledrejection", (event) => said.push(String(event.reason)));
for (const kind of ["log", "warn", "error"]) console[kind] = (...words) => said.push(`${words}`);
%s
</script>"""
ASK = """<script>(async () => {
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const field = (id) => document.getElementById(id), text = (id) => field(id).textContent;
  const all = (query) => [...document.querySelectorAll(query)];
  const set = (id, value, kind = "input") => {
    field(id).value = value; field(id).dispatchEvent(new Event(kind, { bubbles: true })); };
  const check = (id, on) => { if (field(id).checked !== on) field(id).click(); };
  const act = async (what) => { what(); await pause(30); };
  while (document.documentElement.dataset.charts !== "ready" && !said.length) await pause(50);
  const found = await (async () => { %s })().catch((error) => ({ error: String(error), said }));
  parent.document.body.textContent = JSON.stringify(found);
})()</script>"""


def asked(path, code, width=1280, before=""):
    """What JavaScript returns once the charts of a report are drawn, in a frame of that width."""
    page = Path(path).read_text(encoding="utf-8")
    page = page.replace("<head>", WATCH % before, 1).replace("</body>", ASK % code + "</body>")
    style = f"width:{width}px;height:900px;border:0"
    tried = Path(path).with_suffix(".tried.html")
    frame = f'<!DOCTYPE html><meta charset="utf-8"><iframe style="{style}" srcdoc="{escape(page)}">'
    tried.write_text(frame, "utf-8")
    command = [CHROMIUM, *FLAGS, tried.resolve().as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
    return json.loads(unescape(done.stdout.partition("<body>")[2].rpartition("</body>")[0]))
