"""Count, on every real data set, the rows on which the ONNX graph decides as `predict` does.

    PYTHONPATH=src:tests python -m files.onnx_sets [names ...]

Two boosters of 30 rounds on at most 3,000 rows of the set, by each engine; then all rows (at most
20,000), and rows on every split value and one step beside it (at most 20,000), with the set's costs
or, where it has none, random ones. Prints a line per set and engine; the last line is the total.
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np
import onnxruntime as ort

from costboost import CostBoostClassifier
from costboost.columns import Columns
from costboost.datasets import available, load
from costboost.files import to_onnx
from files.edges import edge_rows


def decisions(graph, X, **inputs):
    """What onnxruntime decides, with one thread."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    runtime = ort.InferenceSession(graph.SerializeToString(), options)
    return runtime.run(["decision", "probabilities"], {"features": X, **inputs})


def check(name, engine, data_dir=None):
    """Rows, rows on split values, and how many of them agree, without and with costs."""
    data = load(name, data_dir)
    rng = np.random.RandomState(0)
    order = rng.permutation(len(data.y))
    chosen = order[:3000]
    k = len(data.classes)
    costs = data.cost_matrix if data.cost_matrix is not None else 1.0 - np.eye(k)
    model = CostBoostClassifier(costs, engine=engine, n_estimators=30, ensemble=2, random_state=0)
    kept = np.isin(data.y, np.unique(data.y[chosen]))
    known = np.isin(data.classes, np.unique(data.y[chosen]))
    model.cost_matrix = costs[np.ix_(known, known)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data.X.iloc[chosen], data.y[chosen])
    rows = order[kept[order]][:20_000]
    X = model._read(data.X.iloc[rows], missing=True, sparse_rows=False).astype(np.float64)
    edges = edge_rows(model, X)
    # Odd codes have no frame: the model and its graph take the codes themselves.
    model._read = lambda matrix: matrix
    model.columns_ = Columns.of_array(X.shape[1])
    both = np.concatenate([X, edges])
    own = rng.exponential(size=(len(both), len(model.classes_), len(model.classes_)))
    if data.costs is not None:
        own[: len(rows)] = data.costs[rows]
    without, proba = decisions(to_onnx(model), both)
    with_costs, _ = decisions(to_onnx(model, costs=True), both, costs=own)
    agree = without == model.predict(both).astype(without.dtype)
    agree_costs = with_costs == model.predict(both, costs=own).astype(with_costs.dtype)
    return {
        "rows": len(X),
        "on splits": len(edges),
        "same": int(agree.sum()),
        "same with costs": int(agree_costs.sum()),
        "largest difference of probabilities": float(
            np.abs(proba - model.predict_proba(both)).max()
        ),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    total, same = 0, 0
    for name in arguments.names or available():
        for engine in ("lightgbm", "xgboost"):
            found = check(name, engine)
            n = found["rows"] + found["on splits"]
            total, same = total + 2 * n, same + found["same"] + found["same with costs"]
            words = "  ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
                              for key, value in found.items())  # fmt: skip
            print(f"{name:20} {engine:9} {words}", flush=True)
    print(f"{same} of {total} decisions are the same")
    sys.exit(same != total)


if __name__ == "__main__":
    main()
