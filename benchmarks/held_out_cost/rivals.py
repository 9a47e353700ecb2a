"""Rivals that need an environment of their own: AutoGluon, CatBoost, VW.

All but vowpalwabbit give probabilities and decide by expected cost. They do not see prices, so one
training serves all problems of a split. A method whose package is missing is skipped by the runner.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import numpy as np
import pandas as pd
from benchmarks.held_out_cost.early import HELD_OUT, PATIENCE, TREES
from benchmarks.held_out_cost.problems import encoder
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost.comparison import Fold

FOLDS = 5
# Processor seconds that AutoGluon may take for a training on one core; it plans its work by them.
TIME_LIMIT = float(os.environ.get("AUTOGLUON_SECONDS", "120"))
FOREST_TREES = 500
LEAVES = (1, 5)  # smallest leaf of the forest: the one with the smaller out-of-bag log loss
STRENGTHS = np.logspace(-3, 2, 6)  # inverse penalties of logistic regression
PASSES = 10  # of vowpalwabbit over the training rows


# -- CatBoost ---------------------------------------------------------------------------------


def catboost_frame(X: pd.DataFrame) -> pd.DataFrame:
    """Category columns as text, as CatBoost wants them; a gap is a category of its own."""
    columns = X.select_dtypes("category").columns
    return X.assign(**{name: X[name].astype(object).fillna("missing") for name in columns})


class CatBoost:
    """One CatBoost model, or the mean of the probabilities of five.

    Parameters
    ----------
    seed : int
        Seed of the boosters and of the held-out rows.
    stopped : bool
        Hold rows out and stop by their log loss. CatBoost chooses its learning rate itself.
    folds : int
        With more than one, a booster per fold, stopped by the fold.
    """

    def __init__(self, seed: int, *, stopped: bool = False, folds: int = 1) -> None:
        self.seed, self.stopped, self.folds = seed, stopped, folds

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        X = catboost_frame(X)
        rows = np.arange(len(y))
        if self.folds > 1:
            folds = StratifiedKFold(self.folds, shuffle=True, random_state=self.seed)
            parts = list(folds.split(rows, y))
        elif self.stopped:
            parts = [train_test_split(rows, test_size=HELD_OUT, stratify=y, random_state=self.seed)]
        else:
            parts = [(rows, rows[:0])]
        self.models_ = [self._booster(X, y, fit, watch) for fit, watch in parts]
        return self

    def _booster(self, X: pd.DataFrame, y: np.ndarray, fit: np.ndarray, watch: np.ndarray) -> Any:
        from catboost import CatBoostClassifier

        model = CatBoostClassifier(
            iterations=TREES, loss_function="Logloss" if y.max() == 1 else "MultiClass",
            cat_features=list(X.select_dtypes(object).columns), random_seed=self.seed,
            thread_count=1, allow_writing_files=False, verbose=False,
        )  # fmt: skip
        known: dict[str, Any] = {}
        if len(watch):
            known = {
                "eval_set": (X.iloc[watch], y[watch]), "early_stopping_rounds": PATIENCE,
            }  # fmt: skip
        return model.fit(X.iloc[fit], y[fit], **known)

    @property
    def n_rounds_(self) -> int:
        return sum(int(model.tree_count_) for model in self.models_)

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        X = catboost_frame(X)
        return np.mean([model.predict_proba(X, thread_count=1) for model in self.models_], axis=0)


# -- AutoGluon --------------------------------------------------------------------------------


@contextmanager
def processor_clock() -> Iterator[None]:
    """`time.time` counts processor seconds: other work on the machine uses up no time limit."""
    start, spent = time.time(), time.process_time()
    with patch("time.time", lambda: start + time.process_time() - spent):
        yield


class AutoGluon:
    """A weighted ensemble of AutoGluon's default portfolio without neural networks.

    LightGBM ×3, CatBoost, XGBoost, random forests ×2, extra trees ×2 and logistic regression, each
    a bag of five folds, none stacked or refitted; selected by log loss.

    Parameters
    ----------
    seconds : float
        Time limit of a training, in processor seconds.

    Attributes
    ----------
    proba_seconds_ : float
        What the last probabilities took. They are kept: one answer, which may take a minute, serves
        all problems of a split.
    """

    LABEL = "costboost label"
    seen_: pd.DataFrame | None = None

    def __init__(self, seconds: float = TIME_LIMIT) -> None:
        self.seconds = seconds

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        from autogluon.tabular import TabularPredictor
        from autogluon.tabular.configs.hyperparameter_configs import get_hyperparameter_config

        folder = tempfile.mkdtemp(prefix="autogluon-")
        self._removed = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        portfolio = dict(get_hyperparameter_config("default"))
        for name in ("NN_TORCH", "FASTAI"):
            portfolio.pop(name, None)
        portfolio["LR"] = {}
        self.k = int(y.max()) + 1
        self.predictor_ = TabularPredictor(
            self.LABEL, eval_metric="log_loss", path=folder, verbosity=0,
            problem_type="binary" if self.k == 2 else "multiclass",
        )  # fmt: skip
        with processor_clock():
            self.predictor_.fit(
                X.assign(**{self.LABEL: y}), time_limit=self.seconds, hyperparameters=portfolio,
                num_bag_folds=FOLDS, num_bag_sets=1, num_stack_levels=0, dynamic_stacking=False,
                ag_args_ensemble={"fold_fitting_strategy": "sequential_local"}, num_cpus=1,
                num_gpus=0,
            )  # fmt: skip
        return self

    @property
    def n_rounds_(self) -> int:
        """Models that were finished in time, the ensemble of them included."""
        return len(self.predictor_.model_names())

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        if self.seen_ is None or not X.equals(self.seen_):
            start = time.process_time()
            found = self.predictor_.predict_proba(X, as_pandas=True, as_multiclass=True)
            found = found.reindex(columns=range(self.k), fill_value=0.0)
            self.seen_, self.told_ = X, np.asarray(found, dtype=float)
            self.proba_seconds_ = time.process_time() - start
        return self.told_


# -- scikit-learn -----------------------------------------------------------------------------


def logistic(seed: int) -> Any:
    """Columns scaled, penalty by the log loss of five folds."""
    from sklearn.linear_model import LogisticRegressionCV

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    model = LogisticRegressionCV(
        Cs=STRENGTHS, cv=folds, scoring="neg_log_loss", max_iter=300, random_state=seed
    )
    return make_pipeline(encoder(), StandardScaler(), model)


class Forest:
    """Random forests of `LEAVES`; the smallest leaf is chosen by the out-of-bag log loss."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        least = np.inf
        for leaf in LEAVES:
            forest = RandomForestClassifier(
                FOREST_TREES, min_samples_leaf=leaf, oob_score=True, random_state=self.seed
            )
            model = make_pipeline(encoder(), forest).fit(X, y)
            told = forest.oob_decision_function_[np.arange(len(y)), y]
            loss = -np.log(np.clip(told, 0.5 / FOREST_TREES, 1.0)).mean()
            if loss < least:
                self.model_, least = model, loss
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.model_.predict_proba(X))


# -- vowpalwabbit -----------------------------------------------------------------------------


class VowpalWabbit:
    """Costs of each decision, learned online in several passes; the smallest one is decided.

    Parameters
    ----------
    reduction : {"csoaa_ldf", "cs_active"}
        One regressor over pairs of row and decision, or a regressor per decision that asks for the
        costs it is unsure of.
    """

    def __init__(self, reduction: str) -> None:
        self.reduction = reduction

    def fit(self, X: np.ndarray, fold: Fold) -> Self:
        from vowpalwabbit import Workspace

        costs = fold.costs.regret
        self.scaler_, self.k = StandardScaler().fit(X), costs.shape[1]
        scale = float(costs.max()) or 1.0
        order = np.random.default_rng(fold.seed).permutation(len(costs))
        rows = self._rows(X[order])
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.txt"
            with file.open("w") as lines:
                for row, cost in zip(rows, costs[order] / scale, strict=True):
                    lines.write(self.example(row, cost) + "\n")
            if self.reduction == "csoaa_ldf":
                task = "--csoaa_ldf mc -q sd"
            else:
                task = f"--cs_active {self.k} --simulation --cost_min 0 --cost_max 1"
            common = f"-d {file} -k --cache_file {file}.cache --passes {PASSES} --holdout_off"
            self.model_ = Workspace(
                f"{task} {common} -b 20 --random_seed {fold.seed} --quiet", enable_logging=False
            )
        return self

    def _rows(self, X: np.ndarray) -> list[str]:
        scaled = self.scaler_.transform(X)
        return [
            " ".join(f"{j}:{row[j]:.5g}" for j in np.flatnonzero(np.abs(row) > 1e-6))
            for row in scaled
        ]

    def example(self, row: str, cost: np.ndarray | None) -> str:
        said = [f"{i + 1}" + ("" if cost is None else f":{cost[i]:.6g}") for i in range(self.k)]
        if self.reduction == "cs_active":
            return f"{' '.join(said)} |s {row}"
        pairs = [f"{label} |d d{i}" for i, label in enumerate(said)]
        return "\n".join([f"shared |s {row}", *pairs, ""])

    def predict(self, X: np.ndarray) -> np.ndarray:
        decided = []
        for row in self._rows(X):
            example = self.example(row, None)
            if self.reduction == "csoaa_ldf":
                decided.append(self.model_.predict(example.rstrip("\n").split("\n")))
            else:
                decided.append(self.model_.predict(example)[0])  # and whose costs it would ask
        return np.asarray(decided, dtype=int) - 1
