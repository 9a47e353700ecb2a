"""The flagship and its rivals, each as a way to train and a way to decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn
from benchmarks.held_out_cost.early import HELD_OUT, PATIENCE, RATE, TREES, EarlyStopped, booster
from benchmarks.held_out_cost.problems import Prices, Problem, Split
from benchmarks.held_out_cost.rivals import (
    FOLDS,
    autogluon,
    catboost,
    forest,
    logistic,
    vowpal_wabbit,
)
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.tree import DecisionTreeClassifier

import costboost as cb
from costboost.costs import Costs
from costboost.metrics import make_cost_scorer

Fit = Callable[[Split, Prices], Any]
Decide = Callable[[Any, Split, Prices], np.ndarray]

ISOTONIC_FROM = 5000  # training rows; a fold's calibrator sees a fifth of them
MANY_CLASSES = 6  # above, Lp-CSB and MCBoost are left out, whose work grows with pairs of classes
SOME_CLASSES = 4  # above, the slow variants of CostBoost are left out
DEPTH, VOTES = 3, 50  # of imbalanced-ensemble, whose default is 50 stumps


@dataclass(frozen=True)
class Method:
    """A way to train and a way to decide.

    Attributes
    ----------
    name : str
        As the report shows it.
    fit, decide : callable
        Train on a split with prices; decide its test rows.
    blind : str
        ``"never"``: prices enter the training; ``"always"``: they do not, and one training serves
        all problems of a set; ``"matrix"``: so unless rows have costs of their own;
        ``"multi-class"``: so for matrices of more than two classes.
    trained_as : str
        Methods of the same name share a training.
    groups : tuple of str
        Groups of problems it applies to.
    most_classes : int
        Above, it is left out, for time.
    needs : str
        A module; where it is missing the method is skipped.
    """

    name: str
    fit: Fit
    decide: Decide
    blind: str = "never"
    trained_as: str = ""
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

    def training(self, problem: Problem, k: int) -> tuple[str, str]:
        """Trainings of the same key are the same."""
        has_row_costs = problem.group in ("per row", "hidden")
        blind = {
            "never": False,
            "always": True,
            "matrix": not has_row_costs,
            "multi-class": k > 2,
        }[self.blind]
        # Row costs are known in training whether or not they are hidden later.
        priced = "rows" if has_row_costs else problem.costs
        return self.trained_as or self.name, "" if blind else priced


# -- decisions --------------------------------------------------------------------------------


def plainly(model: Any, split: Split, prices: Prices) -> np.ndarray:
    """What the model says."""
    return np.asarray(model.predict(split.X_test))


def plainly_encoded(model: Any, split: Split, prices: Prices) -> np.ndarray:
    return np.asarray(model.predict(split.plain[1]))


def by_bayes(model: Any, split: Split, prices: Prices) -> np.ndarray:
    """Smallest expected cost by the row's costs, or the mean matrix if they are hidden."""
    known = prices.matrix if prices.told is None else prices.told
    return Costs(np.arange(split.k), known).decide(model.predict_proba(split.X_test))


def by_told_costs(model: Any, split: Split, prices: Prices) -> np.ndarray:
    """What a classifier of costboost decides, told the row's costs where they are known."""
    if prices.told is not None:
        return np.asarray(model.predict(split.X_test, costs=prices.told))
    if prices.rows is not None:
        return np.asarray(model.predict(split.X_test))
    # The model may have been trained with another matrix, which its boosters did not see.
    matrices = np.broadcast_to(prices.matrix, (len(split.X_test), split.k, split.k))
    return np.asarray(model.predict(split.X_test, costs=matrices))


# -- trainings --------------------------------------------------------------------------------


def defaults(engine: str) -> Fit:
    return lambda split, prices: booster(engine, split.seed).fit(split.X_train, split.y_train)


def stopped(engine: str) -> Fit:
    return lambda split, prices: EarlyStopped(engine, split.seed).fit(split.X_train, split.y_train)


def weighted(engine: str) -> Fit:
    """The cheapest decision as label, the mean price of a mistake as weight."""

    def fit(split: Split, prices: Prices) -> Any:
        weights = prices.train.reduced.sum(axis=1) / (split.k - 1)
        model = EarlyStopped(engine, split.seed)
        return model.fit(split.X_train, prices.train.labels, weights / weights.mean())

    return fit


def calibrated(engine: str) -> Fit:
    """Five early-stopped boosters, each calibrated on its fold."""

    def fit(split: Split, prices: Prices) -> Any:
        method = "isotonic" if len(split.y_train) >= ISOTONIC_FROM else "sigmoid"
        model = CalibratedClassifierCV(EarlyStopped(engine, split.seed), method=method, cv=5)
        return model.fit(split.X_train, split.y_train)

    return fit


def histogram(split: Split) -> Any:
    return HistGradientBoostingClassifier(
        learning_rate=RATE, max_iter=TREES, early_stopping=True, validation_fraction=HELD_OUT,
        n_iter_no_change=PATIENCE, categorical_features="from_dtype", random_state=split.seed,
    )  # fmt: skip


def tuned_threshold(split: Split, prices: Prices) -> Any:
    """One threshold for all rows; rows' own costs reach its scorer by metadata routing."""
    matrix = None if prices.rows is not None else prices.matrix
    scorer = make_cost_scorer("mean_cost", cost_matrix=matrix, labels=[0, 1])
    with sklearn.config_context(enable_metadata_routing=True):
        routed = {} if prices.rows is None else {"costs": prices.rows}
        scorer = scorer.set_score_request(costs=True) if routed else scorer
        model = TunedThresholdClassifierCV(
            histogram(split), scoring=scorer, cv=5, random_state=split.seed
        )
        return model.fit(split.X_train, split.y_train, **routed)


def csboost(split: Split, prices: Prices) -> Any:
    from empulse.models import CSBoostClassifier

    matrix = prices.matrix if prices.rows is None else np.moveaxis(prices.rows, 0, -1)
    (tn, fp), (fn, tp) = matrix
    model = CSBoostClassifier(booster("xgboost", split.seed))
    return model.fit(split.plain[0], split.y_train, tp_cost=tp, tn_cost=tn, fn_cost=fn, fp_cost=fp)


def imbalanced_ensemble(name: str, repaired: bool = True) -> Fit:
    """AdaCost or AsymBoost of imbalanced-ensemble.

    Release 0.2.3 ignores the cost matrix: its boosting step is `_boost_discrete`, but the
    scikit-learn 1.6 that it asks for calls `_boost`, which is plain AdaBoost. `repaired` calls the
    step that was meant. Its matrix is decision by truth. AdaCost takes costs up to 1 (above, its
    weights overflow); AsymBoost, as its own presets do, costs of geometric mean 1 and ones on the
    diagonal.
    """

    def fit(split: Split, prices: Prices) -> Any:
        from imbens import ensemble

        base = getattr(ensemble, name)
        kind = type(name, (base,), {"_boost": base._boost_discrete}) if repaired else base
        matrix = prices.matrix - prices.matrix.min(axis=1, keepdims=True)
        off = ~np.eye(split.k, dtype=bool)
        is_exponent = name == "AdaCostClassifier"
        unit = matrix.max() if is_exponent else np.exp(np.log(matrix[off]).mean())
        matrix = np.where(off, matrix / unit, 1.0)
        model = kind(DecisionTreeClassifier(max_depth=DEPTH), VOTES, random_state=split.seed)
        return model.fit(split.plain[0], split.y_train, cost_matrix=matrix.T)

    return fit


def family(name: str, *, encoded: bool = False, **params: Any) -> Fit:
    """A classifier of costboost."""

    def fit(split: Split, prices: Prices) -> Any:
        model = getattr(cb, f"{name}Classifier")(**params)
        own = {"n_jobs": 1, "random_state": split.seed, "cost_matrix": prices.matrix}
        known = model.get_params()
        model.set_params(**{key: value for key, value in own.items() if key in known})
        X = split.plain[0] if encoded else split.X_train
        return model.fit(X, split.y_train, costs=prices.rows)

    return fit


FLAGSHIP = "CostBoost"
STOPPED = "LightGBM early-stopped + Bayes"
CALIBRATED = "LightGBM calibrated + Bayes"
BAYES_RIVALS = (STOPPED, CALIBRATED)
TWO = ("per row", "hidden", "binary")

AUTOGLUON = "AutoGluon + Bayes"
FAST, HIGH = "CostBoost, effort=fast", "CostBoost, effort=high"
OURS = (FLAGSHIP, FAST, HIGH)  # that are held against AutoGluon
# The other methods of costboost, which none of them should need.
FAMILY = ("MinCost", "AdaMEC", "AdaC2", "AsyBL", "CSLogitBoost", "Lp-CSB", "MCBoost GLL")
# In the order in which they are worth their time.
RIVALS = (
    Method(AUTOGLUON, autogluon, by_bayes, "always", needs="autogluon.tabular"),
    Method("CatBoost bagged + Bayes", catboost(stopped=True, folds=FOLDS), by_bayes, "always",
           needs="catboost"),
    Method("CatBoost early-stopped + Bayes", catboost(stopped=True), by_bayes, "always",
           needs="catboost"),
    Method("logistic regression + Bayes", logistic, by_bayes, "always"),
    Method("RandomForest + Bayes", forest, by_bayes, "always"),
    Method("CatBoost + Bayes", catboost(), by_bayes, "always", needs="catboost"),
    Method("VW csoaa_ldf mc", vowpal_wabbit("csoaa_ldf"), plainly_encoded, needs="vowpalwabbit"),
    Method("VW cs_active", vowpal_wabbit("cs_active"), plainly_encoded, needs="vowpalwabbit"),
)  # fmt: skip

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(FLAGSHIP, family("CostBoost"), by_told_costs, "multi-class"),
        Method(FAST, family("CostBoost", effort="fast"), by_told_costs, "matrix"),
        Method(HIGH, family("CostBoost", effort="high"), by_told_costs, "matrix"),
        Method("CostBoost, ensemble=1", family("CostBoost", ensemble=1), by_told_costs, "matrix"),
        Method("CostBoost, engine=xgboost", family("CostBoost", engine="xgboost"), by_told_costs,
               "matrix", most_classes=SOME_CLASSES),
        Method("CostBoost, loss=gll", family("CostBoost", loss="gll"), plainly,
               groups=("multi-class",), most_classes=SOME_CLASSES),
        Method("CostBoost, costs_known", family("CostBoost", costs_known=True), by_told_costs,
               groups=("hidden",)),
        Method("LightGBM", defaults("lightgbm"), plainly, "always"),
        Method("LightGBM + Bayes", defaults("lightgbm"), by_bayes, "always", "LightGBM"),
        Method(STOPPED, stopped("lightgbm"), by_bayes, "always"),
        Method("LightGBM cost-weighted", weighted("lightgbm"), plainly),
        Method(CALIBRATED, calibrated("lightgbm"), by_bayes, "always"),
        Method("XGBoost", defaults("xgboost"), plainly, "always"),
        Method("XGBoost cost-weighted", weighted("xgboost"), plainly),
        Method("XGBoost calibrated + Bayes", calibrated("xgboost"), by_bayes, "always"),
        Method("HistGradientBoosting + Bayes",
               lambda split, prices: histogram(split).fit(split.X_train, split.y_train),
               by_bayes, "always"),
        Method("HistGradientBoosting + TunedThreshold", tuned_threshold, plainly, groups=TWO),
        Method("empulse CSBoost", csboost, plainly_encoded, groups=TWO, needs="empulse"),
        Method("imbens AdaCost, repaired", imbalanced_ensemble("AdaCostClassifier"),
               plainly_encoded, needs="imbens"),
        Method("imbens AsymBoost, repaired", imbalanced_ensemble("AsymBoostClassifier"),
               plainly_encoded, needs="imbens"),
        Method("imbens, as released", imbalanced_ensemble("AdaCostClassifier", repaired=False),
               plainly_encoded, "always", needs="imbens"),
        Method("MinCost", family("MinCost", calibration="sigmoid"), by_bayes, "always"),
        Method("AdaMEC", family("AdaMEC"), by_bayes, "always", groups=TWO),
        Method("AdaC2", family("AdaC2"), plainly, groups=TWO),
        Method("AsyBL", family("AsyBL", learning_rate=0.1), by_told_costs, groups=TWO),
        Method("CSLogitBoost", family("CSLogitBoost", learning_rate=0.1, estimator="tree"),
               by_told_costs, groups=TWO),
        Method("Lp-CSB", family("LpCSB", p=2), plainly, groups=("multi-class",),
               most_classes=MANY_CLASSES),
        Method("MCBoost GLL", family("MCBoost", encoded=True, loss="gll"), plainly_encoded,
               groups=("multi-class",), most_classes=MANY_CLASSES),
        *RIVALS,
    )
}  # fmt: skip


def rounds(model: Any) -> float:
    """Boosting rounds of all boosters together; NaN where a model does not tell."""
    if isinstance(model, cb.CostBoostClassifier):
        return float(sum(m.n_rounds for head in model.heads_.values() for m in head.models))
    if isinstance(model, CalibratedClassifierCV):
        return float(sum(part.estimator.n_rounds_ for part in model.calibrated_classifiers_))
    for attribute in ("n_rounds_", "n_iter_", "n_estimators_", "n_estimators"):
        if isinstance(value := getattr(model, attribute, None), int | np.integer):
            return float(value)
    return float("nan")
