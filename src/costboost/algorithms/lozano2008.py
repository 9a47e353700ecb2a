"""Boosting on p-norm costs, and the averaging methods it generalises (Lozano & Abe 2008).

A. C. Lozano and N. Abe, "Multi-class cost-sensitive boosting with p-norm loss functions",
KDD 2008, doi:10.1145/1401890.1401953.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from costboost._typing import Bools, Floats
from costboost._utils import Constraint, Rules, number, one_of
from costboost.boosting import BoostingClassifier, Recipe
from costboost.boosting.multiclass import Pairing, PNormAveraging, pseudo_loss_pairs
from costboost.learners import Learner
from costboost.learners.adapter import class_learner
from costboost.learners.ensembles import Shape, stochastic

__all__ = ["AverageCostClassifier", "LpCSBClassifier"]


def relational_pairs(H: Floats, C: Floats, right: Bools, p: float) -> Floats:
    """The pseudo-loss with w = H^{p-1} C (Fig. 1)."""
    return pseudo_loss_pairs(H ** (p - 1.0) * C, right)


def adjusted_pairs(H: Floats, C: Floats, right: Bools, p: float) -> Floats:
    """The pseudo-loss with w less its mean over the classes (Prop. 3.1)."""
    w = H ** (p - 1.0) * C
    return pseudo_loss_pairs(w - w.sum(axis=1, keepdims=True) / C.shape[1], right)


# How a variant asks for its next rule (None: by a multi-class learner in place of a relational
# one), and what it makes of the relation before it is averaged.
VARIANTS: dict[str, tuple[Pairing | None, Shape | None]] = {
    "relational": (relational_pairs, None),
    "adjusted": (adjusted_pairs, stochastic),
    "direct": (None, None),
}


class LpCSBClassifier(BoostingClassifier):
    r"""Lp-CSB: boosting on the p-norm of the hypothesis, weighted by the costs.

    .. math::

        L(H) = \sum_x \sum_y H(y|x)^p\, C_{x,y}, \qquad
        w_{x,y} = H_{t-1}(y|x)^{p-1} C_{x,y}, \qquad
        H_t = (1 - \alpha_t) H_{t-1} + \alpha_t h_t

    (Eq. 2, 5) with :math:`H_0 = 1/k`, decision argmax H. Costs are per example: a row's right class
    y* is its cheapest one, and C is reduced by the row's minimum.

    * ``variant="relational"`` (Fig. 1): a binary learner on all pairs (x, y), grown with the class
      at the root: a rule per class (`costboost.learners.ensembles` says why). The printed form is
      one tree over all pairs, with the class as a feature. Pairs with y ≠ y* have
      label 0 and weight w/2, the pair (x, y*) has label 1 and weight
      :math:`\tfrac12 \sum_{y \ne y^*} w`; :math:`h_t(x, y) \in \{0, 1\}`.
    * ``variant="adjusted"`` (Lp-CSB-PA, 3.3.3): the same with
      :math:`\tilde w = w - \tfrac1k \sum_{y' \ne y^*} w_{x,y'}`; a negative weight flips the label.
      The relation is made stochastic: the classes it claims share the row, and a row without a
      claim is uniform.
    * ``variant="direct"`` (Lp-CSB-A, Fig. 2): a multi-class learner that minimises
      :math:`\sum w f(y|x)` itself, a tree on the cost rows whose leaves choose the cheapest class.

    ``step="harmonic"`` is :math:`\alpha_t = 1/t`; ``"bound"`` is the minimiser of the quadratic
    bound, :math:`\alpha_t = -\langle \nabla L, f - H\rangle / (M \|f - H\|^2)` (Eq. 10) clipped
    to [0, 1], with :math:`M = \max C\, p(p-1)2^{p-2}`. It comes with the rate of Theorem 4.2, and
    takes very short steps. Below p = 2 the theorem's bound fails (the gradient is not Lipschitz
    where H = 0; at p = 1.1 there are problems on which its steps cycle) and the step is harmonic.

    With p = 1 the weights never change and a deterministic learner would repeat one rule, so every
    round draws a cost-proportionate sample instead (``resample="auto"``).

    H is a preference, not a class probability: the p-norm is minimised by
    :math:`H_y \propto (E\,C_y)^{-1/(p-1)}`. `predict_proba` returns H normalised, which orders
    classes but is not calibrated.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    max_leaves : int, default=16
        Largest number of leaves of the tree of each decision.
    p : float, default=2
        The exponent of the norm, at least 1. With 3 or 4, decisions often cost a little less than
        with 2.
    variant : {"relational", "adjusted", "direct"}, default="relational"
        How rules are learned, as described above.
    step : {"harmonic", "bound"}, default="harmonic"
        How the weight α of a new rule is chosen.
    resample : bool or "auto", default="auto"
        Whether each round draws a cost-proportionate sample of the pairs; "auto" does so for p = 1
        only, as in the paper. On most data sampling lowers the cost of the decisions for larger p
        too, because the average is then also a bagged one. The direct variant learns from all rows.

    References
    ----------
    A. C. Lozano and N. Abe, "Multi-class cost-sensitive boosting with p-norm loss functions",
    KDD 2008, doi:10.1145/1401890.1401953.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import LpCSBClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = [[0, 1, 1], [1, 0, 5], [1, 1, 0]]
    >>> clf = LpCSBClassifier(costs, n_estimators=20, max_leaves=8).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _recipe = Recipe(
        "boosting on the p-norm of the hypothesis: relational, adjusted or direct",
        "Lozano & Abe 2008",
    )
    _is_binary = False
    _needs_classes_as_decisions = False
    _rules: ClassVar[Rules] = {
        "p": number(1),
        "variant": one_of("relational", "adjusted", "direct"),
        "step": one_of("harmonic", "bound"),
        "resample": Constraint("a boolean or 'auto'", lambda v: isinstance(v, bool) or v == "auto"),
    }

    max_leaves: int = 16
    p: float = 2.0
    variant: Literal["relational", "adjusted", "direct"] = "relational"
    step: Literal["harmonic", "bound"] = "harmonic"
    resample: bool | Literal["auto"] = "auto"

    def _learner(self) -> Learner:
        if self.variant != "direct":
            return super()._learner()
        owner = f"{type(self).__name__}(variant='direct')"
        return class_learner(super()._learner(), owner, of_costs=True)

    def _scheme(self, problem: Any, rng: Any = None) -> PNormAveraging:
        parts = VARIANTS[self.variant]
        resample = self.p == 1 if self.resample == "auto" else bool(self.resample)
        return PNormAveraging(problem, float(self.p), *parts, self.step, rng if resample else None)


class AverageCostClassifier(BoostingClassifier):
    r"""Average Cost: Lp-CSB-PA with p = 1, averaged over cost-proportionate samples.

    .. math:: \tilde w_{x,y} = C_{x,y} - \tfrac1k \sum_{y'} C_{x,y'}

    A class that costs less than the row's average is wanted, one that costs more is not. The
    weights never change, so every round draws a sample of the pairs. The average of the rules is
    the score; `predict_proba` returns it, uncalibrated.

    Further parameters and attributes are those of `costboost.boosting.BoostingClassifier`.

    Parameters
    ----------
    max_leaves : int, default=16
        Largest number of leaves of the tree of each decision.

    References
    ----------
    D. Margineantu, "Methods for cost-sensitive learning", PhD thesis, Oregon State University,
    2001; A. C. Lozano and N. Abe, "Multi-class cost-sensitive boosting with p-norm loss
    functions", KDD 2008, doi:10.1145/1401890.1401953 (the case p = 1).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from costboost import AverageCostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AverageCostClassifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.7)
    True
    """

    _recipe = Recipe("decisions cheaper than the row's average are wanted", "Margineantu 2001")
    _is_binary = False
    _needs_classes_as_decisions = False

    max_leaves: int = 16

    def _scheme(self, problem: Any, rng: Any = None) -> PNormAveraging:
        return PNormAveraging(problem, 1.0, adjusted_pairs, stochastic, rng=rng)
