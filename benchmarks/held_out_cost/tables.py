"""Markdown tables."""

from __future__ import annotations

import numpy as np
import pandas as pd


def markdown(frame: pd.DataFrame, formats: dict[str, str], index: str) -> str:
    """A Markdown table; gaps are left empty."""
    lines = [
        f"| {index} | " + " | ".join(map(str, frame.columns)) + " |",
        "|---|" + "---:|" * len(frame.columns),
    ]
    for name, row in zip(frame.index, frame.itertuples(index=False), strict=True):
        cells = []
        for column, value in zip(frame.columns, row, strict=True):
            missing = isinstance(value, float) and np.isnan(value)
            cells.append("" if missing else formats.get(column, "{}").format(value))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
