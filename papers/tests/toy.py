"""A paper that computes nothing: the machinery of the experiments is tested on it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from costboost_papers import registry
from costboost_papers.grading import Conclusion

# In a module of its own, so that other processes can import it.
TOY = """
import os, time
import numpy as np
import pandas as pd
from costboost_papers.grading import Conclusion, Part
from costboost_papers.item import Item, Task


class Toy(Item):
    paper, name, title = "toy", "table1", "A toy | table"
    notes = "none."
    tau_metric = "cost"

    def tasks(self, mode):
        tasks = [
            Task("toy", "table1", dataset, algorithm, setting, split)
            for dataset in ("a", "b")
            for algorithm in ("one", "two", "three")
            for setting in ("", "x=1, y")
            for split in range(1 if mode == "quick" else 4)
        ]
        return tasks[::-1] if "TOY_REVERSED" in os.environ else tasks

    def run(self, task, mode):
        time.sleep(float(os.environ.get("TOY_SLEEP", 0)))
        if os.environ.get("TOY_FAILS", "nothing") in task.key:
            raise RuntimeError("the toy is broken")
        base = {"one": 1.0, "two": 2.0, "three": 3.0}[task.algorithm]
        noise = np.random.default_rng(task.seed).random()
        return {"cost": base + 0.1 * noise, "noise": noise, "void": float("nan")}

    def printed(self):
        costs = [("one", 10.0), ("two", 30.0), ("three", 20.0)]
        columns = ["dataset", "algorithm", "setting", "metric", "value"]
        rows = [("a", name, "", "cost", cost) for name, cost in costs]
        return pd.DataFrame(rows, columns=columns)

    def table(self, summary):
        means = summary[(summary["statistic"] == "mean") & (summary["metric"] == "cost")]
        assert "three" in set(means["algorithm"])
        return means[["dataset", "algorithm", "setting", "value"]]

    def figure(self, summary):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(2, 2))
        figure.subplots().plot([1, 2, 3])
        return figure

    def conclusions(self, summary):
        parts = (Part("one", 1.0, 1.0, 1.0),)
        return [Conclusion("One is best.", "another", parts, test="1 < 2")]


class Shared(Toy):
    name, title, shares_rows_with = "figure1", "The same rows", "table1"

    def conclusions(self, summary):
        return []


if __name__ == "__main__":
    import sys
    from costboost_papers.item import Options
    from costboost_papers.run import run_item

    run_item(Toy(), Options(), sys.argv[1], n_jobs=int(sys.argv[2]))
"""


def install(folder, monkeypatch):
    """The toy module, written to a folder, and a registry that has nothing else."""
    (folder / "toy_paper.py").write_text(TOY)
    namespace: dict = {"__name__": "toy_paper"}
    exec(TOY, namespace)  # a fresh copy each time; no trace in sys.modules
    module = SimpleNamespace(
        Toy=namespace["Toy"],
        ITEMS=[namespace["Toy"](), namespace["Shared"]()],
        overall=lambda summaries: [Conclusion("All is well.", "trouble", (), missing=("much",))],
        path=folder / "toy_paper.py",
    )

    monkeypatch.setattr(registry, "PAPERS", (registry.Paper("toy", "A. Toy, 2026."),))
    monkeypatch.setitem(sys.modules, "costboost_papers.toy", module)
    return module
