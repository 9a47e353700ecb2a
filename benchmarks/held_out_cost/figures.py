"""The figures of the report."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import pandas as pd
from benchmarks.held_out_cost.statistics import Duel, set_ranks
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from PIL import Image

from costboost_papers import plots
from costboost_papers.statistics import critical_difference

BLUE, RED, INK, MUTED, GRID = "#0072B2", "#D55E00", "#333333", "#767676", "#E8E8E8"
FARTHEST = 0.5  # of a difference of scores that is drawn in full


def draw_ranks(table: pd.DataFrame, path: Path) -> None:
    """Mean ranks over data sets with the critical difference; the table has no gaps."""
    ranks = set_ranks(table)
    n_sets = table.index.str.split(", ").str[0].nunique()
    gap = critical_difference(len(ranks), n_sets)
    ax = plots.draw_ranks(ranks.sort_values(kind="stable"), gap, n_sets, float("nan"))
    ax.set_xlabel(
        f"mean rank over {n_sets} data sets, 1 = best\n"
        f"bars: critical difference {gap:.2f} (α = 0.05)"
    )
    _save(ax.figure, path)


def draw_differences(duel: Duel, rival: str, development: set[str], path: Path) -> None:
    """Savings of the flagship minus those of a rival, a dot per problem."""
    frame = duel.problems.sort_values("difference").reset_index()
    figure, ax = plt.subplots(figsize=(7.0, 0.165 * len(frame) + 1.3), layout="constrained")
    ax.axvline(0, color=INK, linewidth=1)
    for y, row in frame.iterrows():
        is_clear = row["p"] < 0.05
        color = (BLUE if row["difference"] > 0 else RED) if is_clear else MUTED
        ax.plot(
            [row["difference"] - row["error"], row["difference"] + row["error"]], [y, y],
            color=color, linewidth=1.1, alpha=0.75, solid_capstyle="round",
        )  # fmt: skip
        face = "white" if row["data"] in development else color
        ax.plot(
            row["difference"], y, "o", color=color, markerfacecolor=face, markersize=4.2,
            markeredgewidth=1.1,
        )  # fmt: skip
    ends = (frame["difference"].abs() + frame["error"]).to_numpy()
    most = float(frame["difference"].abs().max())
    reach = min(float(ends.max()), max(FARTHEST, 1.1 * most)) * 1.05 or 0.01
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-0.8, len(frame) - 0.2)
    ax.set_yticks(range(len(frame)), frame["problem"], fontsize=6.5)
    ax.set_xlabel(f"score of CostBoost − score of {rival}")
    ax.set_axisbelow(True)
    ax.grid(True, axis="x", color=GRID, linewidth=0.8)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.legend(
        handles=[
            _key(BLUE, BLUE, "better (p < 0.05)"),
            _key(RED, RED, "worse (p < 0.05)"),
            _key(MUTED, MUTED, "no clear difference"),
            _key(INK, "white", "hollow: development set"),
        ],
        loc="lower right", fontsize=7, frameon=True, framealpha=0.9, edgecolor=GRID,
    )  # fmt: skip
    _save(figure, path)


def _key(color: str, face: str, label: str) -> Line2D:
    return Line2D(
        [], [], marker="o", linestyle="", color=color, markerfacecolor=face, markersize=4.5,
        label=label,
    )  # fmt: skip


def _save(figure: Any, path: Path) -> None:
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=130, bbox_inches="tight")
    plt.close(figure)
    # Sixteen colours are enough, and make the file a quarter as large.
    picture = Image.open(drawn).convert("RGB")
    picture.quantize(16, dither=Image.Dither.NONE).save(path, optimize=True)
