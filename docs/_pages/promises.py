"""Write docs/promises.md: what we promise, with the counts of the last `make trust`.

    python docs/build.py promises

Reports in build/trust, if there are any, are first taken into docs/trust.json, which is kept with
the source. So the page can be written without a run, and parts that were not run are shown as not
run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from results import commits, read, table

HERE = Path(__file__).parents[1]
KEPT = HERE / "trust.json"
PAGE = HERE / "promises.md"
REPORTS = HERE.parent / "build" / "trust"

# Part of `make trust`: what it shows. The order is that of the page.
PARTS = {
    "properties": "Any input gives an answer or one clear error; laws hold on every class, "
    "objective and metric (`tests/trust/properties.py`).",
    "kills": "A computation that is killed goes on where it stopped and ends in the identical "
    "result; no file is left (`tests/trust/kills.py`).",
    "service": "A service that is stopped under load, by clients that ignore `/ready`, answers "
    "every request that had begun (`tests/trust/service.py`).",
    "full_disks": "Full disks and paths that cannot be written: a clear error, nothing lost, no "
    "stray files (`tests/trust/full_disks.py`).",
    "dask": "Workers that are killed, paused or out of memory: a fit or a clear error within the "
    "stated time; a seed repeats on columns of few values (`tests/trust/clusters.py`).",
    "load": "Fits and predictions do not grow; threads, forks and spawned processes answer the "
    "same (`tests/trust/load.py`).",
    "files": "Damaged and hostile model files are refused, or are a model; no crash, no hang. A "
    "load of more than one second of a processor counts as a violation, although five are promised "
    "(`tests/files/mutations.py`).",
    "security": "Expressions run no code, nothing uses the network, the wheel has the same bytes "
    "twice (`tests/trust/security.py`).",
}

# Files that `make bench-again` draws from.
KEPT_ROWS = {
    "held_out_cost": "[held-out costs](../benchmarks/results/held_out_cost.md)",
    "fair": "[published algorithms, treated fairly](choosing.md)",
    "papers": "[the papers' experiments](papers/README.md)",
}

TEXT = """\
# What we promise

<!-- Written by docs/build.py; do not edit. -->

Each line is kept by tests that run before every change is merged. What needs many inputs, kills or
minutes is run by `make trust`; its counts are [below](#the-last-run-of-make-trust).

**Costs**

- Rows are the truth and columns the decision, everywhere. `print` says costs in words.
- The positive class and missing costs are never guessed. What could be a mix-up is an error or a
  warning that says what to do.
- Only differences count. Adding a constant to all decisions of a row changes no decision.

**Algorithms**

- Each published algorithm agrees with a plain transcription of its equations (`tests/reference/`),
  to floating-point accuracy.
- With equal costs each is its cost-blind parent, round by round, where the paper says so.
- Every class passes scikit-learn's `check_estimator`. Expected failures stand with their reason in
  one table.
- What differs from a paper is in the docstring. What of a paper's results holds is on
  [its page](papers/README.md), also where it does not hold.

**Estimates**

- `estimated_score_` comes from rows that the models which scored them were not trained on (from
  2,000 rows on, boosters of all rows decide afterwards), with a 95 % interval for the draw of the
  rows. It does not know how the world will change.
- `TargetRateClassifier(delta=…)` states how probable it is that it is wrong, under the assumption
  that rows are independent draws.

**Reproducibility**

- The same `random_state`, versions and rows give the same model on processors of the same kind.
  Order and number of processes change nothing. On another kind of processor, OpenBLAS rounds the
  matrix products of the network inside `CostBoostClassifier` otherwise, and a few rows may be
  decided otherwise: single scores of a benchmark moved by up to 0.02, the means of 36 by less than
  0.001. With `OPENBLAS_CORETYPE=Haswell` in the environment, before Python starts, x86-64
  processors with AVX2 agree; `make` sets it for all that is not timed.
- Decisions and costs of every class on three small sets are kept in `tests/golden/numbers.json`. If
  a change moves them, a test fails until the changelog names the class under "Numbers changed".
- A fit that fails or is interrupted leaves the classifier as it was.
- Measurements in the documentation are written from files in the repository, with the command and
  the commit that made them. A sample of them is computed again with the source as it is:
  [how many came out as they are kept](#rows-that-were-computed-again). What a page shows as the
  output of its code is compared with a run of that code by the tests.

**Faults**

- `costboost compare --checkpoint` keeps what is finished; `costboost reproduce` does so by itself.
  After a kill the same call goes on and ends in the identical
  result. A checkpoint of other rows, costs, parameters or versions is refused.
- A full disk, a path that cannot be written or a missing temporary folder is an `OSError` that says
  what to do. Files are replaced in one step: the old one is whole until the new one is.
- Processes made by `fork` use one thread, because LightGBM and XGBoost wait for ever there if they
  had used several before. Estimators of your own inside `MinCostClassifier` are yours to limit
  (`n_jobs=1`).

**Files**

- A model file holds no code. Everything in it is checked before it is used; see
  [The model file](files.md).
- `load` and `inspect` of a file of at most 10 MB end within 5 seconds and 500 MB above what the
  process had. Bytes unpacked (2 GiB, 8 times the file), values of JSON (500,000), nodes and depth
  of trees (49 bytes each, 1,000) and seconds (2, by estimate) are
  [limited](files.md#what-is-checked-before-anything-is-used) before anything is built.
- Files of format 2 will keep loading in later versions; those of format 1 are refused: fit again.

**Versions**

- Versions follow semantic versioning; before 1.0 a minor version may break things, and the
  [changelog](../CHANGELOG.md) says **Breaking** there. Changed results are marked **Numbers**.
- Python 3.11 or later, scikit-learn 1.6 or later, public API of scikit-learn only.
  `make test-lower` tests the oldest versions of all dependencies that we allow.
- [Licences](licences.md) of all dependencies are listed; `make sbom` writes a bill of materials.

**What we do not promise**

- That a cost-sensitive algorithm beats a well-calibrated one with the cheapest decision. Most do
  not: [Which algorithm?](choosing.md)
- That costs you do not know are learned from data. You state them.
- That a decision causes what it is correlated with. If deciding changes what happens, make an
  experiment.

## The last run of make trust

`make trust` runs every part in a process of its own. A violation is anything that breaks the
promise of the part. The numbers are those of the last run that was kept (`docs/trust.json`).

"""


def kept() -> dict[str, Any]:
    """The reports that are kept with the source, brought up to date from build/trust."""
    found: dict[str, Any] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    for part in PARTS:
        path = REPORTS / f"{part}.json"
        if path.exists():
            report = json.loads(path.read_text("utf-8"))
            # What is counted must be short: a page, not a log.
            found[part] = {
                "seed": report["seed"],
                "counts": report["counts"],
                "violations": len(report["violations"])
                if isinstance(report["violations"], list)
                else report["violations"],
                "arguments": report.get("arguments", []),
                "processor_seconds": report.get("processor_seconds"),
            }
    return {part: found[part] for part in PARTS if part in found}


def page(reports: dict[str, Any]) -> str:
    """The page, in Markdown."""
    lines = ["| part | seed | violations | processor seconds |", "|---|---|---|---|"]
    for part in PARTS:
        report = reports.get(part)
        told = "not run | not run | not run"
        if report:
            seconds = report.get("processor_seconds") or "not measured"
            told = f"{report['seed']} | {report['violations']} | {seconds}"
        lines.append(f"| [{part}](#{part}) | {told} |")
    for part, words in PARTS.items():
        lines += ["", f"### {part}", "", words, ""]
        report = reports.get(part)
        if report is None:
            lines.append("Not run.")
            continue
        lines += ["| counted | |", "|---|---|"]
        for what, value in report["counts"].items():
            if what.startswith("inputs of ") or what.endswith("were planned"):
                continue  # by law; docs/trust.json has them
            shown = f"{value:,}" if isinstance(value, int) else str(value)
            lines.append(f"| {what} | {shown} |")
        lines.append(f"| **violations** | **{report['violations']}** |")
    return TEXT + "\n".join([*lines, *again()]) + "\n"


def again() -> list[str]:
    """How many of the rows that are kept came out as they are kept."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in read("again"):
        found.setdefault(row["file"], []).append(row)
    lines = []
    for name, rows in found.items():
        same = sum(row["same"] == "yes" for row in rows)
        lines.append([KEPT_ROWS[name], len(rows), same, commits(rows)])
    return [
        "",
        "## Rows that were computed again",
        "",
        "Results that take hours are not measured anew for every commit. `make bench-again` draws "
        "rows of them at random and computes them with the source as it is. *As kept*: to the "
        "six digits that results files have.",
        "",
        *table(["rows of", "drawn:", "as kept:", "at commit"], lines),
    ]


def pages() -> dict[Path, str]:
    """The kept reports, brought up to date, and the page."""
    reports = kept()
    return {KEPT: json.dumps(reports, indent=1) + "\n", PAGE: page(reports)}
