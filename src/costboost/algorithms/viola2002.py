"""Asymmetric AdaBoost.

P. Viola and M. Jones, "Fast and robust classification using asymmetric AdaBoost and a detector
cascade", NIPS 2001 (published 2002).
"""

from __future__ import annotations

from costboost.boosting import BoostingClassifier, Init, Recipe, VoteRule

__all__ = ["AsymmetricAdaBoostClassifier"]


class AsymmetricAdaBoostClassifier(BoostingClassifier):
    r"""Asymmetric AdaBoost: the cost is spread over the rounds.

    .. math::

        D_i = \frac1n, \qquad
        D \leftarrow D \left(\frac{C_1}{C_2}\right)^{y/(2T)} / Z \text{ before every round}, \qquad
        \alpha,\ D \text{ as in AdaBoost}

    with T = ``n_estimators``. For rows with their own costs the factor is :math:`c^{1/T}`, which is
    the same up to normalisation when the costs are those of the classes. With equal costs it is
    AdaBoost. `predict_proba` uses the link of the cost-weighted exponential loss, exact if all T
    rounds run. By default ``init`` is ``"uniform"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    References
    ----------
    P. Viola and M. Jones, "Fast and robust classification using asymmetric AdaBoost and a detector
    cascade", NIPS 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AsymmetricAdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AsymmetricAdaBoostClassifier({"fn": 1, "fp": 5}, n_estimators=20)
    >>> bool(clf.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "the cost ratio, spread evenly over the rounds",
        "Viola & Jones 2002",
        link="yes",
        parent="AdaBoost",
    )
    _default_init = "uniform"
    _rule = VoteRule(before=lambda c, n_rounds: c ** (1.0 / n_rounds))

    init: Init | None = None
