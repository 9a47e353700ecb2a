"""Models as the command line makes, measures and stores them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost.cli.options import assigned
from costboost.columns import TableError
from costboost.columns.table import nearest
from costboost.costs.spec import columns_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from costboost.cli.problem import CostProblem
    from costboost.report import Case
    from costboost.report.headline import Headline


# --- by name -----------------------------------------------------------------------------------

# Libraries and classes that people ask for; MinCost decides by the probabilities of one of them.
OTHER_CLASSIFIERS = (
    "catboost",
    "gradientboosting",
    "histgradientboosting",
    "lgbm",
    "lightgbm",
    "logisticregression",
    "randomforest",
    "sklearn",
    "xgb",
    "xgboost",
)


def algorithm_names() -> list[str]:
    """Names of all classes, without the ending."""
    import costboost

    names = [name for name in costboost.__all__ if name.endswith("Classifier")]
    return sorted(name.removesuffix("Classifier") for name in names)


def algorithm_class(name: str) -> Any:
    """The class of a name, whatever its capitals and with or without the ending."""
    import costboost

    known = {one.lower(): one for one in algorithm_names()}
    wanted = name.lower().removesuffix("classifier")
    if wanted not in known:
        near = nearest(wanted, known.values(), n=2, cutoff=0.4)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        if wanted in OTHER_CLASSIFIERS:
            hint = (
                " --algorithm MinCost decides at the least expected cost, by calibrated "
                "probabilities of LightGBM; in Python, MinCostClassifier takes any classifier."
            )
        raise TableError(
            f"--algorithm must be a class of the library, got {name!r}.{hint} There are: "
            f"{', '.join(known.values())}."
        )
    return getattr(costboost, f"{known[wanted]}Classifier")


def read_settings(entries: Sequence[str] | None) -> dict[str, Any]:
    """Parameters from ``name=value``: numbers, true, false, none, JSON or plain text."""
    words = {"none": "null", **{word: word for word in ("true", "false", "null")}}
    found: dict[str, Any] = {}
    for name, text in assigned("--set", entries, "n_estimators=200"):
        try:
            found[name] = json.loads(words.get(text.lower(), text))
        except ValueError:
            found[name] = text
    return found


def make_model(name: str, problem: CostProblem, settings: dict[str, Any], *, seed: int) -> Any:
    """An unfitted classifier."""
    kind = algorithm_class(name)
    known = kind().get_params(deep=False)
    for key in settings:
        if key in ("cost_matrix", "columns", "verbose"):
            raise TableError(f"--set {key} cannot be used: other options of the command set it.")
        if key not in known:
            near = nearest(key, known)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise TableError(
                f"{kind.__name__} has no parameter {key!r}.{hint} It has: {', '.join(known)}."
            )
    if "cost_columns" in problem.settings and "cost_columns" not in known:
        raise TableError(
            f"{kind.__name__} takes every column as a feature, so columns that the costs name "
            "cannot be excluded. Use the default algorithm, or do not exclude them."
        )
    own = {"random_state": seed} if "random_state" in known else {}
    return kind(**{**problem.settings, **own, **settings})


# --- in money ----------------------------------------------------------------------------------


def typed_frame(model: Any, frame: pl.DataFrame, where: str = "The file") -> pd.DataFrame:
    """The columns that the model and its costs use, as what they hold."""
    import pandas as pd

    rows, priced = model.columns_.read(frame, where, 1), columns_of(model.cost_matrix)
    found: dict[str, Any] = {}
    for column in model.columns_:
        if column.is_used or column.name in priced:
            found[column.name] = values = rows[column.name]
            if column.kind == "date":
                found[column.name] = column.values(rows.table[column.name], where, 1)
            elif column.kind == "category":
                found[column.name] = pd.Categorical(values)
    return pd.DataFrame(found)


def measure(model: Any, rows: CostProblem, X: Any = None, **more: Any) -> tuple[Case, Headline]:
    """The rows as `costboost.report` takes them, and what rules cost there."""
    # The rules: the best constant decision, doing nothing if named, the threshold 0.5, the model.
    from costboost.report import make_case
    from costboost.report.case import case_of
    from costboost.report.headline import headline

    nothing = rows.facts.get("nothing")
    names: dict[Any, Any] = {str(label): label for label in model.decisions_.tolist()}
    has_dates = rows.time is not None and rows.time.dtype.kind == "M"
    more = {
        "time": rows.time if has_dates else None, "groups": rows.groups,
        "positive": rows.facts.get("positive"),
        "nothing": names.get(nothing, nothing), **more,
    }  # fmt: skip
    X = model.columns_.read(rows.X) if X is None else X  # other columns may be there, too
    if not model._lack_of_probabilities():
        case = case_of(model, X, rows.y, rows.weights, **more)
        return case, headline(case)
    k = len(model.classes_)
    case = make_case(
        rows.y, np.full((len(rows), k), 1.0 / k), classes=model.classes_,
        decisions=model.decisions_,
        costs=model._resolved(model.cost_spec_, None, X, len(rows)).matrix,
        decided=model.predict(X), sample_weight=rows.weights, **more,
    )  # fmt: skip
    found = headline(case)
    return case, replace(found, rules=[rule for rule in found.rules if rule.key != "likeliest"])


# --- files -------------------------------------------------------------------------------------

# The notes of a model file of the command line are what `fit` was told and later commands ask for:
# columns of times, weights and groups, the positive class.


def save_model(model: Any, facts: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write a model; ``costboost.load`` reads the file too."""
    from costboost.files import save

    return save(model, path, notes=facts)


def is_model_file(path: Path) -> bool:
    """Return whether a file is a model of ours, as far as it says itself."""
    from costboost.errors import ModelFileError
    from costboost.files import inspect

    try:
        return bool(inspect(path))
    except ModelFileError:
        return False


def load_model(path: Path, why: str = "") -> tuple[Any, dict[str, Any]]:
    """A model, and what `fit` was told; ``why`` says what needs probabilities."""
    from costboost.files import inspect, load

    if not path.is_file():
        raise TableError(f"There is no model file {path}. `costboost fit` writes one.")
    model = load(path)
    facts = inspect(path).get("notes", {})
    if not getattr(model, "columns_", ()) or not model.columns_.columns:
        raise TableError(
            f"{path} was trained on an array, so it does not know columns by name. Use it in "
            "Python, or train it on a data frame."
        )
    if why and model._lack_of_probabilities():
        raise ValueError(f"{type(model).__name__} has no probabilities, {why}. Use CostBoost.")
    return model, facts if isinstance(facts, dict) else {}
