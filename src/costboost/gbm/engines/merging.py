"""Several LightGBM boosters as one: their trees side by side, leaves times the booster's weight."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import lightgbm as lgb

__all__ = ["merged_lightgbm"]

# What a weight multiplies: outputs of leaves and of inner nodes, constants and slopes of leaves.
_OUTPUTS = re.compile(r"^(leaf_value|internal_value|leaf_const|leaf_coeff)=(.*)$", re.MULTILINE)
_NUMBER = re.compile(r"^Tree=\d+\n")


def merged_lightgbm(boosters: Sequence[lgb.Booster], weights: Sequence[float]) -> lgb.Booster:
    """One booster whose raw score is the weighted sum of those of the others.

    Parameters
    ----------
    boosters : sequence of lightgbm.Booster
        Trained on the same features, with the same number of scores per row.
    weights : sequence of float
        Their weights.

    Returns
    -------
    lightgbm.Booster
        An ordinary booster.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> a, b = (
    ...     lgb.train({"verbosity": -1, "min_data_in_leaf": 2}, lgb.Dataset(X, y), 3)
    ...     for y in (X[:, 0], -(X[:, 0] ** 2))
    ... )
    >>> both = merged_lightgbm([a, b], [0.25, 0.75])
    >>> bool(np.allclose(both.predict(X), 0.25 * a.predict(X) + 0.75 * b.predict(X)))
    True
    """
    texts = [booster.model_to_string() for booster in boosters]
    head, _, _ = texts[0].partition("Tree=0\n")
    tail = texts[0][texts[0].index("end of trees") :]
    trees: list[str] = []
    for text, weight in zip(texts, weights, strict=True):
        body = text[text.index("Tree=0\n") : text.index("end of trees")]
        for tree in body.split("\n\n\n"):
            if tree.strip():
                scaled = _OUTPUTS.sub(partial(_scaled, weight=weight), tree)
                trees.append(_NUMBER.sub(f"Tree={len(trees)}\n", scaled.lstrip("\n")) + "\n\n\n")
    sizes = " ".join(str(len(tree.encode())) for tree in trees)
    head = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", head, flags=re.MULTILINE)
    return lgb.Booster(model_str=head + "".join(trees) + tail)


def _scaled(found: re.Match[str], *, weight: float) -> str:
    values = " ".join(repr(float(value) * weight) for value in found[2].split())
    return f"{found[1]}={values}"
