"""The fast lane: which tests `make test-fast` leaves out, and which only `make trust` runs.

Two rules mark a test as slow:

- its file or its function is in the table `SLOW`;
- it is in a folder where every case fits models (`SAMPLED`), and it is not the first, thirteenth,
  twenty-fifth, ... case of its function.

`pytest --durations=30` shows what a new test takes. One that takes more than two seconds belongs
into the table. Tests of `TRUST` take long and seldom find anything that the others do not:
`make trust` runs them (COSTBOOST_TRUST=1), elsewhere they are skipped with that reason.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable

import pytest

# Files, or functions of files with all of their cases.
SLOW = frozenset(
    {
        "benchmarking/test_held_out_cost.py",
        "cli/test_compare.py::test_compare",
        "cli/test_compare.py::test_demo",
        "cli/test_page.py",
        "cli/test_compare.py::test_a_search_goes_on",
        "serve/test_openapi.py",
        "serve/test_workers.py::test_reload_and_drain_lose_nothing",
        "wrappers/test_target_rate.py::test_classifier_keeps_its_promise_over_many_draws",
        "gbm/test_dask.py",
        "gbm/test_objectives.py::test_derivatives_are_those_of_the_loss",
        "gbm/test_parquet.py",
        "test_comparison.py::test_five_outsiders_on_a_file_in_under_ten_lines",
        "trust/test_parts.py",
        "pages/test_examples.py",
        "pages/test_generated.py::test_tables_are_up_to_date",
        "pages/test_generated.py::test_pages_of_papers_follow_from_the_kept_rows",
        "pages/test_site.py::test_every_page",
        "pages/test_site.py::test_page_of_the_classifier",
        "plots/test_plots.py::test_matplotlib_is_imported_for_drawing_only",
        "reference/test_reference.py::test_cs_adaboost_with_equal_costs_is_adaboost",
    }
)
# Files, functions or single cases that only `make trust` runs.
TRUST = frozenset(
    {
        "serve/test_openapi.py::test_no_request_breaks_the_service[expression-negative]",
        "serve/test_openapi.py::test_no_request_breaks_the_service[expression-positive]",
        "losses/test_losses.py::test_a_loss_of_a_notebook_travels_to_other_processes",
        "trust/test_parts.py::test_growth_is_seen",
        "trust/test_parts.py::test_killed_searches_end_in_the_identical_result",
    }
)
SAMPLED = frozenset({"algorithms", "decisions", "gbm", "laws"})
EVERY = 12


def mark(items: Iterable[pytest.Item]) -> None:
    """Add the marker ``slow`` to the slow ones of the collected tests."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    skipped = pytest.mark.skip(reason="runs in `make trust`")
    for item in items:
        case = item.nodeid.removeprefix("tests/")
        name = case.partition("[")[0]
        file = name.partition("::")[0]
        if not TRUST.isdisjoint((case, name, file)):
            item.add_marker("trust")
            if "COSTBOOST_TRUST" not in os.environ:
                item.add_marker(skipped)
        if file in SLOW or name in SLOW:
            item.add_marker("slow")
        elif file.partition("/")[0] in SAMPLED:
            cases[name].append(item)
    for group in cases.values():
        for number, item in enumerate(group):
            if number % EVERY:
                item.add_marker("slow")
