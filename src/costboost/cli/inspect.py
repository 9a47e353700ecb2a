"""The command ``costboost inspect``: what is inside a model file."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.pretty import Pretty

from costboost.cli import options, show
from costboost.cli.options import command


@command
def inspect(model: Path = options.MODEL_FILE, as_json: bool = options.AS_JSON) -> None:
    """Show what is inside a model file, after checking that it is intact."""
    from costboost import files

    manifest = files.inspect(model)
    if as_json:
        show.print_json(manifest)
        return
    console = Console()
    # Costs in words, the rest as Python writes it: no text of the file can draw.
    show.say(console, str(manifest.pop("costs", None) or "")[:10_000])
    text = json.dumps(manifest)
    short = json.loads(text, parse_float=lambda number: float(f"{float(number):.6g}"))
    console.print(Pretty(short, max_length=1000, max_string=2000, max_depth=8))
