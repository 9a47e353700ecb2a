"""Costs as they are typed: ``--cost fn=amount+15``, ``--cost fraud:review=4``, a table of costs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from costboost.columns import Column, TableError, TableRecipe, open_source, unknown_column

__all__ = ["check_expressions", "columns_in", "read_costs", "typed_costs"]

SHORT = ("fn", "fp", "tp", "tn")
Entries = dict[tuple[str, ...], Any]


def typed_costs(entries: Sequence[str], matrix: str | os.PathLike[str] | None) -> Entries:
    """What was typed: a cost for each entry, ``("fn",)`` or ``(truth, decision)``, all as text."""
    if entries and matrix is not None:
        raise TableError("Give --cost or --cost-matrix, not both.")
    if matrix is not None:
        return _from_file(matrix)
    found: Entries = {}
    for entry in entries:
        key, sign, text = entry.partition("=")
        key = key.strip()
        pair = tuple(part.strip() for part in key.split(":"))
        is_short = len(pair) == 1 and key.lower() in SHORT
        if not sign or not text.strip() or not (is_short or (len(pair) == 2 and all(pair))):
            raise TableError(
                f"--cost {entry!r} must be fn, fp, tp or tn, or truth:decision, then = and the "
                'cost. For example --cost "fn=amount+15", or --cost "fraud:review=4".'
            )
        place = (key.lower(),) if is_short else pair
        if place in found:
            raise TableError(
                f"--cost {key} is given twice: {found[place]} and {text.strip()}. Keep one."
            )
        found[place] = _cell(text)
    if len({len(place) for place in found}) > 1:
        raise TableError("Write all costs as fn, fp, tp, tn, or all as truth:decision.")
    return found


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text.strip()


def _from_file(path: str | os.PathLike[str]) -> Entries:
    frame = open_source(path).read()
    if frame.width < 3:
        raise TableError(
            f"{os.fspath(path)} must have the truth in its first column and a column for each "
            f"decision, at least two; its columns are {', '.join(frame.columns)}."
        )
    first, *decisions = frame.columns
    found: Entries = {}
    for row in frame.iter_rows(named=True):
        for decision in decisions:
            value = row[decision]
            if value is None or not str(value).strip():
                raise TableError(
                    f"{os.fspath(path)}: no cost for the truth {row[first]!r} and the decision "
                    f"{decision!r}. Write 0 if it costs nothing."
                )
            found[str(row[first]).strip(), decision.strip()] = _cell(str(value))
    return found


def columns_in(entries: Mapping[tuple[str, ...], Any]) -> list[str]:
    """Columns that the costs name, each once."""
    from costboost.costs.expressions import Expression

    names: dict[str, None] = {}
    for cell in entries.values():
        if isinstance(cell, str):
            names |= dict.fromkeys(Expression(cell).columns)
    return list(names)


def check_expressions(
    entries: Mapping[tuple[str, ...], Any], known: Sequence[str], where: str
) -> None:
    """Refuse costs that are not numbers or arithmetic over columns of the file."""
    from costboost.costs.expressions import Expression

    for place, cell in entries.items():
        if not isinstance(cell, str):
            continue
        entry = f"{':'.join(place)}={cell}"
        try:
            names = Expression(cell).columns
        except ValueError as error:
            raise TableError(
                f"The cost {entry!r} must be a number or arithmetic over columns: {error}"
            ) from error
        for name in names:
            if name not in known:
                raise unknown_column(name, known, f"the cost {entry!r} names it", where)


def check_kinds(entries: Mapping[tuple[str, ...], Any], columns: Sequence[Column]) -> None:
    """Refuse arithmetic over columns of text."""
    from costboost.costs.expressions import Expression

    kinds = {column.name: column for column in columns}
    for place, cell in entries.items():
        if not isinstance(cell, str):
            continue
        for name, is_text in Expression(cell)._uses:
            column = kinds[name]
            if not is_text and column.kind not in ("number", "boolean"):
                raise TableError(
                    f"The cost '{':'.join(place)}={cell}' calculates with the column {name!r}, "
                    f"which holds {'dates' if column.kind == 'date' else 'text'}. Remove "
                    f"currency signs and words from it, or compare it: where({name} == '...', 1, "
                    "0)."
                )


def read_costs(
    entries: Mapping[tuple[str, ...], Any],
    recipe: TableRecipe,
    classes: Sequence[Any],
    positive: str | None,
) -> tuple[dict[Any, Any] | None, Any]:
    """The costs as the library takes them, and the positive class."""
    names = [str(label) for label in classes]
    chosen = None
    if positive is not None:
        chosen = recipe.label(positive)
        if chosen not in classes:
            raise TableError(
                f"--positive must be a class of the target {recipe.target!r}, "
                f"{' or '.join(names)}, got {positive!r}."
            )
    elif len(classes) == 2 and set(classes) in ({0, 1}, {-1, 1}, {False, True}):
        chosen = max(classes)
    if not entries:
        return None, chosen
    if all(len(place) == 1 for place in entries):
        if len(classes) != 2:
            raise TableError(
                f"fn, fp, tp and tn are for two classes; the target {recipe.target!r} has "
                f"{len(classes)}: {', '.join(names[:10])}. Write --cost truth:decision=..., or "
                "--cost-matrix FILE."
            )
        if chosen is None:
            raise TableError(
                "--positive must say which class is the one to find (the p in fp and fn): "
                f"--positive {names[0]!r} or --positive {names[1]!r}."
            )
        lacking = [key for key in ("fn", "fp") if (key,) not in entries]
        if lacking:
            raise TableError(
                f"--cost {lacking[0]}=... is missing. What does it cost to decide "
                + (
                    f"{_other(classes, chosen)!r} when the truth is {chosen!r}?"
                    if lacking[0] == "fn"
                    else f"{chosen!r} when the truth is {_other(classes, chosen)!r}?"
                )
            )
        return {**{key: cell for (key,), cell in entries.items()}, "positive": chosen}, chosen
    return _pairs(entries, recipe, classes), chosen


def _other(classes: Sequence[Any], chosen: Any) -> Any:
    return next(label for label in classes if label != chosen)


def _pairs(
    entries: Mapping[tuple[str, ...], Any], recipe: TableRecipe, classes: Sequence[Any]
) -> dict[Any, Any]:
    truths = list(dict.fromkeys(place[0] for place in entries))
    decisions = list(dict.fromkeys(place[1] for place in entries))
    lacking = [label for label in classes if label not in [recipe.label(t) for t in truths]]
    if lacking:
        raise TableError(
            f"The costs say nothing about the class {lacking[0]!r} of the target "
            f"{recipe.target!r}; they have {', '.join(truths)}. Add "
            + " ".join(f"--cost '{lacking[0]}:{d}=...'" for d in decisions[:3])
            + ", or a row to the table of costs."
        )
    own = set(map(str, classes)) == set(decisions) or not set(decisions) - set(map(str, classes))
    form: dict[Any, Any] = {}
    for (truth, decision), cell in entries.items():
        label = recipe.label(truth)
        if label not in classes:
            continue  # a class that the rows do not have
        form[label, recipe.label(decision) if own else decision] = cell
    return form
