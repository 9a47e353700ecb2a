"""The cost report: one self-contained HTML page about what decisions cost.

A report is data, then a page. `make_case` checks the arrays, `report_data` computes the numbers,
and `write_report` draws them:

>>> import numpy as np, os, tempfile
>>> from costboost.report import make_case, write_report
>>> rng = np.random.default_rng(0)
>>> risk = rng.uniform(size=200)
>>> y = np.where(rng.uniform(size=200) < risk, "fraud", "ok")
>>> case = make_case(
...     y, np.column_stack([risk, 1 - risk]), costs=[[0, 50], [5, 0]], positive="fraud", unit="€"
... )
>>> with tempfile.TemporaryDirectory() as folder:
...     page = write_report(case, os.path.join(folder, "report.html"))
...     page.name
'report.html'
"""

from __future__ import annotations

from costboost.report.case import Case, ReportData, make_case
from costboost.report.page import report_data, write_report

__all__ = ["Case", "ReportData", "make_case", "report_data", "write_report"]
