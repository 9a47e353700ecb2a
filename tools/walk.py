"""Count the own functions, files and types that one call of costboost runs through.

    python tools/walk.py                     a line per call
    python tools/walk.py --json out.json     the same numbers, for --against
    python tools/walk.py --against old.json  functions beside those of an earlier count
    python tools/walk.py --names fit         also the functions of calls whose name begins so

A type counts if one of its methods runs, or if a function returns it. Lambdas, comprehensions and
generated methods of dataclasses are not counted.
"""

import argparse
import json
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

import costboost
from costboost import AdaC2Classifier, CostBoostClassifier, LpCSBClassifier
from costboost.costs import per_row
from costboost.datasets import make_fraud

ROOT = str(Path(costboost.__file__).parent)
COUNTS = ("functions", "files", "types", "calls")


def walk(action):
    """Run an action; return what it met and what it gave."""
    functions, types, calls = {}, set(), 0

    def trace(frame, event, value):
        nonlocal calls
        if not frame.f_code.co_filename.startswith(ROOT):
            return
        if event == "call" and not frame.f_code.co_name.startswith("<"):
            calls += 1
            functions.setdefault((frame.f_code.co_filename, frame.f_code.co_qualname))
            owner = frame.f_locals.get("self")
            if owner is not None and type(owner).__module__.startswith("costboost"):
                types.add(type(owner).__name__)
        elif (
            event == "return"
            and value is not None
            and type(value).__module__.startswith("costboost")
        ):
            types.add(type(value).__name__)

    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        result = action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    names = [f"{Path(file).relative_to(ROOT)}:{name}" for file, name in functions]
    return {
        "functions": len(functions),
        "files": len({file for file, _ in functions}),
        "types": len(types),
        "calls": calls,
        "names": names,
        "type_names": sorted(types),
    }, result


def service_walk(path, rows):
    """One request to the service, after one that warms it."""
    from starlette.testclient import TestClient

    from costboost.serve import Settings, create_app

    app = create_app(costboost.load(path), Settings())
    records = json.loads(rows.to_json(orient="records", date_format="iso"))
    client = TestClient(app)

    def ask():
        return client.post("/decide", json={"records": records})

    if ask().status_code != 200:
        raise RuntimeError(ask().text)
    return walk(ask)[0]


def command_walk(folder, table):
    """`costboost fit` on a CSV file."""
    from typer.testing import CliRunner

    from costboost.cli import app

    table.to_csv(folder / "t.csv", index=False)
    arguments = [
        "fit",
        str(folder / "t.csv"),
        "--target",
        "label",
        "--positive",
        "fraud",
        "--cost",
        "fn=amount+15",
        "--cost",
        "fp=5",
        "-o",
        str(folder / "m.costboost"),
        "--set",
        "n_estimators=20",
    ]
    counted, result = walk(lambda: CliRunner().invoke(app, arguments))
    if result.exit_code:
        raise RuntimeError(result.output[-300:])
    return counted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--names", default=None)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    data = make_fraud(3000, random_state=0)
    X = pd.DataFrame(data.X).add_prefix("x")
    X["amount"] = data.amount
    X["day"] = pd.date_range("2025-01-01", periods=3000, freq="6h")
    X["kind"] = np.where(data.X[:, 0] > 0, "a", "b")
    y = np.where(data.y == 1, "fraud", "ok")
    spec = {"fn": "amount + 15", "fp": 5, "positive": "fraud"}
    row_costs = per_row(fn=data.amount, fp=5, positive="fraud")
    small = {"n_estimators": 30, "random_state": 0, "n_jobs": 1}
    folder = Path(tempfile.mkdtemp())
    path = folder / "walk.costboost"
    out = {}

    out["fit, costs by expression"], model = walk(
        lambda: CostBoostClassifier(spec, **small).fit(X, y)
    )
    out["fit, costs of rows"], _ = walk(
        lambda: CostBoostClassifier(**small).fit(X, y, costs=row_costs)
    )
    out["predict"], _ = walk(lambda: model.predict(X[:50]))
    out["decide"], _ = walk(lambda: model.decide(X[:200], capacity={"fraud": 5}))
    out["explain"], _ = walk(lambda: model.explain(X[:20]))
    out["score"], _ = walk(lambda: model.score(X, y))
    out["save"], _ = walk(lambda: model.save(path))
    out["load"], _ = walk(lambda: costboost.load(path))
    out["AdaC2.fit"], _ = walk(
        lambda: AdaC2Classifier({"fn": 5, "fp": 1}, n_estimators=10).fit(data.X, data.y)
    )
    iris, species = load_iris(return_X_y=True)
    matrix = [[0, 1, 1], [1, 0, 5], [1, 1, 0]]
    out["LpCSB.fit"], _ = walk(lambda: LpCSBClassifier(matrix, n_estimators=5).fit(iris, species))
    for name, action in (
        ("request", lambda: service_walk(path, X[:1])),
        ("costboost fit", lambda: command_walk(folder, X.assign(label=y))),
    ):
        try:
            out[name] = action()
        except Exception as error:  # the app may not be installed
            print(f"{name}: not counted ({type(error).__name__}: {str(error)[:120]})")
    old = json.loads(options.against.read_text()) if options.against else {}
    for name, counted in out.items():
        before = f" (before: {old[name]['functions']})" if name in old else ""
        numbers = "  ".join(f"{count} {counted[count]:4}" for count in COUNTS)
        print(f"{name:26} {numbers}{before}  {', '.join(counted['type_names'])}")
        if options.names and name.startswith(options.names):
            print("    " + "\n    ".join(counted["names"]))
    if options.json:
        kept = {name: {count: counted[count] for count in COUNTS} for name, counted in out.items()}
        options.json.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
