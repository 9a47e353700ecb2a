"""What `make test-fast` leaves out is named in one place, and the table there is true."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import Mock, call

from helpers.slow import EVERY, SAMPLED, SLOW, TRUST, mark

ROOT = Path(__file__).parent


def test_the_tables_name_tests_that_exist() -> None:
    assert all((ROOT / folder).is_dir() for folder in SAMPLED)
    for name in sorted(SLOW | TRUST):
        file, _, function = name.partition("[")[0].partition("::")
        text = (ROOT / file).read_text("utf-8")
        assert re.search(rf"^def {function or 'test_'}", text, flags=re.MULTILINE), name


def slow(*names: str) -> list[bool]:
    items = [Mock(nodeid=f"tests/{name}") for name in names]
    mark(items)
    return [item.add_marker.mock_calls == [call("slow")] for item in items]


def test_what_is_slow() -> None:
    file = min(name for name in SLOW if "::" not in name)
    function = min(name for name in SLOW if "::" in name)
    assert slow(f"{file}::test_any[3]", f"{function}[a]", f"{function}_too") == [True, True, False]
    many = [f"{min(SAMPLED)}/test_x.py::test_y[{i}]" for i in range(30)]
    assert [i for i, out in enumerate(slow(*many)) if not out] == [0, EVERY, 2 * EVERY]
