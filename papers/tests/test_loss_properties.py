"""Which loss has which property: known verdicts, and witnesses that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from costboost import losses
from costboost.losses import GEL, GLL, MC, BinaryLoss, Ls, Lt, MulticlassLoss, PNorm
from costboost_papers.loss_properties import (
    GammaPhi,
    is_c_calibrated,
    is_calibrated,
    is_fisher_consistent,
    is_guess_averse,
)

BINARY = [
    losses.CostExponential(),
    losses.WeightedExponential(),
    losses.CostLogistic(),
    losses.AsymmetricLogistic(),
]
SCORES = [MC(), GEL(), GLL(), Ls(), Lt()]
LAWS = (is_guess_averse, is_fisher_consistent, is_calibrated)
NORMS = [PNorm(1.0), PNorm(1.5), PNorm(2.0), PNorm(4.0)]


def risk(loss, eta, S, C):
    """The expected loss of the scores, one truth at a time."""
    F = softmax(S) if isinstance(loss, PNorm) else S
    return sum(
        eta[z] * loss.value(np.array([z]), F[None, :], C[z][None, :])[0] for z in range(len(eta))
    )


def assert_breaks(law, loss, w):
    """The witness shows what it says."""
    assert w.right_risk == pytest.approx(risk(loss, w.probabilities, w.right, w.costs))
    assert w.preferred_risk == pytest.approx(risk(loss, w.probabilities, w.preferred, w.costs))
    assert w.probabilities.sum() == pytest.approx(1.0) and w.right_risk >= w.preferred_risk
    if law is is_guess_averse:
        z = int(w.probabilities.argmax())
        assert w.probabilities[z] == 1.0 and not w.preferred.any()
        assert np.all(np.delete(w.right, z) < w.right[z])
        return
    assert w.decision == (w.probabilities @ w.costs).argmin() != w.preferred.argmax()
    assert w.right[w.decision] == pytest.approx(w.right.max())
    # No scores with the Bayes decision do better than the witness says.
    rng = np.random.default_rng(1)
    for _ in range(300):
        S = w.right + rng.normal(size=len(w.right)) * 10.0 ** rng.uniform(-4, 0.5)
        S[w.decision] = S.max()
        S -= S.mean()
        assert risk(loss, w.probabilities, S, w.costs) >= w.right_risk - 1e-9


def assert_verdict(law, loss, wanted, *arguments, **options):
    verdict = law(loss, *arguments, **options)
    assert bool(verdict) == wanted
    if not wanted:
        assert_breaks(law, loss, verdict.witness)
    elif law is is_calibrated:
        assert verdict.tried > 400


# --- known verdicts -------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("loss", [*SCORES, *NORMS], ids=repr)
def test_known_verdicts(loss, k):
    of_margins = type(loss) in (MC, GEL, GLL)
    assert_verdict(is_guess_averse, loss, k == 2 or of_margins, k)
    assert_verdict(is_fisher_consistent, loss, True, k)
    calibrated = not of_margins or (k == 2 and type(loss) is GEL)  # GEL of two: AsyB's loss
    assert_verdict(is_calibrated, loss, calibrated, k)
    if of_margins:  # with one price for both errors of two classes there is nothing to weigh
        assert_verdict(is_calibrated, loss, k == 2, k, costs="symmetric")


@pytest.mark.parametrize("loss", BINARY, ids=repr)
def test_binary_losses_have_everything(loss):
    for law in LAWS:
        assert_verdict(law, loss, True)


@pytest.mark.parametrize("loss", [*SCORES, *BINARY], ids=repr)
def test_c_calibration_asks_for_more_than_guess_aversion(loss):
    """Beijbom et al. 2014, section 3: it implies guess-aversion; GLL has the one, not the other."""
    verdict = is_c_calibrated(loss)
    assert bool(verdict) == isinstance(loss, BinaryLoss)
    if not verdict:
        w = verdict.witness
        z = int(w.probabilities.argmax())
        assert w.right.argmax() == z != w.preferred.argmax()
        assert w.right_risk >= w.preferred_risk


# --- losses of the user's own ---------------------------------------------------------------


class Own(MulticlassLoss):
    """A loss by its value alone."""

    def __init__(self, of):
        self.of = of

    def value(self, y, F, C):
        return self.of(y, F, C)


def gaps(y, F, C):
    return C + F - np.take_along_axis(F, y[:, None], axis=1)


def test_the_gamma_phi_family():
    """Definition 4 has GEL and GLL, and Lemma 1 says which members are guess-averse."""
    rng = np.random.default_rng(0)
    z, S = rng.integers(3, size=50), rng.normal(size=(50, 3))
    C = rng.random((50, 3)) * (np.arange(3) != z[:, None])
    identity, decay = (lambda v: v), (lambda v: np.exp(-v))
    for gamma, loss in ((identity, GEL()), (np.log1p, GLL())):
        np.testing.assert_allclose(GammaPhi(gamma, decay).value(z, S, C), loss.value(z, S, C))
    assert is_guess_averse(GammaPhi(np.log1p, lambda v: np.maximum(0.0, 1.0 - v)))
    assert not is_guess_averse(GammaPhi(identity, lambda v: np.cosh(v - 0.5)))  # rises again
    assert not is_guess_averse(GammaPhi(lambda v: -v, decay))


SQUARES = Own(lambda y, F, C: (C * (1.0 + F) ** 2).sum(axis=1))
# The loss of the cost-sensitive multi-class SVM, and the same with its corners rounded.
HINGE = Own(lambda y, F, C: gaps(y, F, C).max(axis=1))
SMOOTH = Own(lambda y, F, C: 0.1 * np.logaddexp.reduce(gaps(y, F, C) / 0.1, axis=1))
FLAT = Own(lambda y, F, C: np.ones(len(y)))


class Backwards(losses.CostExponential):
    """Likes mistakes."""

    def value(self, y, F, C):
        return np.exp(y * F)

    def gradient(self, y, F, C):
        return y * np.exp(y * F)


@pytest.mark.parametrize("loss", SCORES, ids=repr)
def test_values_suffice(loss):
    for law in LAWS:
        full, numeric = law(loss), law(Own(loss.value))
        assert (bool(full), full.tried) == (bool(numeric), numeric.tried)


def test_verdicts_on_other_losses():
    assert not is_guess_averse(SQUARES, 2)  # it rises again far out
    assert is_calibrated(SQUARES)
    assert is_guess_averse(HINGE)  # Beijbom et al. 2014, section 5.2
    # Its corners rounded, the largest hinge is the logistic loss of costs e^(C/h).
    assert is_fisher_consistent(SMOOTH)
    assert not is_calibrated(SMOOTH)
    for law in LAWS:
        assert not law(FLAT)
        assert not law(Backwards())
    with pytest.raises(ValueError, match=r"derivative everywhere.*Own"):
        is_calibrated(HINGE)  # kinks are refused rather than misjudged


# --- the objects ----------------------------------------------------------------------------


def test_verdict_reads_well():
    for loss, value in ((Ls(), "7.396"), (Lt(), "1099")):  # the paper's point
        words = str(is_guess_averse(loss))
        assert words.startswith(
            "fails in trial 1: truth 0, costs [[0, 1, 1], [1, 0, 1], [1, 1, 0]]"
        )
        assert f"with scores [3, 2, -5] risks {value}" in words
    assert str(is_guess_averse(GEL())) == "holds in 20000 trials"
    assert "probabilities [" in str(is_calibrated(MC()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": "gel"}, "loss must be an instance"),
        ({"loss": GEL(), "n_classes": 1}, "n_classes must be at least 2"),
        ({"loss": BINARY[0], "n_classes": 3}, "n_classes must be 2 for the binary loss Cost"),
        ({"loss": GEL(), "costs": "random"}, "costs must be .*'random'"),
    ],
)
@pytest.mark.parametrize("law", [is_guess_averse, is_calibrated])
def test_bad_arguments(law, arguments, message):
    with pytest.raises(ValueError, match=message):
        law(**arguments)
