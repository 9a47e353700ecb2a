"""The command ``costboost inspect``: what is inside a model file."""

from __future__ import annotations

from rich.console import Console

from costboost.cli import arguments
from costboost.cli.failure import tells_errors

__all__ = ["inspect"]


@tells_errors
def inspect(model: arguments.Model, as_json: arguments.AsJson = False) -> None:
    """Show what is inside a model file, after checking that it is intact."""
    from costboost.cli.models import model_recipe
    from costboost.cli.show import columns_table, print_json
    from costboost.files import inspect as look
    from costboost.files import show

    recipe = model_recipe(model)
    if as_json:
        print_json(look(model))
        return
    console = Console()
    show(model, console)
    if recipe is not None:
        console.print(columns_table(recipe))
