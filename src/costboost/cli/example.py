"""The file that ``costboost data example`` writes: card payments to try the commands on."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

__all__ = ["payments"]

START = datetime(2026, 1, 1)
DAYS = 90


def payments(rows: int, seed: int, start: datetime = START) -> pl.DataFrame:
    """Synthetic card payments as a shop would have them: an id, a time, words, the truth."""
    import polars as pl

    from costboost.datasets import make_fraud

    data = make_fraud(rows, random_state=seed)
    rng = np.random.default_rng(seed)
    features = dict(zip(data.feature_names, data.X.T, strict=True))
    hours = np.asarray(features.pop("hour"))
    days = np.sort(rng.integers(0, DAYS, rows))
    when = [
        start + timedelta(days=int(d), hours=float(h)) for d, h in zip(days, hours, strict=True)
    ]
    abroad = np.asarray(features.pop("abroad")) > 0
    home = rng.choice(["Basel", "Bern", "Zurich"], rows)
    return pl.DataFrame(
        {
            "payment": np.arange(1, rows + 1) + 10_000 * seed,
            "when": [f"{moment:%Y-%m-%d %H:%M}" for moment in when],
            "amount": np.round(features.pop("amount"), 2),
            **{name: np.round(column, 3) for name, column in features.items()},
            "city": np.where(abroad, "abroad", home),
            "currency": ["CHF"] * rows,
            "fraud": np.where(data.y == 1, "yes", "no"),
        }
    )
