"""Imports point downwards only."""

from __future__ import annotations

import ast
import graphlib
import tomllib
from pathlib import Path

import pytest

import costboost

ROOT = Path(costboost.__file__).parent

# A module may import from its own layer and from those before it.
LAYERS = (
    ("_typing", "errors", "_threads", "_numba", "_utils", "_words"),
    ("costs", "columns"),
    ("metrics", "decisions"),
    ("estimator", "losses", "trees"),
    ("learners", "boosting", "_progress"),
    ("algorithms", "wrappers", "gbm"),
    ("dask", "datasets", "monitor", "plots", "files", "onnx", "comparison"),
    ("report", "serve", "cli", "__init__", "__main__"),
)
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}

# Lower parts that data must not know either.
FORBIDDEN = {"losses", "learners", "boosting", "estimator", "algorithms", "decisions"}

# Imports inside functions that point upwards, each with its reason.
DEFERRED = {
    ("estimator", "report"): "a method that writes the page; its room is heavy",
    ("estimator", "files"): "save; files know every class",
    ("estimator", "onnx"): "to_onnx; graphs know every model",
    ("wrappers/target_rate", "algorithms"): "its default estimator; AdaMEC is a MinCostClassifier",
}

MODULES = sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.py"))


def part(module):
    """The package or module right below costboost that a file belongs to."""
    return module.split("/")[0]


def code(module):
    return (ROOT / f"{module}.py").read_text(encoding="utf-8")


def imported_parts(module):
    """Parts of the library that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(code(module))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("costboost."))


def test_every_part_has_a_layer():
    assert {part(module) for module in MODULES} <= set(LEVEL)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_downwards(module):
    mine = part(module)
    for other in imported_parts(module):
        if other not in LEVEL:  # a name of the package itself
            assert LEVEL[mine] >= LEVEL["__init__"], f"{module} imports costboost.{other}"
            continue
        if (module, other) in DEFERRED:
            continue
        assert LEVEL[other] <= LEVEL[mine], f"{module} imports {other}, which is above it"
        assert mine != "datasets" or other not in FORBIDDEN, f"{module} may not know {other}"


def test_parts_do_not_import_each_other_in_a_circle():
    """Also within a layer; imports inside functions may (`DEFERRED`)."""
    parts: dict[str, set[str]] = {}
    for module in MODULES:
        for node in ast.parse(code(module)).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("costboost."):
                parts.setdefault(part(module), set()).add(node.module.split(".")[1])
    graph = {name: others - {name} for name, others in parts.items()}
    assert list(graphlib.TopologicalSorter(graph).static_order())


def test_the_library_does_not_know_the_papers():
    """They depend on it, and have a wheel of their own."""
    words = ("costboost_papers", "costboost-papers")
    assert not [module for module in MODULES for word in words if word in code(module)]
    pyproject = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["src/costboost"]}


@pytest.mark.parametrize(("module", "other"), DEFERRED)
def test_deferred_imports_are_deferred(module, other):
    top = [node for node in ast.parse(code(module)).body if isinstance(node, ast.ImportFrom)]
    assert other in set(imported_parts(module))
    assert not [node for node in top if node.module.startswith(f"costboost.{other}")]


@pytest.mark.parametrize("module", MODULES)
def test_only_public_scikit_learn(module):
    """A private hook that scikit-learn stops calling would be ignored in silence."""
    for node in ast.walk(ast.parse(code(module))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
            assert not [name for name in names if name.startswith("_")], f"{module}: {names}"
