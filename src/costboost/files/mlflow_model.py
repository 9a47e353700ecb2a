"""Models in MLflow without a pickle: the model file is the data, this module the loader.

::

    path = model.save("fraud.costboost")
    mlflow.pyfunc.save_model(
        "fraud_model",
        loader_module="costboost.files.mlflow_model",
        data_path=path,
        signature=signature_of(model),
    )

MLflow imports this module to load the model, and unpickles nothing. ``examples/mlflow_model.py``
runs it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray
from costboost.files.model import describe_features, load

__all__ = ["Served", "signature_of"]

# MLflow's types of labels, by the kind of numpy's; others are text.
_LABELS = {"i": "long", "u": "long", "f": "double", "b": "boolean"}
OUTPUTS = ("decision", "probabilities", "expected_costs")


class Served:
    """A loaded classifier as MLflow calls it."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> AnyArray:
        """Decide on the rows of a frame."""
        given = params or {}
        asked = given.get("output", OUTPUTS[0])
        if asked not in OUTPUTS:
            raise ValueError(f"The parameter 'output' must be one of {OUTPUTS}, got {asked!r}.")
        if asked == "probabilities":
            return np.asarray(self.model.predict_proba(model_input))
        costs = self._costs(given.get("costs"))
        arguments = {} if costs is None else {"costs": costs}
        if asked == "expected_costs":
            return np.asarray(self.model.predict_cost(model_input, **arguments))
        return np.asarray(self.model.predict(model_input, **arguments))

    def _costs(self, values: Any) -> AnyArray | None:
        flat = np.asarray([] if values is None else values, dtype=np.float64)
        if not flat.size:
            return None
        shape = len(self.model.classes_), len(self.model.decisions_)
        if flat.size != shape[0] * shape[1]:
            raise ValueError(
                f"The parameter 'costs' must have {shape[0]} x {shape[1]} numbers, truth by "
                f"decision, row after row; got {flat.size}."
            )
        return flat.reshape(shape)


def _load_pyfunc(path: str) -> Served:
    """What MLflow calls to load the model."""
    return Served(load(path))


def signature_of(model: Any) -> Any:
    """The MLflow signature of a classifier: columns, decisions, and costs as a parameter."""
    try:
        from mlflow.models import ModelSignature
        from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema
    except ImportError as error:
        raise ImportError(
            "signature_of needs MLflow. Install it with: pip install 'costboost[mlflow]'"
        ) from error

    check_is_fitted(model)
    features = describe_features(model)
    if features["names"] is None:
        raise ValueError(
            f"signature_of needs the names of columns, and {type(model).__name__} was fitted "
            "without. Fit it on a frame."
        )
    kinds = features["kinds"] or ["number"] * len(features["names"])
    columns = {
        name: "double" if kind == "number" else "string"
        for name, kind in zip(features["names"], kinds, strict=True)
    }
    for name in features["cost_columns"]:
        columns.setdefault(name, "double")
    labels = np.asarray(getattr(model, "decisions_", model.classes_))
    answer = _LABELS.get(labels.dtype.kind, "string")
    return ModelSignature(
        inputs=Schema([ColSpec(kind, name, required=True) for name, kind in columns.items()]),
        outputs=Schema([ColSpec(answer)]),
        params=ParamSchema(
            [
                ParamSpec("costs", "double", [], shape=(-1,)),
                ParamSpec("output", "string", OUTPUTS[0]),
            ]
        ),
    )
