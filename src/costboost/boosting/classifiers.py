"""The base of the algorithms: a boosted classifier, for two classes or for any number.

A paper declares its card in ``_recipe``, the rules of its parameters in ``_rules``, whether it
takes more than two classes, and how it boosts: a rule of votes, or a `Scheme`. Its docstring has
the parameters that it adds; those of all algorithms stand in `BoostingClassifier`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
from joblib import Parallel, delayed
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from costboost._threads import n_threads, same_threads
from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._utils import (
    BOOLEAN,
    COLUMNS,
    LEARNING_RATE,
    N_JOBS,
    VERBOSE,
    Rules,
    check_parameters,
    check_weights,
    fit_at_once,
    integer,
    one_of,
    share,
)
from costboost.boosting.loop import PERFECT_VOTE, Scheme, Watched, boost
from costboost.boosting.multiclass import MulticlassProblem
from costboost.boosting.recipes import Recipe
from costboost.boosting.rounds import Callback, Round, check_callbacks, tell
from costboost.boosting.votes import BinaryProblem, Init, VoteRule, VoteScheme, half_log_ratio
from costboost.costs import RealizedCosts
from costboost.costs.costs import same_labels
from costboost.costs.labels import check_same_index
from costboost.errors import CollapseWarning
from costboost.estimator import CostSensitiveClassifier
from costboost.learners import Ensemble, Learner, Rows, resolve
from costboost.learners.adapter import ClassLearner, ClassRule, fitted_clone
from costboost.learners.base import ConstantRule, one_hot
from costboost.learners.ensembles import Mixture, Pairs
from costboost.losses import BinaryLoss, WeightedExponential

# Scores that differ by less, relative to the largest, are equal.
TIE = 1e-12


@dataclass_transform(kw_only_default=True)
@dataclass(eq=False, repr=False)
class BoostingClassifier(CostSensitiveClassifier):
    """A boosted classifier.

    Of two classes the sign of the score decides, else the largest one. Equal scores are decided for
    the decision that costs least when it is made for all training rows.

    An algorithm for two classes is a `VoteRule` run by a `VoteScheme`, or has a `Scheme` of its
    own. It says which initial weights it starts from, and which loss links scores to probabilities.

    Parameters
    ----------
    cost_matrix : array, frame, mapping or None, default=None
        What each decision costs: a (k, k) array, rows = truth, columns = decision, in the order of
        ``classes_``; a labelled frame; ``{(truth, decision): cost}``; for two classes
        ``{"fn": 5, "fp": 1, "positive": "fraud"}`` (also ``"tp"`` and ``"tn"``);
        None if every mistake costs 1. Entries are numbers or expressions over
        columns, such as ``"amount + 15"``.
    n_estimators : int, default=100
        Number of boosting rounds. Boosting may stop earlier.
    estimator : str, Learner, scikit-learn estimator or None, default=None
        The weak learner: ``"tree"``, ``"stump"``, ``"histogram"``, ``"line"``, ``"perceptron"``, a
        registered name or a learner object (`costboost.learners`), or any scikit-learn estimator
        whose ``fit`` takes ``sample_weight``. None is the paper's choice.
    max_leaves : int, default=8
        Largest number of leaves of a tree, for the ``"tree"`` learner.
    early_stopping : bool, default=False
        Whether rows are held out, and the round is kept after which the decisions on them cost
        least. The papers fix the number of rounds.
    validation_fraction : float, default=0.1
        Share of the rows of each class that early stopping holds out. They are not trained on.
        With ``eval_set`` in `fit` none are.
    n_iter_no_change : int, default=10
        Rounds without a lower cost before early stopping ends boosting.
    random_state : int, RandomState or None, default=None
        Seed of everything random.
    n_jobs : int or None, default=None
        Number of threads. None uses one below 10,000 rows; above, it uses the cores that the
        process may use, and no more than ``OMP_NUM_THREADS``. -1 uses all cores.
    verbose : int, default=0
        1 prints about ten lines, 2 one for every round.
    columns : mapping of name to kind or None, default=None
        What columns of a table are, where it is not what they look like: ``"number"``,
        ``"boolean"``, ``"category"``, ``"date"`` (or how dates are written: ``"%d/%m/%Y"``),
        ``"ignore"``.

    Other Parameters
    ----------------
    init : {"uniform", "balanced", "cost"} or None, default=None
        Initial weights: equal, equal class totals, or proportional to the costs. None is the
        paper's choice. After ``"balanced"``, scores and probabilities are those of a population
        in which both classes are equally frequent.
    learning_rate : float, default=1.0
        Share of each step that is taken.
    guarded : bool, default=True
        Whether responses are clipped and steps halved, as described above. False is the algorithm
        as printed, which may diverge when the costs are far apart.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The classes.
    n_classes_ : int
        Their number.
    decisions_ : array of shape (d,)
        The decisions that `predict` chooses from: the classes, unless the costs name others.
    costs_ : CostSummary
        The costs of the fit; ``print`` shows them in words.
    cost_spec_ : CostSpec
        The ``cost_matrix`` of the fit, parsed; the caller's may change afterwards.
    cost_matrix_ : array of shape (k, d)
        The costs, averaged over the rows where they differ.
    estimators_ : list
        The weak rules.
    estimator_weights_ : array
        Their votes, the α of the equations.
    n_iter_ : int
        Number of rounds kept.
    train_loss_ : array of shape (n_iter_,)
        The loss on the training rows after each round, where the algorithm minimises one.
    evals_result_ : dict of str to list of dict
        ``evals_result_["decision"][0]["held_out"]["cost"]`` is the mean cost of a held-out row
        after each round, also after the best one; ``"eval_set"`` in place of ``"held_out"`` if that
        was given. Absent without such rows.
    feature_importances_ : array of shape (n_features_in_,)
        How much each feature is used: for every rule the share of each feature in the gain of its
        splits (for a rule on one feature, 1), averaged with the votes as weights. Only for rules
        that know their features.
    columns_ : costboost.columns.Columns
        What each column holds and what became of it; ``print`` shows a table.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if X was a frame with text for column names.
    trained_at_ : str
        When the fit ended, UTC.
    data_fingerprint_ : str
        A SHA-256 of all training rows, where they were in memory.
    """

    _recipe: ClassVar[Recipe]
    # Whether labels are -1 and +1, with one score; else there is a score for every decision.
    _is_binary: ClassVar[bool] = True
    # False for algorithms on cost rows, whose columns may be decisions other than the classes.
    _needs_classes_as_decisions: ClassVar[bool] = True
    _default_estimator: ClassVar[str] = "tree"
    _default_init: ClassVar[Init] = "cost"
    _rule: ClassVar[VoteRule]
    _scheme_type: ClassVar[type[VoteScheme]] = VoteScheme
    # (problem, rng) -> a sample, for algorithms that average samples in place of boosting: row
    # numbers, and the decision that each row is an example of.
    _draw: ClassVar[Any] = None
    # For two classes, the loss that ties scores to probabilities, and whether costs enter by the
    # initial weights alone; else the score always has them inside.
    _link: ClassVar[BinaryLoss] = WeightedExponential()
    _costs_by_init: ClassVar[bool] = False
    _rules: ClassVar[Rules] = {
        "n_estimators": integer(1),
        "max_leaves": integer(2),
        "early_stopping": BOOLEAN,
        "validation_fraction": share(),
        "n_iter_no_change": integer(1),
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
        "columns": COLUMNS,
        # Of those that several algorithms have:
        "init": one_of(None, "uniform", "balanced", "cost"),
        "cost_scale": one_of("max", "min", None),
        "learning_rate": LEARNING_RATE,
        "guarded": BOOLEAN,
    }

    cost_matrix: Any = None
    _: KW_ONLY
    n_estimators: int = 100
    estimator: Any = None
    max_leaves: int = 8
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 10
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    columns: Mapping[str, str] | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        # An algorithm only lists the parameters that it adds, or whose defaults differ.
        super().__init_subclass__(**options)
        if inspect.get_annotations(cls):
            text = cls.__dict__.get("__doc__")
            dataclass(eq=False, repr=False, kw_only=True)(cls)
            cls.__doc__ = text  # a dataclass without a docstring is given its signature

    # -- fit ------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: ArrayLike | None = None,
        eval_set: tuple[Any, ...] | None = None,
        callbacks: Iterable[Callback] | Callback | None = None,
    ) -> Self:
        """Fit the boosted classifier.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows; NaN, categorical columns and sparse matrices where the weak learner takes
            them. Entries that a sparse matrix leaves out are zeros, not missing values.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows; weight 2 is the same as having the row twice.
        costs : array of shape (n, k, d), (n, d) or (n,), frame or mapping, optional
            Costs of the rows, in place of ``cost_matrix``: the row's own matrix, the price of each
            decision, or the price of an error on that row.
        eval_set : (X, y) or (X, y, costs), optional
            Rows of another table, such as a later month. What the decisions cost on them after
            each round is in `evals_result_`; with ``early_stopping`` it chooses the round.
        callbacks : callable or list of them, optional
            Called after each round with a `costboost.boosting.Round`. Returning True, or raising
            `costboost.boosting.StopBoosting`, ends boosting.

        Returns
        -------
        self
            The fitted classifier.
        """
        listeners = check_callbacks(callbacks, type(self).__name__)
        return fit_at_once(self, X, y, sample_weight, costs, eval_set, listeners)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, costs: Any, eval_set: Any, callbacks: Any
    ) -> None:
        check_parameters(self)
        if self._draw and (self.early_stopping or eval_set is not None or callbacks):
            raise ValueError(
                f"{type(self).__name__} averages samples that are drawn alike, so it has no rounds "
                "to choose from. Leave out early_stopping, eval_set and callbacks."
            )
        owner = type(self).__name__
        check_same_index(owner, X=X, y=y, sample_weight=sample_weight)
        matrix, _, codes = self._read_training(X, y)
        weights = check_weights(sample_weight, len(codes), owner)
        used = weights > 0
        known = self._learn_costs(costs, codes, X, weights)
        if not known.regret[used].any():
            raise ValueError(
                f"Every decision costs {owner} the same, so there is nothing to learn. Give "
                "cost_matrix or costs at least one entry that tells decisions apart."
            )
        if self.verbose:
            print(self.costs_)
        rng = check_random_state(self.random_state)
        watched, name = None, "held_out" if eval_set is None else "eval_set"
        if eval_set is not None:
            other, prices = self._read_eval_set(
                eval_set, self._training_costs, known, has_costs=costs is not None
            )
            watched = self._watched(other, prices, np.ones(len(prices)))
        elif self.early_stopping:
            held = _held_out(codes, used, self.validation_fraction, rng, owner)
            used[held] = False
            watched = self._watched(matrix[held], known.take(held), weights[held])

        def listener(number: int, vote: Any, loss: float | None, cost: float | None) -> bool:
            every = 1 if self.verbose > 1 else max(1, self.n_estimators // 10)
            if self.verbose and number % every == 0:
                of_loss = "" if loss is None else f" loss {loss:.4g}"
                print(f"{owner} round {number}/{self.n_estimators}: vote {vote:.3g}{of_loss}")
            found: Any = {"train_loss": loss, f"{name.removesuffix('_set')}_cost": cost}
            return tell(callbacks, Round("decision", 1, 1, number, self.n_estimators, **found))

        problem = self._problem(known.in_range(used).take(used), weights[used])
        rows = matrix if used.all() else matrix[used]
        F, stop = self._run(problem, rows, rng, watched, listener)
        if self.n_iter_:
            self._warn_if_collapsed(self._decide_by_score(F), stacklevel=5)
        else:
            self._fall_back(problem, stop)
        if watched is not None:
            self.evals_result_ = {"decision": [{name: {"cost": np.array(watched.costs)}}]}

    def _watched(self, X: AnyArray, costs: RealizedCosts, weights: Floats) -> Watched:
        """Rows whose decisions are priced after each round."""
        # By cost, not by the algorithm's loss (benchmarks/stopping.py, 9 development sets): mean
        # score +0.08 (standard error 0.06). The loss is better where the score minimises it
        # (AdaBoostC, CS-AdaBoost, MCBoost, Lp-CSB: by 0.06 to 0.14), and far worse where it does
        # not (AdaC2, AdaC3: 0.9 below and more).

        def cost(F: Floats) -> float:
            if self._decides_by_score():
                chosen = self._decide_by_score(F)
            else:
                chosen = costs.unrealized.decide(self._proba_of(F))
            return float(np.average(costs.cost_of(chosen), weights=weights))

        return Watched(X, cost, self.n_iter_no_change if self.early_stopping else None)

    def _problem(self, costs: RealizedCosts, weights: Floats) -> Any:
        """Labels, costs and weights of the used rows, as the algorithm sees them."""
        if self._is_binary:
            binary = BinaryProblem.from_costs(costs, weights)
            self._cost_pair = binary.mean_pair
            return binary
        problem = MulticlassProblem(costs.best_decision, costs.regret, weights)
        # Decisions, the cheapest one for all rows first.
        self._by_cost = np.argsort(problem.sample_weight @ problem.C, kind="stable")
        return problem

    def _run(
        self, problem: Any, X: AnyArray, rng: RandomState, watched: Watched | None, listener: Any
    ) -> tuple[Floats, str]:
        """Run the algorithm, `_keep` it; the training scores, and why boosting stopped."""
        if self._draw is not None:
            return self._average(problem, X, rng), ""
        if self._is_binary and problem.y.min() == problem.y.max():
            self.n_iter_ = 0
            return problem.y, "one decision is the cheapest for every row"
        seed = int(rng.randint(np.iinfo(np.int32).max))
        threads = n_threads(self.n_jobs, X.shape[0])
        rows = Rows(X, problem.sample_weight, self.columns_.categorical, threads, seed)
        learner, scheme = self._bind(rows, problem), self._scheme(problem, rng)
        with same_threads(threads):
            history = boost(scheme, learner, self.n_estimators, rng, watched, listener)
        ensemble = scheme.ensemble(learner, history.rules, np.array(history.votes))
        self._keep(ensemble, None if scheme.loss is None else history.losses)
        return scheme.F, history.stop

    def _average(self, problem: MulticlassProblem, X: AnyArray, rng: RandomState) -> Floats:
        """Average classifiers, each fitted to a sample of its own, in parallel; their scores."""
        model, k = self._learner().estimator, problem.C.shape[1]  # type: ignore[attr-defined]
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_estimators)
        fitted = Parallel(n_jobs=self.n_jobs, verbose=10 * int(self.verbose))(
            delayed(_fit_sample)(model, X, problem, type(self)._draw, int(seed)) for seed in seeds
        )
        rules = [ClassRule(classifier, k) for classifier in fitted]
        average = Ensemble(rules, np.full(len(rules), 1.0 / len(rules)))
        self._keep(Mixture(average, 1.0 / np.arange(1.0, len(rules) + 1.0), k))
        self.estimator_weights_ = average.votes
        return self._ensemble.decision_function(X)

    def _learner(self) -> Learner:
        owner = type(self).__name__
        if self._draw is None:
            estimator = self._default_estimator if self.estimator is None else self.estimator
            return resolve(estimator, self.max_leaves, owner)
        model = DecisionTreeClassifier() if self.estimator is None else self.estimator
        if not isinstance(model, BaseEstimator) or not is_classifier(model):
            raise ValueError(
                f"estimator of {owner} must be None or a scikit-learn classifier instance; got "
                f"{self.estimator!r}."
            )
        return ClassLearner(model)

    def _bind(self, rows: Rows, problem: Any) -> Learner:
        """The weak learner on these rows: a relation over k classes, by default a rule for each."""
        learner = self._learner()
        if self._is_binary or isinstance(learner, ClassLearner):  # its rules name a class
            return learner.bind(rows)
        k = problem.C.shape[1]
        on_pairs = learner if learner.learns_relations else Pairs(learner, k)
        return on_pairs.bind(rows._replace(k=k))

    def _scheme(self, problem: Any, rng: RandomState | None = None) -> Scheme:
        """The algorithm on this problem."""
        # A parameter of the algorithms whose papers leave the unit of the costs open.
        scale = getattr(self, "cost_scale", self._rule.cost_scale)
        rule = replace(self._rule, cost_scale=scale)
        return self._scheme_type(rule, problem, init=self._init, n_rounds=self.n_estimators)

    @property
    def _init(self) -> Init:
        return getattr(self, "init", None) or self._default_init

    def _fall_back(self, problem: Any, stop: str) -> None:
        """Decide as is cheapest for all rows, where no rule is kept."""
        warnings.warn(
            f"{type(self).__name__} fitted no rule ({stop}); it predicts the cheapest constant "
            "decision. Check the costs, give the weak learner more room (max_leaves, estimator), "
            "or use another algorithm.",
            CollapseWarning,
            stacklevel=5,
        )
        if not self._is_binary:
            return
        # The vote that AdaBoostC would give to the constant rule.
        at_stake = problem.sample_weight * problem.c
        positive = float(at_stake[problem.y > 0].sum())
        vote = half_log_ratio(positive, float(at_stake.sum()) - positive)
        rule, size = ConstantRule(1.0 if vote >= 0 else -1.0), min(abs(vote), PERFECT_VOTE)
        scheme = self._scheme(problem)
        losses = None
        if scheme.loss is not None:
            scheme.move(np.full(len(problem.y), rule.value), size)
            losses = [scheme.loss]
        self._keep(Ensemble([rule], np.array([size])), losses)

    def _keep(self, ensemble: Ensemble, losses: Sequence[float] | None = None) -> None:
        """Set the fitted attributes; ``losses`` has a number per rule."""
        self._ensemble: Ensemble = ensemble
        self.estimators_: list[Any] = ensemble.rules
        self.estimator_weights_ = ensemble.votes
        self.n_iter_ = len(ensemble.round_ends)
        if losses is not None:
            self.train_loss_ = np.array(losses, dtype=np.float64)[ensemble.round_ends]

    # -- scores ---------------------------------------------------------------------------------

    def _checked(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        rows: AnyArray = self._read(X)
        return rows

    def _score(self, X: Any) -> Floats:
        """Return the scores of the ensemble, (n, d), or (n,) of two classes."""
        rows = self._checked(X)
        if self.n_iter_:
            return self._ensemble.decision_function(rows)
        return np.tile(one_hot(int(self._by_cost[0]), len(self._by_cost)), (rows.shape[0], 1))

    def _settled(self, scores: Floats) -> Floats:
        """Scores without ties: of equal largest ones, that of the cheapest decision is raised."""
        # By the last digit only. Whoever takes the largest score then decides as `predict` does.
        ordered = scores[:, self._by_cost]
        largest = ordered.max(axis=1)
        slack = TIE * np.abs(ordered).max(axis=1)
        best = ordered >= (largest - slack)[:, None]
        tied = np.flatnonzero(best.sum(axis=1) > 1)
        settled = scores.copy()
        settled[tied, self._by_cost[best[tied].argmax(axis=1)]] = np.nextafter(
            largest[tied], np.inf
        )
        return settled

    def _decide_by_score(self, scores: Floats) -> Ints:
        """Return the decisions by the scores alone."""
        if scores.ndim == 1:
            return (scores >= 0).astype(np.intp)
        return np.asarray(self._settled(scores).argmax(axis=1))

    def _shown(self, scores: Floats) -> Floats:
        """Scores as `decision_function` returns them: of two columns the difference."""
        if scores.ndim == 1:
            return scores
        scores = self._settled(scores)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _probabilities(self, scores: Floats) -> Floats:
        """Class probabilities from scores, (n, k): by default their shares."""
        return shares(scores)

    def _link_costs(self) -> tuple[float, float]:
        """The costs that the fitted score of two classes has inside."""
        return (1.0, 1.0) if self._costs_by_init and self._init != "cost" else self._cost_pair

    def _proba_of(self, scores: Floats) -> Floats:
        if scores.ndim == 1:
            positive = self._link.probability(scores, self._link_costs())
            return np.column_stack([1.0 - positive, positive])
        proba = self._probabilities(scores)
        # Links keep the order of the scores, so only ties can differ from `predict`.
        winner, row = self._decide_by_score(scores), np.arange(len(proba))
        tied = proba.argmax(axis=1) != winner
        proba[row[tied], winner[tied]] = (1.0 + TIE) * proba[tied].max(axis=1)
        return proba

    def _lack_of_probabilities(self) -> str:
        if same_labels(self.decisions_, self.classes_):
            return ""
        return (
            f"has no class probabilities: it was fitted with the decisions "
            f"{self.decisions_.tolist()}, which are not the classes"
        )

    def decision_function(self, X: Any) -> Floats:
        """The scores of the decisions.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, d), or (n,) for two decisions
            A column per decision. For two decisions, a score towards the second one, which is
            decided above 0 (algorithms for two classes: the sum of the votes, at 0 or above).
        """
        return self._shown(self._score(X))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The scores after each round.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n, d), or (n,) for two decisions
            Scores after one round more.
        """
        for scores in self._ensemble.staged(self._checked(X)):
            yield self._shown(scores)

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """The decisions after each round.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,)
            Labels of ``decisions_`` after one round more.
        """
        for scores in self._ensemble.staged(self._checked(X)):
            yield self.decisions_[self._decide_by_score(scores)]

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities; the class docstring says what theory they rest on.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        lack = self._lack_of_probabilities()
        if lack:
            raise ValueError(
                f"{type(self).__name__} {lack}. Use decision_function, or MinCostClassifier."
            )
        return self._proba_of(self._score(X))

    @property
    def feature_importances_(self) -> Floats:
        """How much each feature is used, (n_features_in_,), summing to 1.

        For every rule the share of each feature in the gain of its splits (for a rule on one
        feature, 1), averaged with the votes as weights. Zeros if no rule uses a feature.
        """
        check_is_fitted(self)
        try:
            columns = self.columns_
            return columns.sum_by_column(self._ensemble.importances(columns.n_inputs))
        except AttributeError as error:
            raise AttributeError(
                f"feature_importances_ exists only if the weak rules of {type(self).__name__} know "
                f"how much they use each feature, as trees do; {self._learner()} does not."
            ) from error

    @property
    def booster_(self) -> Any:
        """The finished ensemble as a LightGBM model, of two classes with the learner ``"tree"``."""
        check_is_fitted(self)
        trees = getattr(self._ensemble, "trees", None)
        if trees is None:
            raise AttributeError(
                f"booster_ exists only if the weak learner of {type(self).__name__} is a tree."
            )
        return trees.to_lightgbm(self.columns_.n_inputs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._is_binary
        return tags


def _held_out(codes: Ints, used: Bools, fraction: float, rng: RandomState, owner: str) -> Ints:
    """Rows to choose the round by: a share of each class, drawn at random."""
    held = np.concatenate([
        rng.permutation(rows)[: int(fraction * len(rows))]
        for rows in (np.flatnonzero(used & (codes == code)) for code in np.unique(codes))
    ])  # fmt: skip
    if not len(held):
        raise ValueError(
            f"The 'validation_fraction' parameter of {owner}, {fraction:g}, holds out none of "
            f"{np.count_nonzero(used)} rows. Make it larger, pass eval_set, or set "
            "early_stopping=False."
        )
    return np.sort(held)


def _fit_sample(model: Any, X: AnyArray, problem: MulticlassProblem, draw: Any, seed: int) -> Any:
    rows, decisions = draw(problem, RandomState(seed))
    return fitted_clone(model, seed, X[rows], decisions)


def shares(scores: Floats) -> Floats:
    """Non-negative scores as shares of their row's sum; uniform where all are zero."""
    # Shares that differ by rounding only are made equal: their logarithms would be. A sum of votes
    # that cancel may be negative by rounding.
    scores = np.maximum(scores, 0.0)
    total = scores.sum(axis=1, keepdims=True)
    uniform = np.full_like(scores, 1.0 / scores.shape[1])
    return np.asarray(np.round(np.divide(scores, total, out=uniform, where=total > 0), 15))
