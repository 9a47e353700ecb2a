"""Commands that are imported when they are run, not when they are listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["Command", "LazyGroup"]


@dataclass(frozen=True)
class Command:
    """One command of a `LazyGroup`."""

    name: str
    target: str
    help: str

    def load(self) -> Any:
        """Import the function and make a command of it."""
        module, _, attribute = self.target.partition(":")
        found: Callable[..., None] | typer.Typer = getattr(import_module(module), attribute)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        alone = typer.Typer(add_completion=False)
        alone.command(self.name)(found)
        return typer.main.get_command(alone)


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and help, and loads the one that is run."""

    # A subclass lists its commands in ``table``.

    table: ClassVar[tuple[Command, ...]] = ()

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for row in self.table:
            self.add_command(TyperCommand(row.name, callback=None, help=row.help))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command to run, loaded; an unknown name is an error that suggests a known one."""
        name, listed, rest = super().resolve_command(ctx, args)
        targets = {row.name: row for row in self.table}
        return name, targets[name].load() if name in targets else listed, rest
