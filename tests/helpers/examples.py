"""The scripts of examples/: how each is called, and what its page says that it prints and draws.

A page of docs/gallery is written by hand. It includes the script, and shows in a `text` block what
the script prints, and the pictures (PNG) that it leaves in the folder where it runs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = re.compile(r"^```text\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"\(\.\./pictures/([^)]+)\)")


class Example(NamedTuple):
    """A script of the gallery."""

    name: str
    arguments: tuple[str, ...] = ()

    @property
    def script(self) -> Path:
        """The file that runs."""
        return ROOT / "examples" / f"{self.name}.py"

    @property
    def page(self) -> Path:
        """The page that shows it."""
        return ROOT / "docs" / "gallery" / f"{self.name}.md"

    def shown_output(self) -> str:
        """Return what the page says that the script prints."""
        match = OUTPUT.search(self.page.read_text("utf-8"))
        if match is None:
            return ""
        return match[1]

    def shown_pictures(self) -> set[str]:
        """Return the pictures on the page."""
        return set(PICTURE.findall(self.page.read_text("utf-8")))


EXAMPLES = [
    Example("add_a_loss"),
    Example("add_an_algorithm"),
    Example("churn_unknown_value"),
    Example("cost_report"),
    Example("credit_scoring"),
    Example("dask_cluster"),
    Example("fraud_reviews", ("200",)),
    Example("hierarchical_classes"),
    Example("joblib_model"),
    Example("medical_test"),
    Example("onnx_model"),
    Example("own_gbm"),
    Example("parquet_files"),
    Example("scoring_service"),
    Example("search_with_costs"),
    Example("skops_model"),
]
