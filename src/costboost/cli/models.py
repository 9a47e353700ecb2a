"""Model files of the command line: a model and, in the manifest, the recipe of its table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from costboost.columns import TableError, TableRecipe

__all__ = ["load_model", "model_recipe", "save_model"]

ENTRY = "table"
"""Entry of the manifest that holds the recipe."""


def save_model(model: Any, recipe: TableRecipe, path: str | os.PathLike[str]) -> Path:
    """Write a model with its recipe; ``costboost.load`` reads the file too."""
    from costboost.files import container
    from costboost.files.model import contents

    manifest, members = contents(model)
    return container.write(path, {**manifest, ENTRY: recipe.to_json()}, members)


def model_recipe(path: str | os.PathLike[str]) -> TableRecipe | None:
    """The recipe in a model file; None if Python saved the model without one."""
    from costboost.files import container
    from costboost.files.model import reading

    _check_exists(path)
    manifest = reading(path, lambda: container.read_manifest(path))
    return None if ENTRY not in manifest else TableRecipe.from_json(manifest[ENTRY])


def load_model(path: str | os.PathLike[str]) -> tuple[Any, TableRecipe]:
    """A model and its recipe."""
    from costboost.files import load

    _check_exists(path)
    model = load(path)
    recipe = model_recipe(path)
    if recipe is None:
        raise TableError(
            f"{os.fspath(path)} was saved from Python and does not say which columns of a file "
            "are which. Use it in Python, or train it with `costboost fit`."
        )
    return model, recipe


def _check_exists(path: str | os.PathLike[str]) -> None:
    if not Path(path).is_file():
        raise TableError(f"There is no model file {os.fspath(path)}. `costboost fit` writes one.")
