"""Every recipe says what it is; tables, stubs and docstrings follow from that."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import costboost
from algorithms import PACKAGE, STUB, public_names, stub
from costboost.boosting import BoostingClassifier, recipes
from laws.cost_sensitive import check_cost_sensitive

ROOT = Path(__file__).parents[2]
ALGORITHMS = {name: getattr(costboost, name) for name in costboost.algorithms.__all__}


def test_the_stub_and_the_public_names_are_up_to_date():
    """After a new recipe: python docs/build.py names."""
    assert stub() == STUB.read_text(encoding="utf-8")
    package = PACKAGE.read_text(encoding="utf-8")
    assert public_names(package) == package


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_recipe_has_a_card_of_its_own(name):
    card = vars(ALGORITHMS[name])["_recipe"]
    assert card.idea
    assert re.search(r" \d{4}$", card.source)
    assert len([C for C in ALGORITHMS.values() if C._recipe.idea == card.idea]) == 1


def stated_defaults(doc):
    """The stated defaults of the parameters in a docstring, by name."""
    blocks = re.findall(r"Parameters\n-+\n(.*?)(?=\n\n[A-Z]|\Z)", doc, flags=re.DOTALL)
    return dict(re.findall(r"^(\w+) : .*?default=(.+)$", "\n".join(blocks), flags=re.MULTILINE))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_help_or_the_base_says_the_default_of_every_parameter(name):
    signature = inspect.signature(ALGORITHMS[name]).parameters
    own = stated_defaults(inspect.getdoc(ALGORITHMS[name]))
    inherited = {}
    if issubclass(ALGORITHMS[name], BoostingClassifier):
        inherited = stated_defaults(inspect.getdoc(BoostingClassifier))
    assert set(own) <= set(signature) <= {*own, *inherited}
    for parameter in signature:
        default = own.get(parameter, inherited.get(parameter))
        assert eval(default, {}) == signature[parameter].default


def test_children_inherit_parameters():
    class Child(costboost.AdaC2Classifier):
        max_leaves: int = 4

    assert Child.__doc__ is None
    assert Child().max_leaves == 4
    assert list(Child().get_params()) == list(costboost.AdaC2Classifier().get_params())

    class Written(costboost.AdaC2Classifier):
        def __init__(self, cost_matrix=None, n_estimators=3):
            super().__init__(cost_matrix, n_estimators=n_estimators, estimator="line")

    silent = type("Silent", (Written,), {})
    assert silent.__doc__ is None and silent().estimator == "line"
    assert silent().get_params() == {"cost_matrix": None, "n_estimators": 3}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_rules_are_declared_for_what_is_not_free(name):
    C = ALGORITHMS[name]
    free = {"cost_matrix", "estimator", "random_state", "loss", "objective"}
    declared = {name for base in C.__mro__ for name in vars(base).get("_rules", {})}
    assert set(inspect.signature(C).parameters) - free <= declared


def test_the_class_wins_over_its_bases():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    costboost.AdaC2Classifier(init="balanced", n_estimators=1).fit(X, y)
    with pytest.raises(ValueError, match="'init' parameter of AdaBoostM2Classifier must be one of"):
        costboost.AdaBoostM2Classifier(init="balanced").fit(X, y)


def test_an_algorithm_of_your_own_needs_public_names_only(tmp_path, capsys, monkeypatch):
    """It obeys the laws, and is saved and loaded where its module was imported."""
    monkeypatch.syspath_prepend(ROOT / "examples")
    example = importlib.import_module("add_an_algorithm")
    for node in ast.walk(ast.parse(inspect.getsource(example))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("costboost"):
            public = importlib.import_module(node.module).__all__
            assert "._" not in node.module and {n.name for n in node.names} <= set(public)
    example.main()
    assert "saved and loaded: True" in capsys.readouterr().out
    laws = check_cost_sensitive(example.RootCostClassifier(n_estimators=8, estimator="stump"))
    assert len(laws) == 8
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    path = example.RootCostClassifier(n_estimators=2).fit(X, y).save(tmp_path / "own.costboost")
    del recipes.REGISTERED["RootCostClassifier"]
    with pytest.raises(costboost.ModelFileError):
        costboost.load(path)
    copy = costboost.load(path, trusted=["add_an_algorithm.RootCostClassifier"])
    assert type(copy) is example.RootCostClassifier
