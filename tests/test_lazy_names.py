"""``import costboost`` is light, and every public name is there when it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import costboost
from costboost import errors

LIGHT = """
import sys
import costboost
from costboost import errors
dir(costboost), costboost.__all__, costboost.__version__
print([name for name in ("lightgbm", "numba", "numpy", "scipy", "sklearn") if name in sys.modules])
"""


def test_the_import_loads_nothing_heavy() -> None:
    command = [sys.executable, "-c", LIGHT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_table_of_modules_is_true() -> None:
    assert set(costboost._MODULES) <= set(costboost.__all__)
    assert set(costboost._PACKAGES) <= set(costboost.__all__)
    elsewhere = {*costboost._MODULES, *costboost._PACKAGES, *errors.__all__, "__version__"}
    assert set(costboost.__all__) - elsewhere == set(costboost.algorithms.__all__)
    for name, module in costboost._MODULES.items():
        assert getattr(costboost, name).__module__.startswith(module)
    for name in costboost.algorithms.__all__:
        assert getattr(costboost, name) is getattr(costboost.algorithms, name)
    names: dict[str, object] = {}
    exec("from costboost import *", names)
    assert set(costboost.__all__) <= set(names)
    assert dir(costboost) == sorted(costboost.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'costboost' has no attribute 'AdaC9'"):
        costboost.AdaC9  # noqa: B018
    with pytest.raises(ImportError, match="AdaC9"):
        exec("from costboost import AdaC9")


def test_a_name_that_is_gone_names_its_recipe() -> None:
    recipes = (Path(__file__).parents[1] / "docs" / "recipes.md").read_text("utf-8")
    with pytest.raises(AttributeError, match=r"See 'Search of settings' in docs/recipes\.md"):
        costboost.tuned  # noqa: B018
    assert "\n## Search of settings\n" in recipes
