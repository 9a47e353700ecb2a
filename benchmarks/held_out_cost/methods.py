"""The flagship and its rivals, as `costboost.compare` takes them: classifiers, or functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn
from benchmarks.held_out_cost.early import HELD_OUT, PATIENCE, RATE, TREES, EarlyStopped, booster
from benchmarks.held_out_cost.problems import Problem, encoder
from benchmarks.held_out_cost.rivals import FOLDS, AutoGluon, CatBoost, Forest, VowpalWabbit
from benchmarks.held_out_cost.rivals import logistic as logistic_regression
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.tree import DecisionTreeClassifier

import costboost as cb
from costboost._utils import fingerprint
from costboost.comparison import Fold, processor_seconds
from costboost.metrics import make_cost_scorer

Decided = tuple[np.ndarray, dict[str, Any]]

ISOTONIC_FROM = 5000  # training rows; a fold's calibrator sees a fifth of them
MANY_CLASSES = 6  # above, Lp-CSB and MCBoost are left out, whose work grows with pairs of classes
SOME_CLASSES = 4  # above, the slow variants of CostBoost are left out
DEPTH, VOTES = 3, 50  # of imbalanced-ensemble, whose default is 50 stumps


@dataclass(frozen=True)
class Method:
    """A classifier, or a function of a `Fold`, and the problems that it applies to.

    Attributes
    ----------
    name : str
        As the report shows it.
    decide : classifier or callable
        What `costboost.compare` runs.
    groups : tuple of str
        Groups of problems it applies to.
    most_classes : int
        Above, it is left out, for time.
    needs : str
        A module; where it is missing the method is skipped.
    """

    name: str
    decide: Any
    groups: tuple[str, ...] = ("per row", "hidden", "binary", "multi-class")
    most_classes: int = 1000
    needs: str = ""

    @property
    def is_installed(self) -> bool:
        try:
            return not self.needs or find_spec(self.needs) is not None
        except ModuleNotFoundError:  # not even the package that holds it
            return False

    def applies(self, problem: Problem, k: int) -> bool:
        return problem.group in self.groups and k <= self.most_classes


def chosen(names: list[str]) -> Callable[[Problem, int], Mapping[str, Any]]:
    """What `run` asks for: methods of these names that apply to a problem."""
    return lambda problem, k: {
        name: METHODS[name].decide for name in names if METHODS[name].applies(problem, k)
    }


# -- trainings that see no prices: one serves all problems of a split ---------------------------

_trained: dict[tuple[str, str], tuple[Any, float]] = {}


def blind(
    what: str, make: Callable[[int], Any], *, plainly: bool = False
) -> Callable[[Fold], Decided]:
    """A model that is trained without prices, then the least expected cost, or what it says.

    Models of the same `what` share a training; those of other rows are forgotten.
    """

    def decide(fold: Fold) -> Decided:
        key = (what, fingerprint(fold.X, fold.y))
        for old in [one for one in _trained if one[1] != key[1]]:
            del _trained[old]
        start = processor_seconds()
        if key not in _trained:
            model = make(fold.seed).fit(fold.X, fold.y)
            _trained[key] = model, processor_seconds() - start
        model, seconds = _trained[key]
        start = processor_seconds()
        if plainly:
            decided = fold.right(model.predict(fold.X_test))
        else:
            decided = fold.cheapest(model.predict_proba(fold.X_test))
        # Probabilities that were kept from another problem count with the time they took.
        spent = max(processor_seconds() - start, getattr(model, "proba_seconds_", 0.0))
        facts = {"fit_seconds": seconds, "predict_seconds": spent, "rounds": rounds(model)}
        return decided, facts

    return decide


def calibrated(engine: str) -> Callable[[int], Any]:
    """Five early-stopped boosters, each calibrated on its fold."""

    class Calibrated(CalibratedClassifierCV):
        def fit(self, X: Any, y: np.ndarray) -> Any:
            self.method = "isotonic" if len(y) >= ISOTONIC_FROM else "sigmoid"
            return super().fit(X, y)

    return lambda seed: Calibrated(EarlyStopped(engine, seed), cv=5)


def histogram(seed: int) -> Any:
    return HistGradientBoostingClassifier(
        learning_rate=RATE, max_iter=TREES, early_stopping=True, validation_fraction=HELD_OUT,
        n_iter_no_change=PATIENCE, categorical_features="from_dtype", random_state=seed,
    )  # fmt: skip


# -- trainings with prices ----------------------------------------------------------------------


def weighted(engine: str) -> Callable[[Fold], np.ndarray]:
    """The cheapest decision as label, the mean price of a mistake as weight."""

    def decide(fold: Fold) -> np.ndarray:
        weights = fold.costs.regret.sum(axis=1) / (len(fold.costs.classes) - 1)
        model = EarlyStopped(engine, fold.seed)
        model.fit(fold.X, fold.costs.best_decision, weights / weights.mean())
        return model.predict(fold.X_test)

    return decide


def tuned_threshold(fold: Fold) -> np.ndarray:
    """One threshold for all rows; rows' own costs reach its scorer by metadata routing."""
    matrix = None if fold.costs.is_per_row else fold.costs.matrix
    scorer = make_cost_scorer("mean_cost", cost_matrix=matrix, labels=[0, 1])
    with sklearn.config_context(enable_metadata_routing=True):
        routed = {} if matrix is not None else {"costs": fold.costs.matrix}
        scorer = scorer.set_score_request(costs=True) if routed else scorer
        model = TunedThresholdClassifierCV(
            histogram(fold.seed), scoring=scorer, cv=5, random_state=fold.seed
        )
        return model.fit(fold.X, fold.y, **routed).predict(fold.X_test)


def encoded(fit: Callable[[np.ndarray, Fold], Any]) -> Callable[[Fold], np.ndarray]:
    """A model of one-hot codes and medians that decides by itself."""

    def decide(fold: Fold) -> np.ndarray:
        codes = encoder()
        model = fit(np.asarray(codes.fit_transform(fold.X), float), fold)
        return np.asarray(model.predict(np.asarray(codes.transform(fold.X_test), float)))

    return decide


def mean_matrix(fold: Fold) -> np.ndarray:
    return fold.costs.matrix.mean(axis=0) if fold.costs.is_per_row else fold.costs.matrix


def csboost(X: np.ndarray, fold: Fold) -> Any:
    from empulse.models import CSBoostClassifier

    matrix = fold.costs.matrix
    (tn, fp), (fn, tp) = np.moveaxis(matrix, 0, -1) if fold.costs.is_per_row else matrix
    model = CSBoostClassifier(booster("xgboost", fold.seed))
    return model.fit(X, fold.y, tp_cost=tp, tn_cost=tn, fn_cost=fn, fp_cost=fp)


def imbalanced_ensemble(name: str, repaired: bool = True) -> Callable[[np.ndarray, Fold], Any]:
    """AdaCost or AsymBoost of imbalanced-ensemble.

    Release 0.2.3 ignores the cost matrix: its boosting step is `_boost_discrete`, but the
    scikit-learn 1.6 that it asks for calls `_boost`, which is plain AdaBoost. `repaired` calls the
    step that was meant. Its matrix is decision by truth. AdaCost takes costs up to 1 (above, its
    weights overflow); AsymBoost, as its own presets do, costs of geometric mean 1 and ones on the
    diagonal.
    """

    def fit(X: np.ndarray, fold: Fold) -> Any:
        from imbens import ensemble

        base = getattr(ensemble, name)
        kind = type(name, (base,), {"_boost": base._boost_discrete}) if repaired else base
        matrix = mean_matrix(fold)
        matrix = matrix - matrix.min(axis=1, keepdims=True)
        off = ~np.eye(len(matrix), dtype=bool)
        is_exponent = name == "AdaCostClassifier"
        unit = matrix.max() if is_exponent else np.exp(np.log(matrix[off]).mean())
        matrix = np.where(off, matrix / unit, 1.0)
        model = kind(DecisionTreeClassifier(max_depth=DEPTH), VOTES, random_state=fold.seed)
        return model.fit(X, fold.y, cost_matrix=matrix.T)

    return fit


def mcboost(X: np.ndarray, fold: Fold) -> Any:
    """Its lines take numbers without gaps."""
    model = family("MCBoost", loss="gll", cost_matrix=fold.costs.matrix, random_state=fold.seed)
    return model.fit(X, fold.y)


def family(name: str, **params: Any) -> Any:
    """A classifier of costboost."""
    return getattr(cb, f"{name}Classifier")(n_jobs=1, **params)


FLAGSHIP = "CostBoost"
STOPPED = "LightGBM early-stopped + Bayes"
CALIBRATED = "LightGBM calibrated + Bayes"
BAYES_RIVALS = (STOPPED, CALIBRATED)
TWO = ("per row", "hidden", "binary")

AUTOGLUON = "AutoGluon + Bayes"
FAST, HIGH = "CostBoost, effort=fast", "CostBoost, effort=high"
OURS = (FLAGSHIP, FAST, HIGH)  # that are held against AutoGluon
# In the order in which they are worth their time.
RIVALS = (
    # One of its members is CatBoost.
    Method(HIGH, family("CostBoost", effort="high"), needs="catboost"),
    Method(AUTOGLUON, blind("autogluon", lambda seed: AutoGluon()), needs="autogluon.tabular"),
    Method("CatBoost bagged + Bayes",
           blind("catboost bag", lambda seed: CatBoost(seed, stopped=True, folds=FOLDS)),
           needs="catboost"),
    Method("CatBoost early-stopped + Bayes",
           blind("catboost stopped", lambda seed: CatBoost(seed, stopped=True)), needs="catboost"),
    Method("logistic regression + Bayes", blind("logistic", logistic_regression)),
    Method("RandomForest + Bayes", blind("forest", Forest)),
    Method("CatBoost + Bayes", blind("catboost", CatBoost), needs="catboost"),
    Method("VW csoaa_ldf mc", encoded(VowpalWabbit("csoaa_ldf").fit), needs="vowpalwabbit"),
    Method("VW cs_active", encoded(VowpalWabbit("cs_active").fit), needs="vowpalwabbit"),
)  # fmt: skip

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(FLAGSHIP, family("CostBoost")),
        Method(FAST, family("CostBoost", effort="fast")),
        Method("CostBoost, loss=gll", family("CostBoost", loss="gll"), ("multi-class",),
               SOME_CLASSES),
        Method("CostBoost, costs_known", family("CostBoost", costs_known=True), ("hidden",)),
        Method("LightGBM", blind("lightgbm", lambda seed: booster("lightgbm", seed), plainly=True)),
        Method("LightGBM + Bayes", blind("lightgbm", lambda seed: booster("lightgbm", seed))),
        Method(STOPPED, blind("stopped", lambda seed: EarlyStopped("lightgbm", seed))),
        Method("LightGBM cost-weighted", weighted("lightgbm")),
        Method(CALIBRATED, blind("calibrated", calibrated("lightgbm"))),
        Method("XGBoost", blind("xgboost", lambda seed: booster("xgboost", seed), plainly=True)),
        Method("XGBoost cost-weighted", weighted("xgboost")),
        Method("XGBoost calibrated + Bayes", blind("xgb calibrated", calibrated("xgboost"))),
        Method("HistGradientBoosting + Bayes", blind("histogram", histogram)),
        Method("HistGradientBoosting + TunedThreshold", tuned_threshold, TWO),
        Method("empulse CSBoost", encoded(csboost), TWO, needs="empulse"),
        Method("imbens AdaCost, repaired", encoded(imbalanced_ensemble("AdaCostClassifier")),
               needs="imbens"),
        Method("imbens AsymBoost, repaired", encoded(imbalanced_ensemble("AsymBoostClassifier")),
               needs="imbens"),
        Method("imbens, as released",
               encoded(imbalanced_ensemble("AdaCostClassifier", repaired=False)), needs="imbens"),
        Method("MinCost", family("MinCost", calibration="sigmoid")),
        Method("AdaMEC", family("AdaMEC"), TWO),
        Method("AdaC2", family("AdaC2"), TWO),
        Method("AsyBL", family("AsyBL", learning_rate=0.1), TWO),
        Method("CSLogitBoost", family("CSLogitBoost", learning_rate=0.1, estimator="tree"), TWO),
        Method("Lp-CSB", family("LpCSB", p=2), ("multi-class",), MANY_CLASSES),
        Method("MCBoost GLL", encoded(mcboost), ("multi-class",), MANY_CLASSES),
        *RIVALS,
    )
}  # fmt: skip


def rounds(model: Any) -> float:
    """Boosting rounds of all boosters together; NaN where a model does not tell."""
    if isinstance(model, CalibratedClassifierCV):
        return float(sum(part.estimator.n_rounds_ for part in model.calibrated_classifiers_))
    for attribute in ("n_rounds_", "n_iter_", "n_estimators_", "n_estimators"):
        if isinstance(value := getattr(model, attribute, None), int | np.integer):
            return float(value)
    return float("nan")
