"""Models in MLflow without a pickle: the model file is the data, this module the loader.

::

    path = model.save("fraud.costboost")
    mlflow.pyfunc.save_model(
        "fraud_model",
        loader_module="costboost.files.mlflow_model",
        data_path=path,
        signature=signature_of(model, X),
    )

MLflow imports this module to load the model, and unpickles nothing. ``examples/mlflow_model.py``
runs it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray
from costboost.columns import need
from costboost.costs.forms import columns_of
from costboost.files.model import load

__all__ = ["Served", "signature_of"]

# MLflow's types of labels, by the kind of numpy's; others are text.
_LABELS = {"i": "long", "u": "long", "f": "double", "b": "boolean"}
OUTPUTS = ("decision", "probabilities", "expected_costs")


class Served:
    """A loaded classifier as MLflow calls it."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> AnyArray:
        """Decide on the raw rows of a frame, found by the names of their columns."""
        columns = getattr(self.model, "columns_", None)
        if columns is not None and columns.columns:
            model_input = columns.read(model_input)
        given, model = params or {}, self.model
        asked, costs = given.get("output", OUTPUTS[0]), given.get("costs")
        if asked not in OUTPUTS:
            raise ValueError(f"The parameter 'output' must be one of {OUTPUTS}, got {asked!r}.")
        if asked == "probabilities":
            return np.asarray(model.predict_proba(model_input))
        ask = model.predict_cost if asked == "expected_costs" else model.predict
        if costs is None or not np.size(costs):
            return np.asarray(ask(model_input))
        shape = len(model.classes_), len(model.decisions_)
        if np.size(costs) != shape[0] * shape[1]:
            raise ValueError(
                f"The parameter 'costs' must have {shape[0]} x {shape[1]} numbers, truth by "
                f"decision, row after row; got {np.size(costs)}."
            )
        return np.asarray(ask(model_input, costs=np.asarray(costs, np.float64).reshape(shape)))


def _load_pyfunc(path: str) -> Served:
    """What MLflow calls to load the model."""
    return Served(load(path))


def signature_of(model: Any, X: Any = None) -> Any:
    """The MLflow signature of a classifier: columns, decisions, and costs as a parameter."""
    # With rows of the table that it was fitted on, their own types; without, doubles and texts.
    need("mlflow", "mlflow", "signature_of")
    from mlflow.models import ModelSignature, infer_signature
    from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema

    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            f"signature_of needs the names of columns, and {type(model).__name__} was fitted "
            "without. Fit it on a frame."
        )
    columns = model.columns_.used if hasattr(model, "columns_") else ()
    texts = {column.name for column in columns if column.kind not in ("number", "boolean")}
    used = [column.name for column in columns] or list(names)
    used += [name for name in columns_of(model.cost_matrix) if name not in used]
    if X is not None:
        inputs = infer_signature(X[used]).inputs
    else:
        inputs = Schema([ColSpec("string" if name in texts else "double", name) for name in used])
    labels = np.asarray(getattr(model, "decisions_", model.classes_))
    answer = _LABELS.get(labels.dtype.kind, "string")
    costs = ParamSpec("costs", "double", [], shape=(-1,))
    output = ParamSpec("output", "string", OUTPUTS[0])
    return ModelSignature(inputs, Schema([ColSpec(answer)]), ParamSchema([costs, output]))
