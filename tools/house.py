"""Count the house: lines, files and classes by room, and what one call walks through.

    python tools/house.py            # the whole table
    python tools/house.py --walks    # only the walks: own functions, types and files of one call

A walk counts the distinct functions of the library that run, the library's types whose methods run,
and the files they stand in. Comprehensions and lambdas belong to the function around them.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
import threading
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1] / "src"


# -- lines ---------------------------------------------------------------------------------------


def kinds_of_lines(text: str) -> Counter[str]:
    """How many lines of a file are code, docstring, comment or blank."""
    tree, lines = ast.parse(text), text.splitlines()
    kinds = ["blank" if not line.strip() else "" for line in lines]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            value = first.value if isinstance(first, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                for line in range(value.lineno, (value.end_lineno or value.lineno) + 1):
                    kinds[line - 1] = "docstring"
    for i, line in enumerate(lines):
        kinds[i] = kinds[i] or ("comment" if line.lstrip().startswith("#") else "code")
    found = Counter(kinds)
    found["files"] = 1
    found["classes"] = sum(isinstance(node, ast.ClassDef) for node in ast.walk(tree))
    return found


def rooms(package: Path) -> dict[str, Counter[str]]:
    """Counts by room: a folder or file right below the package."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        found[room] += kinds_of_lines(path.read_text(encoding="utf-8"))
    return found


def names_with_two_meanings(package: Path) -> dict[str, list[str]]:
    """Class names that are defined in more than one file."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(package).as_posix())
    return {name: files for name, files in places.items() if len(files) > 1}


def estimator_levels() -> tuple[int, str]:
    """The most classes of the library above an estimator that users name, itself included."""
    import costboost

    depth = {}
    for name in costboost.algorithms.__all__:
        kind = getattr(costboost, name)
        depth[name] = sum(base.__module__.startswith("costboost") for base in kind.__mro__)
    name = max(depth, key=lambda name: depth[name])
    return depth[name], name


# -- walks ---------------------------------------------------------------------------------------


class Walk:
    """What ran while it was listening."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.types: set[str] = set()

    @property
    def files(self) -> set[str]:
        """Files that the functions stand in."""
        return {file for file, _ in self.functions}

    def hear(self, frame: Any, event: str, argument: Any) -> None:
        """Note a call, as a profile function."""
        if event != "call":
            return
        code = frame.f_code
        own = code.co_filename.startswith(str(SOURCE / "costboost"))
        if own and not code.co_name.startswith("<"):
            file = Path(code.co_filename).relative_to(SOURCE / "costboost").as_posix()
            self.functions.add((file, code.co_qualname))
        if own or code.co_filename == "<string>":  # generated __init__ of dataclasses
            for name in ("self", "cls", "_cls"):
                subject = frame.f_locals.get(name)
                kind = subject if isinstance(subject, type) else type(subject)
                if kind.__module__.startswith("costboost"):
                    self.types.add(kind.__qualname__)


@contextmanager
def listening() -> Iterator[Walk]:
    """A walk of what the block runs, in all threads."""
    walk = Walk()
    threading.setprofile(walk.hear)
    sys.setprofile(walk.hear)
    try:
        yield walk
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def walks() -> dict[str, Walk]:
    """The walks of one fit, predict, decide, `costboost fit` and load; 3,000 rows, row costs."""
    import numpy as np
    from typer.testing import CliRunner

    import costboost
    from costboost import CostBoostClassifier
    from costboost.cli import app
    from costboost.costs import per_row
    from costboost.datasets import make_fraud

    data = make_fraud(3000, random_state=0)
    costs = per_row(fn=data.amount, fp=5)
    model = CostBoostClassifier(random_state=0, n_jobs=1)
    found: dict[str, Walk] = {}

    def run(name: str, call: Callable[[], Any]) -> None:
        with listening() as found[name]:
            call()

    X, y = np.asarray(data.X), data.y
    warm = CostBoostClassifier(effort="fast", n_estimators=5).fit(X[:200], y[:200])
    warm.decide(X[:200], capacity={1: 20})  # what is imported at the first use is no part of a walk
    run("fit", lambda: model.fit(X, y, costs=costs))
    model.predict(X, costs=costs)  # kernels are loaded and tables made at the first one
    run("predict", lambda: model.predict(X, costs=costs))
    run("decide", lambda: model.decide(X, costs=costs, capacity={1: 20}))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.costboost"
        model.save(path)
        costboost.load(path)
        run("load", lambda: costboost.load(path))
        table = Path(folder) / "rows.csv"
        lines = ["amount,a,b,fraud", *(
            f"{amount:.2f},{row[0]:.4f},{row[1]:.4f},{'yes' if label else 'no'}"
            for amount, row, label in zip(data.amount, X, y, strict=True)
        )]  # fmt: skip
        table.write_text("\n".join(lines), encoding="utf-8")
        arguments = ["fit", str(table), "--target", "fraud", "--positive", "yes"]
        arguments += ["--cost", "fn=amount", "--cost", "fp=5", "-o", f"{folder}/m.costboost"]
        result: list[Any] = []
        run("costboost fit", lambda: result.append(CliRunner().invoke(app, arguments)))
        if result[0].exit_code:
            raise SystemExit(result[0].output)
    return found


# -- the table -----------------------------------------------------------------------------------


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--walks", action="store_true", help="only the walks")
    parser.add_argument("--functions", metavar="WALK", help="list the functions of one walk")
    options = parser.parse_args()
    columns = ("code", "docstring", "comment", "blank", "classes", "files")
    if not options.walks and not options.functions:
        for package in ("costboost", "costboost_papers"):
            if not (SOURCE / package).exists():
                continue
            table = rooms(SOURCE / package)
            print(f"{package:24}" + "".join(f"{name:>10}" for name in columns))
            for room, counts in sorted(table.items(), key=lambda item: -item[1]["code"]):
                print(f"  {room:22}" + "".join(f"{counts[name]:>10,}" for name in columns))
            total: Counter[str] = sum(table.values(), Counter())
            print(f"  {'all':22}" + "".join(f"{total[name]:>10,}" for name in columns))
            lines = sum(total[name] for name in ("code", "docstring", "comment", "blank"))
            print(f"  {lines:,} lines in all\n")
        twice = names_with_two_meanings(SOURCE / "costboost")
        print(f"class names with two meanings: {len(twice)}", *twice.items(), sep="\n  ")
        levels, name = estimator_levels()
        print(f"classes of the library above and with an algorithm: {levels} ({name})")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = walks()
    if options.functions:
        for file, name in sorted(found[options.functions].functions):
            print(f"{file:40} {name}")
        return
    print(f"\n{'one call of':24}{'types':>10}{'functions':>10}{'files':>10}")
    for name, walk in found.items():
        print(f"  {name:22}{len(walk.types):>10}{len(walk.functions):>10}{len(walk.files):>10}")


if __name__ == "__main__":
    main()
