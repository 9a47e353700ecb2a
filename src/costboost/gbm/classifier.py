"""`CostBoostClassifier`, the classifier to point at a table with costs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import (
    Constraint,
    check_parameters,
    check_weights,
    fingerprint,
    is_real,
    now,
    unfitted,
)
from costboost.boosting.rounds import Callback, check_callbacks
from costboost.columns.table import has_columns, is_sparse
from costboost.costs import Costs, RealizedCosts, read_realized_costs
from costboost.costs.costs import to_proba
from costboost.costs.given import check_training_costs
from costboost.costs.labels import check_same_index, codes_of
from costboost.decisions import Decisions, Explanation, explain
from costboost.errors import CostWarning
from costboost.estimator import CostSensitiveClassifier
from costboost.gbm.calibration import Calibrator, mixed, shrinkage_target
from costboost.gbm.cost_model import fit_cost_model, plan_cost_model
from costboost.gbm.data import (
    Fold,
    TrainingData,
    TrainingTable,
    draw_seed,
    make_folds,
)
from costboost.gbm.estimates import (
    WIDEN_FOLDS,
    WIDEN_SINGLE,
    Estimates,
    make_estimates,
    of_future_rows,
)
from costboost.gbm.leakage import KnownRows, compare_rows, find_leaks, sketch_rows
from costboost.gbm.members import Members
from costboost.gbm.models import CostModel, DecisionModel, ProbabilityModel
from costboost.gbm.objectives import CostLoss, LogLoss, make_objective
from costboost.gbm.parameters import RULES, resolved, with_hints
from costboost.gbm.settings import TrainingSettings
from costboost.gbm.train import HeldOut, train
from costboost.losses import LOSSES, named_loss
from costboost.metrics import Verdict
from costboost.metrics.money_interval import Interval

__all__ = ["CostBoostClassifier"]


@with_hints
@dataclass(eq=False, repr=False)
class CostBoostClassifier(CostSensitiveClassifier):
    """Gradient boosting that takes the decisions of least expected cost.

    How it works, in short:

    1. A few kinds of models learn the probabilities of the classes by log loss: trees of 31
       leaves, trees with random splits and a small neural network (``effort`` and the size of the
       table say which). From 10,000 rows on they race on a sample first, and kinds that add nothing
       there are given up. The others are trained on five folds (one from 50,000 rows on), and stop
       when the log loss of the held-out rows no longer falls.
       (Log loss is the cost averaged over all cost ratios. Stopping by the cost itself gave no
       measurable saving, and would tie the model to one matrix:
       `benchmarks/classifier_choices.py`.)
    2. All held-out rows together choose one number of rounds for the models of all folds, and say
       how much each kind counts; those that do not matter are dropped. From 2,000 rows on, one
       booster of each kind that is left is trained on all rows.
    3. Scores are averaged, and one number, the temperature, calibrates them on the held-out rows.
       Where these are few and cannot tell whether the decisions pay, scores are drawn towards
       the shares of the classes (`shrinkage_`).
    4. A row's decision is the one of smallest expected cost by these probabilities and the costs
       of that very row: those passed to ``predict``, or ``cost_matrix``.
    5. If rows had costs of their own in ``fit`` and ``predict`` is not told them, it expects them:
       small boosters learn from the columns each entry (truth, decision) of the cost matrix that
       varies over the rows. `predict_cost` multiplies what they expect with the probabilities, so
       everything that asks for expected costs gets the same numbers. Held-out rows calibrate them:
       what was expected of the rows of a class is what they paid.
    6. `estimated_score_` and `estimated_savings_` say what to expect, with intervals, from the
       decisions on held-out rows. The rows of a fold have no say in the rounds, weights,
       temperature and shrinkage by which they are judged: those of the other folds choose.

    Parameters
    ----------
    cost_matrix : array, frame, mapping or None, default=None
        What each decision costs: a (k, k) array, rows = truth, columns = decision, in the order of
        ``classes_``; a labelled frame; ``{(truth, decision): cost}``; for two classes
        ``{"fn": 5, "fp": 1, "positive": "fraud"}``; None if every
        mistake costs 1. The decisions of frames and pairs need not be classes. Entries are
        numbers, or expressions over columns such as ``"amount + 15"``.
    effort : {"fast", "balanced", "high"}, default="balanced"
        How much to try. ``"balanced"``: trees of two sizes, the smaller ones with random splits,
        and a small neural network; the weights come from held-out rows. ``"fast"`` is one kind of
        trees, about a tenth to a third of the time: one booster that holds out a fifth of the
        rows, or below 2,000 rows the mean of five. ``"high"`` also tries trees
        of other sizes and, for up to three classes and if CatBoost is installed, symmetric trees:
        2 to 5 times the time, most on small tables.
    loss : str or Loss, default="auto"
        ``"auto"`` is what is described above. Any loss of `costboost.gbm.LOSSES`, by name or
        object, trains boosters with the costs inside, whose scores decide.
    costs_known : bool or "auto", default="auto"
        Whether ``predict`` will be told the costs of single rows that ``fit`` is given. True trains
        no boosters of costs; if they are not told all the same, the mean costs decide. "auto" and
        False train them; False makes the estimates about decisions without costs. Expressions over
        columns are always known.
    cost_columns : {"features", "exclude"}, default="features"
        Whether columns that expressions in ``cost_matrix`` name are features too. Exclude an amount
        that must not influence the probability; it must be there when deciding. If an amount is
        known only after the decision, pass ``costs`` to ``fit`` and leave the column out of X.
    columns : mapping of name to kind or None, default=None
        What columns of a table are, where it is not what they look like: ``"number"``,
        ``"boolean"``, ``"category"``, ``"date"`` (or how dates are written: ``"%d/%m/%Y"``),
        ``"ignore"``. `columns_` says what became of each.
    n_estimators : int, default=1000
        Number of boosting rounds of a booster, at most. That of all rows (``refit``) takes 1.1
        times the mean rounds of the folds.
    learning_rate : float or "auto", default="auto"
        Shrinkage of each tree. "auto" is 0.05, and 0.1 with three classes or more, where a round
        is a tree per class.
    max_leaves : int or "auto", default="auto"
        Leaves of a tree. "auto" lets ``effort`` choose (15 if it is "fast"); with a number, all
        trees have that size.
    min_samples_leaf : int or "auto", default="auto"
        Rows of a leaf, at least; "auto" is 5.
    reg_lambda : float, default=5.0
        Penalty of squared leaf values.
    subsample, colsample : float, default=0.8
        Shares of rows and of columns that a tree sees.
    early_stopping : bool, default=True
        Whether boosters stop when their held-out loss no longer falls.
    n_iter_no_change : int, default=50
        Rounds without a smaller loss before they stop.
    cv : "auto", int, splitter or iterable of (rows, held-out rows), default="auto"
        Folds: a number of shuffled ones, or your own, e.g. by time or group. "auto" is 5; from
        50,000 rows on, and if ``effort="fast"``, it is one part that is held out,
        ``validation_fraction`` of the rows.
    refit : bool or "auto", default="auto"
        Whether one booster of all rows, with 1.1 times the mean rounds of the folds, replaces
        those of the folds: decisions are five times faster. "auto" is yes from 2,000 rows on,
        unless you set ``cv``.
    validation_fraction : float, default=0.2
        Share of rows held out if there are no folds: one in ``round(1 / validation_fraction)`` of
        every class, but at most about a million rows.
    calibration : {"temperature", None}, default="temperature"
        How scores are calibrated on held-out rows.
    engine_params : dict, optional
        Parameters of LightGBM, by any of its names for them, such as ``{"max_depth": 6}``; they win
        over the ones above.
    time_limit : float, optional
        Seconds that a fit may take, roughly. Kinds of models for which no time is left are not
        trained. If the time does not suffice for the first one, its boosters end early, and a
        `costboost.TimeLimitWarning` says so.
    random_state : int, RandomState or None, default=None
        Seed of folds and samples.
    n_jobs : int or None, default=None
        Threads; None and -1 use all cores (None no more than ``OMP_NUM_THREADS``). Folds are
        trained at the same time, each with its share of the threads, and one after the other if
        the table is large, with ``time_limit``, ``callbacks`` or ``verbose``.
        A booster that is trained alone on fewer than 10,000 rows gets one thread if it is None.
    verbose : int, default=0
        1 prints the costs in words and a line for every booster, 2 also a line for every round.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The classes.
    n_classes_ : int
        Their number.
    columns_ : costboost.columns.Columns
        What each column holds and what became of it; ``print`` shows a table.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if X was a frame with text for column names.
    decisions_ : array of shape (d,)
        The decisions, which ``predict`` returns; the classes unless the costs name others.
    costs_ : CostSummary
        The costs of the fit; ``print`` says them in words, and what ``predict`` does if it is not
        told those of rows.
    cost_spec_ : CostSpec
        The ``cost_matrix`` of the fit, parsed; the caller's may change afterwards.
    cost_matrix_ : array of shape (k, d)
        The costs, averaged over the rows where they differ.
    estimated_score_ : Interval
        ``(value, low, high)``: the share of the avoidable cost that the decisions on held-out rows
        avoid, with a 95 % interval; ``score`` measures it on new rows. The row's costs are taken
        to be known at decision time if ``fit`` knew whole matrices, unless ``costs_known=False``.
        The interval is that of `costboost.metrics.verdict`, somewhat wider because the models that
        decide are not those that decided the held-out rows. Absent if no row was held out.
    estimated_savings_ : Interval
        The savings of the same decisions in plain money, ``1 - cost / cost of the best constant
        decision``. The interval is about the long run; `estimated_savings` has one for the next
        rows. Equal to ``estimated_score_`` where right decisions cost nothing. Absent if no row
        was held out, or if the best constant decision costs nothing or earns on those rows.
    estimated_score_without_costs_, estimated_savings_without_costs_ : Interval
        The same if ``predict`` is not told the rows' costs; only with costs of single rows.
    estimated_cost_ : float
        Mean cost of a held-out row.
    temperature_ : float
        Factor that calibrates the scores; below 1 if the boosters were too sure of themselves.
    shrinkage_ : float
        Part of the way to the shares of the classes that the scores were drawn: 0.3 in a table of
        fewer than 1,000 rows with costs, if the held-out rows could not tell whether the
        decisions pay (the interval of ``estimated_score_`` reached below zero); else 0. Absent
        without held-out rows or calibration.
    trained_at_ : str
        When the training ended, UTC.
    data_fingerprint_ : str
        A hash of all training rows; absent for Parquet files and on Dask.
    doubts_ : list of str
        Why estimates may be too good: a column that alone tells the class, copies of rows in
        several folds. Verdicts of reports repeat them. Usually empty; absent for Parquet files and
        on Dask.
    row_hashes_ : array of shape (m,)
        Hashes of 64 bits of at most 32,768 training rows with their classes, by which reports
        notice rows that were trained on (`known_rows`). ``save(path, row_hashes=False)`` leaves
        them out. Absent for Parquet files and on Dask.
    repeated_share_ : float
        Share of the training rows that have a copy among them, in all columns and the class.
    model_ : ProbabilityModel or DecisionModel
        The ensemble that turns columns into probabilities, or with another loss into scores that
        decide. ``model_.ensemble`` has the ``models`` and their ``weights``.
    cost_model_ : CostModel or None
        The models that expect the costs of rows from their columns; None if there are none.
    estimates_ : Estimates or None
        What the attributes ``estimated_...`` say, together; None if no row was held out.
    members_ : Members
        The kinds of models that were tried: weight, held-out loss, rounds and
        seconds of each. ``print`` shows a table.
    boosters_ : list of lightgbm.Booster or NetworkModel
        The models of the ensemble, as LightGBM boosters whichever library grew the trees.
    booster_ : lightgbm.Booster
        The only one, or all of them merged into one; absent if there are networks beside them.
    feature_importances_ : array of shape (d,)
        Share of each feature in the gain of all splits.
    n_iter_ : int
        Rounds of the longest booster.
    evals_result_ : dict of str to list of dict
        Loss by round: ``evals_result_["probability"][0]["held_out"]["loss"]`` is an array with a
        value for every round that the first booster was trained, also those after the best one.
        The rows are ``"held_out"``, or ``"eval_set"`` if there was one.

    See Also
    --------
    MinCostClassifier : The same decision on the probabilities of any classifier.
    costboost.dask.DaskCostBoostClassifier : On many machines.

    Notes
    -----
    How often the intervals cover is measured on tables whose population is known
    (`benchmarks/verdicts.py`) and on halves of real tables (`benchmarks/verdict_halves.py`).
    Only the ratios of ``sample_weight`` matter, and only those of costs.

    A fit that fails or is interrupted leaves the classifier as it was.

    Examples
    --------
    >>> from costboost import CostBoostClassifier
    >>> from costboost.costs import per_row
    >>> from costboost.datasets import make_fraud
    >>> train, test = make_fraud(2000, random_state=0), make_fraud(2000, random_state=1)
    >>> model = CostBoostClassifier(n_estimators=50, cv=2, random_state=0)
    >>> model = model.fit(train.X, train.y, costs=per_row(fn=train.amount, fp=5))
    >>> model.score(test.X, test.y, costs=per_row(fn=test.amount, fp=5)) > 0.2
    True
    """

    _rules: ClassVar[Mapping[str, Constraint]] = RULES
    cost_matrix: Any = None
    _: KW_ONLY
    effort: Literal["fast", "balanced", "high"] = "balanced"
    loss: Any = "auto"
    costs_known: bool | Literal["auto"] = "auto"
    cost_columns: Literal["features", "exclude"] = "features"
    columns: Mapping[str, str] | None = None
    n_estimators: int = 1000
    learning_rate: float | Literal["auto"] = "auto"
    max_leaves: int | Literal["auto"] = "auto"
    min_samples_leaf: int | Literal["auto"] = "auto"
    reg_lambda: float = 5.0
    subsample: float = 0.8
    colsample: float = 0.8
    early_stopping: bool = True
    n_iter_no_change: int = 50
    cv: Any = "auto"
    refit: bool | Literal["auto"] = "auto"
    validation_fraction: float = 0.2
    calibration: Literal["temperature"] | None = "temperature"
    engine_params: dict[str, Any] | None = None
    time_limit: float | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    # What a fit leaves behind.
    model_: ProbabilityModel | DecisionModel = field(init=False)
    cost_model_: CostModel | None = field(init=False)
    estimates_: Estimates | None = field(init=False)
    members_: Members = field(init=False)
    evals_result_: dict[str, list[dict[str, dict[str, Floats]]]] = field(init=False)
    n_iter_: int = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: AnyArray = field(init=False)
    shrinkage_: float = field(init=False)
    trained_at_: str = field(init=False)
    data_fingerprint_: str = field(init=False)

    # -- fit ------------------------------------------------------------------------------------

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "members_" in state:
            # skops makes a plain tuple of the table.
            self.members_ = Members(state["members_"])

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
        groups: ArrayLike | None = None,
        eval_set: tuple[Any, ...] | None = None,
        callbacks: Iterable[Callback] | Callback | None = None,
    ) -> Self:
        """Fit the boosters.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows. Missing values and categorical columns are passed to LightGBM. Entries that a
            sparse matrix leaves out are zeros, not missing values.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        costs : array of shape (n, k, d), (n, d) or (n,), frame or mapping, optional
            Costs of the rows, in place of ``cost_matrix``: the row's own matrix, the price of each
            decision, or the price of an error on that row. If ``cost_matrix`` names decisions that
            are not the classes, the columns of an array are these.
        groups : array of shape (n,), optional
            Rows of one group, such as those of a customer, are in one fold, so that held-out rows
            are of groups that the boosters have not seen; a splitter ``cv`` gets them too.
        eval_set : (X, y) or (X, y, costs), optional
            Rows of another table, such as a later month: they are the held-out rows. All rows of X
            train, in place of folds, and the ``eval_set`` stops the boosters, weighs and calibrates
            them and gives the estimates. It cannot be combined with ``cv`` or ``groups``.
        callbacks : callable or list of them, optional
            Called after each round of each booster with a `costboost.gbm.Round`: the number of the
            round and the loss of the held-out rows. Returning True, or raising
            `costboost.gbm.StopBoosting`, ends that booster; the next one is trained. With
            ``early_stopping`` it keeps its best round so far, else all.
            Any other error ends the fit and leaves the classifier as it was.

        Returns
        -------
        self
            The fitted classifier.

        Warns
        -----
        CostWarning
            If a column of X alone tells the class of every row (the target, or what follows from
            it), or if many held-out rows are copies of rows that their fold trains on: estimates
            would be too good.

        Examples
        --------
        >>> from costboost.datasets import make_fraud
        >>> train, later = make_fraud(1000, random_state=0), make_fraud(1000, random_state=1)
        >>> model = CostBoostClassifier({"fn": 100, "fp": 5}, effort="fast", n_estimators=20)
        >>> model = model.fit(
        ...     train.X, train.y, eval_set=(later.X, later.y), callbacks=lambda r: r.round == 10
        ... )
        >>> len(model.evals_result_["probability"][0]["eval_set"]["loss"])
        10
        """
        check_parameters(self)
        # On a copy: a fit that fails or is interrupted leaves the classifier as it was.
        fitted = unfitted(self)
        table = fitted._read_training_table(
            X, y, sample_weight, costs=costs, groups=groups, eval_set=eval_set
        )
        fitted._fit_table(table, callbacks)
        fitted.data_fingerprint_ = fingerprint(X, y)
        if costs is not None and not table.has_row_costs:
            fitted._costs_source = "matrix"
        self.__dict__ = fitted.__dict__
        return self

    def _read_training_table(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        costs: Any = None,
        groups: Any = None,
        eval_set: Any = None,
    ) -> TrainingTable:
        """Read a table in memory, and share its rows out in folds."""
        owner = type(self).__name__
        rng = check_random_state(self.random_state)
        check_same_index(owner, X=X, y=y, sample_weight=sample_weight, groups=groups)
        inputs, _, y_index = self._read_training(X, y)
        self.cost_spec_ = self._parse_costs(deepcopy(self.cost_matrix))
        columns = self.columns_
        weight = check_weights(sample_weight, len(y_index), owner)
        # Penalties are in units of a row: only the ratios of weights may matter.
        weight = weight / weight[weight > 0].mean()
        row_costs = self._price(costs, X, y_index)
        spec = self.cost_spec_ if costs is None else None
        check_training_costs(row_costs, spec, self._typed(X, spec), owner)
        if groups is not None:
            groups = column_or_1d(groups)
            check_consistent_length(weight, groups)
        data = TrainingData(inputs, row_costs, weight, columns.categorical, groups).with_weight()
        del inputs  # lets go of rows without weight

        if eval_set is None:
            folds = make_folds(data, self, rng, has_weight=weight > 0)
        else:
            has_costs = costs is not None
            other = self._read_eval_set(eval_set, self._price, row_costs, has_costs=has_costs)
            if groups is not None or not isinstance(self.cv, str):
                raise ValueError(
                    f"eval_set holds the held-out rows of {owner}, so there are no folds. Pass "
                    "either eval_set, or groups or cv."
                )
            other_data = TrainingData(*other, np.ones(other[0].shape[0]), columns.categorical)
            folds = [Fold(draw_seed(rng), data, eval_set=other_data)]

        names = None
        if columns.columns:
            names = columns.inputs
        splits = [(fold.train_rows, fold.held_out_rows) for fold in folds]
        y_index = data.costs.y_index
        findings = find_leaks(data.X, y_index, splits, categorical=columns.categorical, names=names)
        for finding in findings:
            warnings.warn(finding.warning, CostWarning, stacklevel=3)
        self.doubts_ = [finding.doubt for finding in findings]
        self.row_hashes_, self.repeated_share_ = sketch_rows(data.X, y_index)
        n_network_inputs = None
        if folds[0].held_out_name == "eval_set" or folds[0].held_out_rows is not None:
            n_network_inputs = data.n_network_inputs
        return TrainingTable(
            owner=owner,
            columns=columns,
            totals=data.totals,
            folds=folds,
            has_row_costs=costs is not None and row_costs.is_per_row,
            n_network_inputs=n_network_inputs,
        )

    def _fit_table(
        self, table: TrainingTable, callbacks: Iterable[Callback] | Callback | None = None
    ) -> None:
        """Train on rows that were read, wherever they are, and keep what is learned."""
        objective = make_objective(self.loss, table.totals, table.owner)
        engine_params = resolved(self.engine_params, table.columns, table.owner, table.engine)
        settings = TrainingSettings.from_estimator(self, table, objective, engine_params)
        plan = plan_cost_model(
            table, settings, is_wanted=objective.is_log_loss, costs_known=self.costs_known
        )
        summary = replace(table.totals.summary, without=plan.without_costs)
        if self.verbose:
            print(summary)

        result = train(
            table,
            objective,
            settings.leaving_time_for(plan.entries),
            check_callbacks(callbacks, table.owner),
        )
        model = objective.make_model(result.ensemble)  # scores to probabilities, or to decisions
        cost_model = None
        mean_costs = table.totals.effective_mean
        # What `predict` goes by on the held-out rows where it is not given their costs.
        expected_costs = Costs(mean_costs, summary.classes, summary.decisions)
        if plan.entries:
            cost_model, matrices = fit_cost_model(plan, table, settings)
            expected_costs = Costs(matrices, summary.classes, summary.decisions)

        self.decisions_ = summary.decisions
        self.costs_ = summary
        self.cost_matrix_ = mean_costs
        self.model_ = model
        self.cost_model_ = cost_model
        self.members_ = result.members
        self.n_iter_ = result.ensemble.n_rounds
        self.evals_result_ = {objective.name: result.history}
        self.estimates_ = None
        self.n_features_in_ = table.columns.n_features
        names = [column.name for column in table.columns.columns]
        if names and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        self.trained_at_ = now()
        self._costs_source = "cost_matrix"
        if table.has_row_costs:
            self._costs_source = "rows"
        if result.held_out is not None:
            self._calibrate(result.held_out, table, objective, expected_costs)

    def _calibrate(
        self,
        held_out: HeldOut,
        table: TrainingTable,
        objective: LogLoss | CostLoss,
        expected_costs: Costs,
    ) -> None:
        """Calibrate the model on held-out rows, and estimate what its decisions cost."""
        data = held_out.data
        # What `predict` goes by when it is given all that `fit` knew.
        costs = expected_costs
        if data.costs.matrix is not None and self.costs_known is not False:
            costs = data.costs.unrealized
        model = self.model_
        scores = mixed(held_out.scores, held_out.weights)
        if self.calibration is not None and isinstance(model, ProbabilityModel):
            calibrator = Calibrator(
                scores=held_out.scores,
                held_out=data,
                costs=costs,
                objective=objective,
                model=model,
                weights=held_out.weights,
                class_scores=shrinkage_target(table.totals, objective.n_scores),
            )
            calibration = calibrator.of_all_rows()
            scores = calibrator.cross_fitted(held_out.parts)
            self.model_ = calibration.calibrated(model)
            self.shrinkage_ = calibration.shrinkage

        decided = model.decide(scores, costs)
        decided_without_costs = None
        if table.has_row_costs and objective.is_log_loss:
            decided_without_costs = model.decide(scores, expected_costs)
        widen = WIDEN_SINGLE
        if held_out.n_folds > 1:
            widen = WIDEN_FOLDS
        self.estimates_ = make_estimates(
            decided, data, decided_without_costs=decided_without_costs, widen=widen
        )
        self._warn_if_useless(decided, data)

    def _warn_if_useless(self, decided: Ints, data: TrainingData) -> None:
        """Warn if decisions on held-out rows lose money, or are all the same."""
        if self.estimated_score_.value < 0:
            verdict = Verdict.of(data.costs, decided, data.sample_weight, groups=data.groups)
            # A gain of exactly 0 is a constant decision, which has a warning of its own, or no
            # cost.
            if verdict.answer == "does not pay" and verdict.gain < 0:
                warnings.warn(
                    f"Held-out rows of {type(self).__name__}: {verdict} Look for columns that say "
                    f"more about the class, or decide {verdict.constant!r} for every row.",
                    CostWarning,
                    stacklevel=5,
                )
        self._warn_if_collapsed(decided, "give the boosters more rows or rounds", stacklevel=6)

    def _price(self, costs: Any, X: Any, codes: Ints, owner: str = "") -> RealizedCosts:
        """Costs of training rows; refused if the loss does."""
        owner = owner or type(self).__name__
        shape: tuple[int, ...] = getattr(costs, "shape", ())
        names: AnyArray | None = None
        if self.cost_matrix is not None and len(shape) > 1 and not hasattr(costs, "columns"):
            # Columns without names are the decisions that `cost_matrix` names.
            known = self.cost_spec_.decisions
            names = known if shape[-1] == len(known) else None
        found = read_realized_costs(
            self.cost_spec_,
            costs,
            classes=self.classes_,
            decisions=names,
            X=self._typed(X, self.cost_spec_ if costs is None else costs),
            index=check_same_index(owner, X=X),
            y_index=codes,
            owner=owner,
            as_classes=self.loss != "auto",
        )
        if self.loss != "auto" and found.matrix is not None and found.regret.any():
            named_loss(self.loss, owner).check_costs(found.matrix, owner)
        return found

    def fit_parquet(
        self,
        paths: Any,
        target: str,
        *,
        costs: Any = None,
        sample_weight: str | None = None,
        features: Sequence[str] | None = None,
        batch_rows: int | None = None,
        callbacks: Iterable[Callback] | Callback | None = None,
    ) -> Self:
        """Fit on Parquet files that are larger than memory, by XGBoost's external memory.

        One booster is trained, whatever ``effort``; ``engine_params`` are XGBoost's here. Features
        are quantised into the folder for temporary files (``TMPDIR``), 2.5 bytes each (5.5 if some
        are missing); memory holds a few batches and, for each row, labels, scores and gradients. To
        stop early, ``validation_fraction`` of the rows are held out, but at most a million.

        Parameters
        ----------
        paths : str, path, or sequence of them
            A pattern such as ``"folder/*.parquet"``, a folder, a file, or several of them.
        target : str
            Column of the true classes.
        costs : str, mapping or callable, optional
            Costs of the rows, in place of ``cost_matrix``: a column with the price of an error; a
            mapping with numbers or names of columns as entries, ``{"fn": "amount", "fp": 5}`` for
            two classes or ``{(truth, decision): ...}``; a callable of a pandas frame with all
            columns of a batch, which returns what ``fit`` takes as ``costs``.
        sample_weight : str, optional
            Column of weights.
        features : sequence of str, optional
            Columns of features: numbers, booleans, text or dictionaries. By default all but the
            target and the weight. A column that ``costs`` names is a feature too (an amount is
            known when deciding); if it is known only afterwards, list the features without it.
        batch_rows : int, optional
            Rows to read at once. By default so many that their features take 16 MB.
        callbacks : callable or list of them, optional
            Called after each round, as in `fit`.

        Returns
        -------
        self
            The fitted classifier.

        Examples
        --------
        >>> import os, tempfile
        >>> import pandas as pd
        >>> from costboost.datasets import make_fraud
        >>> data = make_fraud(2000, random_state=0)
        >>> frame = pd.DataFrame(data.X).add_prefix("x").assign(amount=data.amount, fraud=data.y)
        >>> model = CostBoostClassifier(random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     frame.to_parquet(os.path.join(folder, "january.parquet"))
        ...     model = model.fit_parquet(folder, "fraud", costs={"fn": "amount", "fp": 5})
        >>> model.estimated_savings_.value > 0.2
        True
        """
        from costboost.gbm.parquet import read_parquet_table

        check_parameters(self)
        fitted = unfitted(self)
        table = read_parquet_table(
            fitted,
            paths,
            target,
            costs=costs,
            sample_weight=sample_weight,
            features=features,
            batch_rows=batch_rows,
        )
        fitted._fit_table(table, callbacks)
        self.__dict__ = fitted.__dict__
        return self

    # -- estimates ------------------------------------------------------------------------------

    @property
    def estimated_score_(self) -> Interval:
        """Share of the avoidable cost that the decisions on held-out rows avoid."""
        return self._estimate("score")

    @property
    def estimated_savings_(self) -> Interval:
        """Savings of the decisions on held-out rows, in plain money."""
        return self._estimate("savings")

    @property
    def estimated_score_without_costs_(self) -> Interval:
        """The estimated score if `predict` is not given the costs of rows."""
        return self._estimate("score_without_costs")

    @property
    def estimated_savings_without_costs_(self) -> Interval:
        """The estimated savings if `predict` is not given the costs of rows."""
        return self._estimate("savings_without_costs")

    @property
    def estimated_cost_(self) -> float:
        """Mean cost of a held-out row."""
        return self._estimate("cost")

    def _estimate(self, name):
        # Without held-out rows, or without costs of rows, an attribute is absent.
        estimate = getattr(self.__dict__.get("estimates_"), name, None)
        if estimate is None:
            raise AttributeError(f"{type(self).__name__} has no estimated {name}.")
        return estimate

    def estimated_savings(
        self, future_rows: float | None = None, *, costs_known: bool = True
    ) -> Interval:
        """Savings to expect of the decisions, in plain money, with a 95 % interval.

        Parameters
        ----------
        future_rows : float, optional
            Number of new rows that the interval is about, such as those of a month: the savings of
            few rows vary more than those of many. By default it is about the long run, and the
            answer is ``estimated_savings_``.
        costs_known : bool, default=True
            Whether ``predict`` is told the costs of the rows; if not, the answer is about
            ``estimated_savings_without_costs_``.

        Returns
        -------
        Interval
            ``(value, low, high)``.

        Examples
        --------
        >>> from costboost.datasets import make_fraud
        >>> data = make_fraud(2000, random_state=0)
        >>> model = CostBoostClassifier({"fn": 100, "fp": 5}, effort="fast", random_state=0)
        >>> model = model.fit(data.X, data.y)
        >>> long_run, next_rows = model.estimated_savings(), model.estimated_savings(100)
        >>> next_rows.low < long_run.low
        True
        """
        check_is_fitted(self)
        if self.estimates_ is None:
            raise ValueError(
                f"{type(self).__name__} has no estimate, because no row was held out. Fit with "
                "early_stopping=True, or pass an eval_set."
            )
        savings = self.estimates_.savings
        if not costs_known and self.estimates_.score_without_costs is not None:
            savings = self.estimates_.savings_without_costs
        if savings is None:
            raise ValueError(
                f"{type(self).__name__} has no estimated savings, because the best constant "
                "decision costs nothing or earns on the held-out rows: there is no cost to take a "
                "share of. Use estimated_score_, the share of the avoidable cost."
            )
        if future_rows is None:
            return savings
        if not is_real(future_rows) or not future_rows > 0:
            raise ValueError(
                f"The 'future_rows' argument of estimated_savings must be a number > 0, got "
                f"{future_rows!r}."
            )
        return of_future_rows(savings, self.estimates_.n_rows, future_rows)

    # -- predict --------------------------------------------------------------------------------

    def _score(self, X: Any) -> Floats:
        scores: Floats = self.model_.scores(self._read(X))
        return scores

    def _proba_of(self, scores: Floats) -> Floats:
        proba: Floats = self.model_.proba(scores)
        return proba

    def _decide_by_score(self, scores: Floats) -> Ints:
        model: Any = self.model_  # a DecisionModel
        chosen: Ints = model.decide(scores)
        return chosen

    def _decides_by_score(self) -> bool:
        return super()._decides_by_score() and not isinstance(self.model_, ProbabilityModel)

    def _costs_of_fit(self, X: Any) -> Costs:
        """Return the mean costs, or those that are expected of the rows by their columns."""
        costs = super()._costs_of_fit(X)
        if self.cost_model_ is None:
            return costs
        return Costs(self.cost_model_.predict(self._read(X)), costs.classes, costs.decisions)

    def with_costs(self, cost_matrix: Any) -> Self:
        """The same fitted model, deciding by other costs, without training again.

        What boosters have learned about the costs of the fit no longer counts.

        Parameters
        ----------
        cost_matrix : array, frame, mapping or None
            The costs, in any form of the constructor.

        Returns
        -------
        classifier
            A copy that shares the trained boosters.
        """
        other = super().with_costs(cost_matrix)
        other.cost_model_ = None
        return other

    # The loss by its name or itself; "auto", which is neither, knows them too.
    @available_if(  # type: ignore[untyped-decorator]
        lambda model: getattr(
            LOSSES.get(str(model.loss), model.loss), "has_probabilities", model.loss == "auto"
        )
    )
    def predict_proba(self, X: Any) -> Floats:
        """Calibrated class probabilities.

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
        return self.model_.proba(self.model_.scores(self._read(X)))

    def decision_function(self, X: Any) -> Floats:
        """Scores that decide when ``predict`` is not told costs.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,) or (n, d)
            Two decisions: what the second is expected to save, positive if it is the cheaper one.
            More decisions: minus the expected cost of each. Boosters of another loss return their
            scores.
        """
        check_is_fitted(self)
        scores = self.model_.scores(self._read(X))
        if isinstance(self.model_, DecisionModel):
            return scores
        return decision_values(scores, self._decision_costs(None, len(scores), X))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The output of `decision_function` after each round.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,) or (n, k)
            Scores; boosters that stopped early keep their last ones.
        """
        check_is_fitted(self)
        rows = self._read(X)
        costs = self._decision_costs(None, rows.shape[0], X)
        for scores in self.model_.staged_scores(rows):
            if isinstance(self.model_, DecisionModel):
                yield scores
            else:
                yield decision_values(scores, costs)

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """The decisions after each round, without costs of single rows.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,)
            Labels of ``decisions_``.
        """
        check_is_fitted(self)
        rows = self._read(X)
        costs = self._decision_costs(None, rows.shape[0], X)
        for scores in self.model_.staged_scores(rows):
            yield self.decisions_[self.model_.decide(scores, costs)]

    # -- inspection -----------------------------------------------------------------------------

    def contributions(self, X: Any) -> Floats:
        """What each feature adds to the score of each row (SHAP values).

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, d + 1) or (n, k, d + 1)
            They sum to the calibrated log-odds of the second class (two classes), or to the scores
            whose softmax is the probability; the last column is the base. With another loss they
            sum to the output of `decision_function`.
        """
        check_is_fitted(self)
        return self._contributions(self._read(X))

    def _contributions(self, rows: AnyArray) -> Floats:
        """SHAP values of the columns: those of their inputs added up, and the base."""
        values = self.model_.contributions(rows)
        by_column = self.columns_.sum_by_column(values[..., :-1])
        return np.concatenate([by_column, values[..., -1:]], axis=-1)

    def explain(
        self, X: Any, *, costs: Any = None, decisions: Decisions | None = None
    ) -> Explanation:
        """Explain decisions in money: what each feature adds to what a decision saves.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array, frame or mapping, optional
            The costs to decide by, as in `predict`.
        decisions : Decisions, optional
            The decisions of `decide` for these rows, such as those within limits; by default the
            cheapest ones.

        Returns
        -------
        Explanation
            Per row the decision, the runner-up, what the decision saves against it, and a part per
            feature: base and parts sum to the saving. `costboost.decisions.explain` states
            the rule; `costboost.plots.ExplanationDisplay` draws it.

        Examples
        --------
        >>> from costboost import CostBoostClassifier
        >>> from costboost.datasets import make_fraud
        >>> data = make_fraud(1000, random_state=0)
        >>> model = CostBoostClassifier({"fn": 100, "fp": 5}, n_estimators=20, random_state=0)
        >>> explained = model.fit(data.X, data.y).explain(data.X[:3])
        >>> bool(abs(explained.base + explained.parts.sum(axis=1) - explained.saving).max() < 1e-9)
        True
        """
        check_is_fitted(self)
        self._check_probabilities("explain")
        if decisions is None:
            decisions = self.decide(X, costs=costs)
        columns = self.columns_
        if is_sparse(X):
            values = X.toarray()
        elif columns.columns and has_columns(X):
            values = columns.read(X, estimator=self).values()
        else:
            values = np.asarray(X)
        return explain(
            decisions,
            self._contributions(self._read(X)),
            names=[str(column.name) for column in columns],
            values=values,
        )

    def known_rows(self, X: Any, y: ArrayLike) -> KnownRows | None:
        """Say how many rows the model was trained on.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their true classes.

        Returns
        -------
        KnownRows or None
            The ``share`` of the rows that are among the training rows, beside the
            ``natural_share`` of training rows that have a copy; ``are_new`` and ``doubt`` say what
            follows. None if the model keeps no hashes of its training rows.
        """
        check_is_fitted(self)
        if getattr(self, "row_hashes_", None) is None:
            return None
        start = f"y of {type(self).__name__}"
        codes = codes_of(np.asarray(y).tolist(), self.classes_, start, "Drop those rows.")
        return compare_rows(self._read(X), codes, self.row_hashes_, self.repeated_share_)

    @property
    def temperature_(self) -> float:
        """Factor that calibrates the scores."""
        check_is_fitted(self)
        return float(self.model_.temperature)

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the gain of all splits."""
        check_is_fitted(self)
        shares = self.model_.ensemble.importances(self.columns_.n_inputs)
        return self.columns_.sum_by_column(shares)

    @property
    def boosters_(self) -> list[Any]:
        """The models of the ensemble as LightGBM boosters; networks are their own."""
        check_is_fitted(self)
        return [model.booster for model in self.model_.ensemble.models]

    @property
    def booster_(self) -> Any:
        """All boosters of the ensemble as one, whose raw score is their mean score.

        One booster is returned as it is; several of one library are merged, which takes a moment.
        The calibrated score is `temperature_` times the raw one.
        """
        check_is_fitted(self)
        return self.model_.ensemble.merged_booster()


def decision_values(scores: Floats, costs: Costs) -> Floats:
    """Return what decisions go by: what the second of two saves, or minus the cost of each."""
    expected = costs.expected(to_proba(scores))
    if expected.shape[1] == 2:
        return expected[:, 0] - expected[:, 1]
    return -expected
