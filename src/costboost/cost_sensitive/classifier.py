"""The base of every classifier: costs, decisions, reports and files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Floats
from costboost.costs import Costs, KnownCosts
from costboost.costs.expressions import column_names
from costboost.costs.labels import nearest
from costboost.costs.uncertain import scenarios

if TYPE_CHECKING:
    from costboost.report import ReportData


from costboost.cost_sensitive.deciding import DecidingClassifier

__all__ = ["CostSensitiveClassifier", "column_of"]


class CostSensitiveClassifier(DecidingClassifier):
    """A classifier that knows what decisions cost, reports in money and can be saved to a file."""

    def judged(
        self, X: Any, y: ArrayLike, *, costs: Any = None
    ) -> tuple[Floats, KnownCosts, AnyArray]:
        """What a report is about: probabilities, costs of rows whose truth is known, decisions.

        Parameters
        ----------
        X, y, costs
            As in `score`.

        Returns
        -------
        proba : array of shape (n, k)
            Probabilities of the classes.
        known : KnownCosts
            What each decision costs on each row.
        decided : array of shape (n,)
            Labels of the decisions.
        """
        check_is_fitted(self)
        self._check_probabilities("report")
        self._check_costs_of_score(costs)
        places = {label: code for code, label in enumerate(self.classes_.tolist())}
        labels = np.asarray(y).tolist()
        unknown = sorted({str(label) for label in labels if label not in places})
        if unknown:
            raise ValueError(
                f"y of {type(self).__name__} must hold only the classes {list(places)}, got "
                f"{unknown[:5]}. Drop those rows, or fit on rows of all classes."
            )
        codes = np.array([places[label] for label in labels], dtype=np.intp)
        known = Costs.resolve(
            scenarios(self._stated_costs()).expected if costs is None else None,
            None if costs is None else scenarios(costs).expected,
            classes=self.classes_,
            decisions=None if self._costs_changed() else self.decisions_,
            X=X,
            codes=codes,
            owner=type(self).__name__,
        )
        usable = costs if costs is None or known.matrix is not None else None
        return self.predict_proba(X), known, self.predict(X, costs=self._usable_costs(usable))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted classifier to a model file, which holds no code.

        `costboost.load` reads it. The file appears when it is complete: a crash leaves an old file
        as it was. ``docs/files.md`` describes the format.

        Parameters
        ----------
        path : str or path
            The file, usually with the ending ``.costboost``.

        Returns
        -------
        Path
            The file.
        """
        from costboost.files import save

        return save(self, path)

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        costs: bool = False,
        exact: bool = False,
    ) -> Any:
        """Write the fitted classifier as an ONNX graph, for other runtimes.

        Classifiers whose scores are sums of trees can be written; others raise a ValueError that
        says why. ``docs/files.md`` describes inputs and outputs.

        Parameters
        ----------
        path : str or path, optional
            The file to write; without it the graph is only returned.
        costs : bool, default=False
            Whether the graph has the input ``costs``, the rows' own matrices, and decides as
            ``predict(X, costs=...)``.
        exact : bool, default=False
            Whether sums of trees must not depend on the number of threads of the runtime.

        Returns
        -------
        onnx.ModelProto
            The graph.
        """
        from costboost.files import to_onnx

        return to_onnx(self, path, costs=costs, exact=exact)

    def report_data(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
        **options: Any,
    ) -> ReportData:
        """The numbers of `report`, as objects.

        Parameters
        ----------
        X, y, sample_weight, costs, **options
            As in `report`.

        Returns
        -------
        ReportData
            All numbers of the page.
        """
        from costboost.report import report_data
        from costboost.report.of_model import case_of

        return report_data(case_of(self, X, y, sample_weight, costs=costs, **options))

    def report(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
        path: str | Path = "report.html",
        **options: Any,
    ) -> Path:
        """Write a report in money about the decisions on these rows: one HTML file.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows that the model was not fitted on.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        costs : array, frame or mapping, optional
            Costs of the rows, as in `score`.
        path : str or Path, default="report.html"
            The file to write. It needs no network to be read.
        **options
            ``time``, ``amount``, ``segments``, ``nothing``, ``positive``, ``rivals``, ``ids``,
            ``title`` and ``unit`` of `costboost.report.of_model.case_of`.

        Returns
        -------
        Path
            The file.
        """
        from costboost.report import write_report
        from costboost.report.of_model import case_of

        return write_report(case_of(self, X, y, sample_weight, costs=costs, **options), path)


def column_of(values: Any, X: Any, name: str, owner: str) -> Any:
    """Values of the rows: as they are given, or a column of X by its name."""
    if not isinstance(values, str):
        return values
    columns = column_names(X)
    if columns is None or values not in columns:
        raise ValueError(
            f"The {name!r} parameter of {owner} names the column {values!r}, which X does not "
            f"have{nearest(values, columns or [])} Pass the column's values."
        )
    return np.asarray(X[values])
