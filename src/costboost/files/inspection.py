"""What is inside a model file, without loading an engine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from costboost.files import boosters, container
from costboost.files.model import reading
from costboost.files.parts import KNOWN

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["inspect", "show"]

_ENGINES = {ending: engine for engine, ending in boosters.ENDINGS.items()}


def inspect(
    path: str | os.PathLike[str], limits: container.Limits = container.LIMITS
) -> dict[str, Any]:
    """What a model file says of itself, after its hashes and trees were checked.

    Parameters
    ----------
    path : str or path
        The file.
    limits : Limits, optional
        What the file may ask of memory.

    Returns
    -------
    dict
        The manifest (``docs/files.md``) with two entries more: ``boosters``, a list with the
        member, engine, trees, features and scores of each, and ``untrusted``, the types that
        `load` must be told to trust.

    Raises
    ------
    ModelFileError
        If anything is wrong with the container or a booster.
    """
    return dict(reading(path, lambda: _inspect(path, limits)))


def _inspect(path: Any, limits: container.Limits) -> dict[str, Any]:
    manifest, members = container.read(path, limits)
    found = []
    for name, data in sorted(members.items()):
        engine = _ENGINES.get(name.rpartition(".")[2])
        if engine is None or not name.startswith("boosters/"):
            continue
        model = boosters.check(engine, data, f"Member {name}")
        scores = model.n_classes if engine == "lightgbm" else model.n_groups
        found.append(
            {
                "member": name,
                "engine": engine,
                "trees": len(model.trees),
                "features": model.n_features,
                "scores": scores,
            }
        )
    types = manifest.get("types")
    untrusted = sorted(set(map(str, types)) - KNOWN) if isinstance(types, list) else []
    return {**manifest, "boosters": found, "untrusted": untrusted}


def show(path: str | os.PathLike[str], console: Console | None = None) -> None:
    """Print what `inspect` found, as tables.

    Parameters
    ----------
    path : str or path
        The file.
    console : rich.console.Console, optional
        Where to print.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    found = inspect(path)
    console = console or Console()

    def cell(value: Any) -> str:
        return escape(_short(value))

    about = Table(title=escape(os.fspath(path)), show_header=False, title_justify="left")
    for key, value in _about(found).items():
        about.add_row(key, cell(value))
    console.print(about)
    parameters = found.get("parameters")
    if isinstance(parameters, dict):
        table = Table("parameter", "value", title="Parameters", title_justify="left")
        for key, value in parameters.items():
            table.add_row(cell(key), cell(value))
        console.print(table)
    if found["boosters"]:
        table = Table(*found["boosters"][0], title="Boosters", title_justify="left")
        for booster in found["boosters"]:
            table.add_row(*(cell(value) for value in booster.values()))
        console.print(table)
    if found["untrusted"]:
        console.print(
            "To load this file you must trust these types: " + escape(", ".join(found["untrusted"]))
        )


def _about(found: dict[str, Any]) -> dict[str, Any]:
    """The rows of the first table: what is known, in plain words."""
    features = found.get("features")
    features = features if isinstance(features, dict) else {}
    calibration = found.get("calibration")
    calibration = calibration if isinstance(calibration, dict) else {}
    estimates = found.get("estimates")
    members = found["members"]
    rows = {
        "class": found.get("class"),
        "format": found.get("format"),
        "versions": found.get("versions"),
        "classes": found.get("classes"),
        "decisions": found.get("decisions"),
        "costs": found.get("costs"),
        "cost matrix": found.get("cost_matrix"),
        "columns for costs": features.get("cost_columns"),
        "features": features.get("number"),
        "feature names": features.get("names"),
        "feature kinds": features.get("kinds"),
        "categories": features.get("categories"),
        "calibration": calibration.get("method"),
        "temperature": calibration.get("temperature"),
        **(estimates if isinstance(estimates, dict) else {}),
        "trained": found.get("trained"),
        "training data": found.get("data"),
        "members": f"{len(members)}, {sum(m['bytes'] for m in members.values()):,} bytes",
    }
    return {key: value for key, value in rows.items() if value not in (None, {}, [])}


def _short(value: Any) -> str:
    """A value as one line."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return _cut(", ".join(f"{key}: {_short(item)}" for key, item in value.items()))
    if isinstance(value, list):
        if value and isinstance(value[0], list):
            return _cut("; ".join(_short(item) for item in value))
        return _cut(", ".join(_short(item) for item in value))
    return _cut(str(value))


def _cut(text: str) -> str:
    printable = "".join(c if c.isprintable() else "?" for c in text)
    return printable if len(printable) <= 300 else printable[:297] + "..."
