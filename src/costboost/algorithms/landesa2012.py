"""AdaBoost with cost-proportional initial weights.

I. Landesa-Vázquez and J. L. Alba-Castro, "Shedding light on the asymmetric learning capability of
AdaBoost", Pattern Recognition Letters 33(3), 2012, doi:10.1016/j.patrec.2011.10.022.
"""

from __future__ import annotations

from costboost.boosting import BoostingClassifier, Init, Recipe, VoteRule

__all__ = ["AdaBoostCClassifier"]


class AdaBoostCClassifier(BoostingClassifier):
    r"""AdaBoost with cost-proportional initial weights.

    .. math::

        D_i = \frac{c_i}{\sum c}, \qquad
        \alpha = \tfrac12 \ln \frac{1 - \varepsilon}{\varepsilon}, \quad
        \varepsilon = \sum D\,[h \ne y], \qquad D \leftarrow D\,e^{-\alpha y h} / Z

    It minimises :math:`\sum c\,e^{-yF}`, so :math:`F^* = \tfrac12 \log(P_+C_1 / P_-C_2)`, from
    which `predict_proba` is read. With equal costs, or ``init="uniform"``, it is AdaBoost. By
    default ``init`` is ``"cost"``.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    References
    ----------
    I. Landesa-Vázquez and J. L. Alba-Castro, "Shedding light on the asymmetric learning capability
    of AdaBoost", Pattern Recognition Letters 33(3), 2012, doi:10.1016/j.patrec.2011.10.022.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import AdaBoostCClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AdaBoostCClassifier({"fn": 1, "fp": 10}, n_estimators=20).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True
    """

    _recipe = Recipe(
        "AdaBoost started from cost-proportional weights",
        "Landesa-Vázquez & Alba-Castro 2012; Cao et al. 2013",
        link="yes",
        parent="AdaBoost",
    )
    _costs_by_init = True
    _rule = VoteRule()

    init: Init | None = None
