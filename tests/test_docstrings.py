"""What rooms export is documented in full: methods, parameters, fitted attributes."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import costboost
from data import rows

ROOMS = (
    "costboost",
    *(name for _, name, _ in pkgutil.iter_modules(costboost.__path__, "costboost.")),
)
MODULES = [
    importlib.import_module(name)
    for name in ROOMS
    if not name.startswith(("costboost._", "costboost.cli"))
]
# What users meet but never build: rules of a fitted model, and what the loop tells a learner.
MADE_INSIDE = {
    *("Aim", "Comparison", "Ensemble", "Exclusion", "Fitted", "JointVotes", "LogRatio", "RowCosts"),
    *("Rows", "SidedVoteScheme", "Step", "Trees", "VoteScheme"),
}
# Classes and functions that rooms export, by their full names.
PUBLIC = {
    f"{one.__module__}.{one.__qualname__}": one
    for module in MODULES
    for one in (getattr(module, name) for name in getattr(module, "__all__", ()))
    if inspect.isfunction(one) or inspect.isclass(one)
}
BASES = ("costboost.boosting", "costboost.estimator", "costboost.dask")
CLASSIFIERS = [
    PUBLIC[name]
    for name in sorted(PUBLIC)
    if name.endswith("Classifier") and not name.startswith(BASES)
]


def test_modules_say_what_they_hold():
    for module in MODULES:
        exported = getattr(module, "__all__", ())
        assert inspect.getdoc(module) and len(set(exported)) == len(exported), module.__name__


def named(doc: str, section: str) -> set[str]:
    """The names that a section of a docstring explains."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", doc, re.DOTALL | re.M)
    lines = re.findall(r"^(\S[^:\n]*?)(?: :.*)?$", found[1], re.M) if found else []
    return {name.strip(" *") for line in lines for name in line.split(",")}


def explained(one, *headings: str) -> set[str]:
    """The names that sections of a docstring explain, or of the base that it refers to."""
    doc = inspect.getdoc(one) or ""
    names = set().union(*(named(doc, heading) for heading in headings))
    referred = re.search(r"Further parameters and attributes are those of `([\w.]+)`\.", doc)
    if referred:
        module, _, base = referred[1].rpartition(".")
        names |= explained(getattr(importlib.import_module(module), base), *headings)
    return names


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_method_and_parameter_is_explained(name):
    one = PUBLIC[name]
    doc = inspect.getdoc(one) or ""
    assert doc
    methods = vars(one).items() if inspect.isclass(one) else ()
    for attribute, value in methods:
        is_code = inspect.isroutine(value) or isinstance(value, (property, classmethod))
        if is_code and not attribute.startswith("_"):
            method = value if isinstance(value, property) else getattr(one, attribute)
            assert inspect.getdoc(method), attribute
    is_error = inspect.isclass(one) and issubclass(one, Exception)
    if one.__name__ in MADE_INSIDE or is_error:
        return
    wanted = {n for n in inspect.signature(one).parameters if not n.startswith("_")}
    told = explained(one, "Parameters", "Attributes", "Other Parameters")
    assert wanted - {"args", "kwargs"} <= told, sorted(wanted - told)


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_every_fitted_attribute_is_explained(kind):
    X, y = rows(n=60)
    settings = {"n_estimators": 3, "detection_rate": 0.5, "n_trials": 2}
    known = inspect.signature(kind).parameters
    model = kind(**{n: v for n, v in settings.items() if n in known}).fit(X, y)
    fitted = {n for n in vars(model) if n.endswith("_") and not n.startswith("_")}
    told = explained(kind, "Attributes")
    assert fitted <= told, sorted(fitted - told)


@pytest.mark.parametrize("name", costboost.algorithms.__all__)
def test_every_algorithm_cites_and_shows_itself(name):
    doc = inspect.getdoc(getattr(costboost, name))
    for section in ("References", "Examples"):
        assert f"{section}\n{'-' * len(section)}\n" in doc, f"{name} has no {section}"
    assert "math:" in doc, f"{name} shows no equation"
    assert doctest.DocTestParser().get_examples(doc)
    assert name in doc
