"""``costboost cite``: the references of an algorithm."""

from __future__ import annotations

import typer

from costboost.cli.models import algorithm_class
from costboost.cli.options import command


@command
def cite(algorithm: str = typer.Argument(help="A class of the library, such as AdaC2.")) -> None:
    """Print the references of an algorithm as BibTeX."""
    from costboost.boosting import bibtex

    typer.echo(bibtex(algorithm_class(algorithm)))
