"""Labels of truths and decisions: matched with the classes, and put into order.

The columns of a cost matrix are decisions. If they are the classes, in any order, they are put into
the order of the classes. Other names (accept, review, block) stay in the order they were given in.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Ints
from costboost._utils import is_missing


def parameter(name: str, owner: str) -> str:
    """Name a parameter at the start of an error message."""
    return f"The {name!r} parameter of {owner}" if owner else f"The {name!r} parameter"


def check_same_index(owner: str, **rows: Any) -> Any:
    """Return the pandas index that rows have, or None; refuse two that differ."""
    # Rows are paired by position: values in another order would belong to other rows, in silence.
    index = None
    index_name = ""
    for name, values in rows.items():
        other = getattr(values, "index", values)
        if not hasattr(other, "get_indexer"):
            continue
        if index is None:
            index = other
            index_name = name
        elif len(other) == len(index) and not other.equals(index):
            raise ValueError(
                f"{parameter(name, owner)} must have the index of {index_name}, in the same order: "
                "rows are paired by their positions. Take it from the same rows, or pass "
                ".to_numpy() if its order is right."
            )
    return index


def listed(labels: Iterable[Any], most: int = 5) -> str:
    """A list in a message: the first labels, and how many more there are."""
    known = list(labels)
    more = f", and {len(known) - most} more" if len(known) > most else ""
    return f"[{', '.join(map(repr, known[:most]))}{more}]"


def nearest(word: object, known: Iterable[object]) -> str:
    """The end of a sentence: ``"; did you mean 'fraud'?"`` if a known word is near."""
    words = {str(other): other for other in known}
    near = get_close_matches(str(word), words, n=1, cutoff=0.6)
    return f"; did you mean {words[near[0]]!r}?" if near else "."


def label_array(labels: Sequence[Any]) -> AnyArray:
    """Labels as an array that keeps their types."""
    array = np.asarray(labels)
    if array.ndim == 1 and array.tolist() == list(labels):
        return array
    objects = np.empty(len(labels), dtype=object)
    objects[:] = list(labels)
    return objects


def matched(labels: Sequence[Any], classes: AnyArray) -> list[int]:
    """Index of the class that each label stands for, -1 if none."""
    # Names of columns are often text where the classes are not (always so in polars), so a text
    # also stands for the class that prints like it.
    known = classes.tolist()
    places: dict[Any, int] = {str(label): i for i, label in enumerate(known)}
    places |= {label: i for i, label in enumerate(known)}
    return [places.get(x, -1) if isinstance(x, Hashable) else -1 for x in labels]


def distinct(array: AnyArray, start: str, key: Any = None) -> tuple[AnyArray, Ints]:
    """Distinct values, sorted, and the index of each value among them."""
    if array.dtype.kind != "O":
        return np.unique(array, return_inverse=True)
    values = array.tolist()  # hashing beats sorting Python objects tenfold
    try:
        found = sorted(set(values), key=key)
    except TypeError as error:
        raise ValueError(
            f"{start} must hold labels of one type ({error}). Convert them to text."
        ) from error
    index = {value: i for i, value in enumerate(found)}
    codes = np.fromiter((index[value] for value in values), dtype=np.intp, count=len(values))
    return np.array(found, dtype=object), codes


def grouped(groups: Any, n: int, name: str, owner: str) -> tuple[AnyArray, Ints]:
    """The groups of rows, sorted by type and value, and that of each row; none may be missing."""
    array = of_length(groups, n, name, owner)
    missing = [i for i, value in enumerate(array.tolist()) if is_missing(value)]
    if missing:
        raise ValueError(
            f"{parameter(name, owner)} must name a group for every row; {len(missing)} rows have "
            f"none, first row {missing[0]}."
        )
    return distinct(array, parameter(name, owner), lambda value: (type(value).__name__, value))


def of_length(values: Any, n: int, name: str, owner: str) -> AnyArray:
    """An array with one element per row."""
    array = np.asarray(values)
    if array.shape != (n,):
        raise ValueError(
            f"{parameter(name, owner)} must have one element per row, shape ({n},); got shape "
            f"{array.shape}."
        )
    return array


def checked_codes(codes: Any, n: int, size: int, name: str, owner: str) -> Ints:
    """Indices of decisions, one per row, as integers."""
    array = of_length(codes, n, name, owner)
    if array.dtype.kind not in "iubf" or not np.isin(array, np.arange(size)).all():
        raise ValueError(
            f"{parameter(name, owner)} must hold the indices of decisions, 0 to {size - 1}, got "
            f"{listed(np.unique(array).tolist())}. Pass places among the decisions, not labels."
        )
    return array.astype(np.intp)


def position(label: Any, known: AnyArray, what: str, name: str, owner: str) -> int:
    """Index of a label among those that are known."""
    return int(codes_of([label], known, parameter(name, owner), "Name one of them.", what)[0])


def positions(values: Any, known: AnyArray, what: str, name: str, owner: str, n: int) -> Ints:
    """Index of each row's label among those that are known."""
    own = of_length(values, n, name, owner).tolist()
    return codes_of(own, known, parameter(name, owner), "Name only those.", what)


def codes_of(
    labels: Iterable[Any], known: AnyArray, start: str, remedy: str, what: str = "classes"
) -> Ints:
    """Index of each label among those that are known; others are refused."""
    given, places = list(labels), {label: i for i, label in enumerate(known.tolist())}
    unknown = [label for label in dict.fromkeys(given) if label not in places]
    if unknown:
        raise ValueError(
            f"{start} must hold only the {what} {listed(places)}, got "
            f"{unknown[:5]}{nearest(unknown[0], places)} {remedy}"
        )
    return np.array([places[label] for label in given], dtype=np.intp)


def arranged(
    truths: Sequence[Any], columns: Sequence[Any], classes: AnyArray, start: str, as_classes: bool
) -> tuple[AnyArray, list[int], list[int]]:
    """The decisions of a labelled matrix, and the rows and columns that its cells come from."""
    # Truths without rows of data (a rare class missing from a fold) are left out as truths. They
    # stay as decisions, unless ``as_classes`` asks that the decisions be the classes.
    known = classes.tolist()
    truth_codes, column_codes = matched(truths, classes), matched(columns, classes)
    missing = [label for i, label in enumerate(known) if i not in truth_codes]
    absent = [x for x, i in zip(truths, truth_codes, strict=True) if i < 0]
    if missing:
        also = f" and name the unknown {listed(absent)}" if absent else ""
        remedy = encoded_hint(known, truths) or "Relabel or add rows (rows = truth)."
        if set(range(len(known))) <= set(column_codes):
            remedy = "It looks transposed: pass its transpose, .T, or {(truth, decision): cost}."
        raise ValueError(
            f"{start} must name the classes {listed(known)} in its rows (the truth), in any order: "
            f"they lack {listed(missing)}{also}{nearest(missing[0], absent)} {remedy}"
        )
    for what, given, codes in (("rows", truths, truth_codes), ("columns", columns, column_codes)):
        labels = [x if i < 0 else known[i] for x, i in zip(given, codes, strict=True)]
        if len(set(labels)) < len(labels):
            raise ValueError(
                f"{start} must name each label once in its {what}, got {listed(given)}."
            )
    rows = [truth_codes.index(i) for i in range(len(known))]
    extra = [x for x, i in zip(columns, column_codes, strict=True) if i < 0]
    lacking = [label for i, label in enumerate(known) if i not in column_codes]
    hints = [nearest(label, lacking) for label in extra if label not in absent]
    hint = next((hint for hint in hints if hint != "."), ".")
    are_classes = len(lacking) < len(known) and all(x in absent for x in extra)
    if lacking and (are_classes or hint != "."):
        raise ValueError(
            f"{start} must name exactly the classes {listed(known)} in its columns (the decision), "
            f"in any order, or decisions that are not like them: {listed(labels)} lack "
            f"{listed(lacking)}{hint} Correct or add those columns."
        )
    if are_classes and (as_classes or not extra):
        return classes, rows, [column_codes.index(i) for i in range(len(known))]
    if as_classes:
        raise ValueError(
            f"{start} has the decisions {listed(labels)}, and this algorithm decides only for the "
            f"classes {listed(known)}. Use CostBoostClassifier, MinCostClassifier or "
            "LpCSBClassifier, which take any decisions."
        )
    if len(labels) < 2:
        raise ValueError(f"{start} must have two decisions or more, got {listed(labels)}.")
    places = list(range(len(labels)))
    if are_classes:  # all decisions are classes, of which some have no rows of data
        with suppress(TypeError):  # labels of several types have no order but their own
            places.sort(key=lambda j: labels[j])
    return label_array([labels[j] for j in places]), rows, places


def encoded_hint(known: Sequence[Any], labels: Sequence[Any]) -> str:
    """The remedy where costs name texts and the classes are the codes of an encoder."""
    if list(known) != list(range(len(known))) or not any(isinstance(x, str) for x in labels):
        return ""
    return (
        "If a meta-estimator of scikit-learn (voting, stacking, bagging, cross_val_predict of "
        "probabilities) has encoded the labels, add 'classes', all labels, to the mapping of "
        "costs, or classes= to per_row; else name the classes as y does."
    )
