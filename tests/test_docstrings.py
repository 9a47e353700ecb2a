"""`help` of a public class or function names every parameter, and every fitted attribute."""

from __future__ import annotations

import importlib
import inspect
import re

import numpy as np
import pytest

import costboost

PACKAGES = (
    *("costs", "datasets", "decisions", "files", "gbm", "learners", "losses", "metrics"),
    *("monitor", "plots", "report", "columns", "wrappers"),
)
# What users meet but never build: rules of a fitted model, and what the loop tells a learner.
MADE_INSIDE = {
    *("Aim", "C45Tree", "Ensemble", "Fitted", "JointVotes", "LogRatio", "RowCosts", "Rows"),
}


def public():
    """Public classes and functions, by their full names."""
    modules = [costboost, *(importlib.import_module(f"costboost.{name}") for name in PACKAGES)]
    for module in modules:
        for name in module.__all__:
            one = getattr(module, name)
            if name not in MADE_INSIDE and (inspect.isfunction(one) or inspect.isclass(one)):
                yield f"{one.__module__}.{one.__qualname__}", one


PUBLIC = dict(sorted(public()))
CLASSIFIERS = [one for name, one in PUBLIC.items() if name.endswith("Classifier")]


def named(doc: str, section: str) -> set[str]:
    """The names that a section of a docstring explains."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", doc, re.DOTALL | re.M)
    lines = re.findall(r"^(\S[^:\n]*?)(?: :.*)?$", found[1], re.M) if found else []
    return {name.strip(" *") for line in lines for name in line.split(",")}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_explained(name):
    one = PUBLIC[name]
    try:
        parameters = inspect.signature(one).parameters
    except ValueError:  # warnings and errors take what Exception takes
        return
    if inspect.isclass(one) and issubclass(one, Exception):
        return
    wanted = {n for n in parameters if not n.startswith("_")} - {"args", "kwargs"}
    doc = inspect.getdoc(one) or ""
    told = named(doc, "Parameters") | named(doc, "Attributes") | named(doc, "Other Parameters")
    assert wanted <= told, sorted(wanted - told)


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_every_fitted_attribute_is_explained(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    settings = {"n_estimators": 3, "detection_rate": 0.5, "n_trials": 2}
    known = inspect.signature(kind).parameters
    model = kind(**{n: v for n, v in settings.items() if n in known}).fit(X, y)
    fitted = {n for n in vars(model) if n.endswith("_") and not n.startswith("_")}
    told = named(inspect.getdoc(kind), "Attributes")
    assert fitted <= told, sorted(fitted - told)
