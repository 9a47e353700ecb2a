"""Trees of Weka's J48 on the benchmark sets, kept under ``golden_c45`` as J48 prints them.

Written once, with Weka 3.6.14 (Debian's package ``weka``; Java is needed) and its defaults,
``-M 2 -C 0.25``::

    python papers/tests/j48.py

`rows` is what both sides see: ``test_c45.py`` fits `C45Classifier` to it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from costboost_papers.datasets import load

FOLDER = Path(__file__).parent / "golden_c45"
WEKA = "/usr/share/java/weka.jar"
SETS = (
    "anneal", "breast-cancer", "breast-tissue", "cleveland", "creditcard_subset", "crx",
    "echocardiogram", "ecoli", "flare", "german", "haberman", "hepatitis", "libras", "liver",
    "mlc_churn", "page-blocks", "phoneme", "pima", "satimage", "segment", "shuttle",
    "sick-euthyroid", "sonar", "splice", "telco", "thyroid", "tic-tac-toe", "vehicle", "vertebral",
    "vowel", "wbc", "wdbc", "wpbc",
)  # fmt: skip


def rows(name, weighted):
    """Features, labels and weights: as boosting makes them after some rounds, or all 1."""
    data = load(name)
    n = len(data.y)
    if not weighted:
        return data.X, data.y, np.ones(n)
    w = np.random.RandomState(n).exponential(size=n)
    return data.X, data.y, np.round(w / w.mean(), 6)


def grow(name, weighted, *options):
    """What J48 prints."""
    X, y, w = rows(name, weighted)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.arff"
        table.write_text(_arff(X, y, w))
        command = ["java", "-Xmx2g", "-cp", WEKA, "weka.classifiers.trees.J48", "-t", str(table)]
        command += ["-no-cv", "-M", "2", *options]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _, _, rest = printed.partition("------------------\n\n")
    tree, _, _ = rest.partition("\n\nNumber of Leaves")
    return tree.rstrip() + "\n"


def _arff(X, y, w):
    """The rows as Weka reads them; columns are c0, c1, ..., values their categories' places."""
    lines = ["@relation rows"]
    columns = []
    for j in range(X.shape[1]):
        column = X.iloc[:, j]
        if column.dtype == "category":
            values = [f"v{code}" for code in range(len(column.cat.categories))] or ["v0"]
            lines.append(f"@attribute c{j} {{{','.join(values)}}}")
            columns.append([f"v{code}" if code >= 0 else "?" for code in column.cat.codes])
        else:
            lines.append(f"@attribute c{j} numeric")
            columns.append([repr(float(x)) if x == x else "?" for x in column])
    classes, codes = np.unique(y, return_inverse=True)
    lines.append(f"@attribute class {{{','.join(f'y{c}' for c in range(len(classes)))}}}")
    lines.append("@data")
    columns.append([f"y{code}" for code in codes])
    weights = [f"{{{weight!r}}}" for weight in w.tolist()]
    lines += [",".join(cells) for cells in zip(*columns, weights, strict=True)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SETS:
        for weighted in (False, True):
            kind = "weighted" if weighted else "plain"
            (FOLDER / f"{name}-{kind}.txt").write_text(grow(name, weighted, "-C", "0.25"))
