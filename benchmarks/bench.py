"""A table of comparisons, printed row by row and at the end."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


class Bench:
    """Collects rows and prints them as they come."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.rows: list[dict[str, str]] = []
        self.console = Console(width=130)

    def add(
        self,
        section: str,
        what: str,
        ours: float,
        rival: str,
        theirs: float,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        unit: str = "s",
        note: str = "",
    ) -> None:
        """One comparison; ``at_most`` bounds ours/theirs, ``at_least`` bounds theirs/ours."""
        ratio = ours / theirs
        if at_least is not None:
            ratio = 1 / ratio
            target, met = f">= {at_least:g} x faster", ratio >= at_least
        elif at_most is not None:
            target, met = f"<= {at_most:g} x", ratio <= at_most
        else:
            target, met = "", None
        row = {
            "section": section, "what": what, "ours": f"{ours:.4g}", "rival": rival,
            "theirs": f"{theirs:.4g}", "unit": unit, "ratio": f"{ratio:.3g}", "target": target,
            "met": "" if met is None else ("yes" if met else "NO"), "note": note,
        }  # fmt: skip
        self.rows.append(row)
        self.console.print(
            f"({section}) {what}: {ours:.4g} {unit} against {theirs:.4g} {unit} of {rival}: "
            f"{ratio:.3g} {target} {row['met']} {note}"
        )

    def table(self) -> Table:
        table = Table(title=self.title)
        for column in self.rows[0]:
            table.add_column(column, justify="right" if column in {"ours", "theirs"} else "left")
        for row in self.rows:
            table.add_row(*row.values(), style="red" if row["met"] == "NO" else None)
        return table
