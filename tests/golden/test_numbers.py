"""Numbers stay, unless the changelog says that they changed."""

from __future__ import annotations

import json

import pytest

from files.models import ESTIMATORS
from golden import numbers as golden

OLD = golden.read()


@pytest.mark.parametrize("which", golden.sets())
@pytest.mark.parametrize("name", ESTIMATORS)
def test_numbers_stay(name, which):
    stored, found = OLD["numbers"][name][which], golden.numbers(name, which)
    if golden.same(stored, found):
        return
    other = {
        k: v for k, v in golden.versions(*golden.PACKAGES).items() if OLD["versions"].get(k) != v
    }
    if other:
        pytest.skip(f"other numbers, but under other versions than those of the table: {other}")
    pytest.fail(
        f"{name} has other numbers on {which}: {found} instead of {stored}. If this is meant, "
        'name the class in the first section of CHANGELOG.md under "### Numbers changed" and run '
        "PYTHONPATH=src:tests python -m golden.numbers"
    )


def test_every_class_is_in_the_table():
    assert sorted(OLD["numbers"]) == ESTIMATORS
    assert {tuple(rows) for rows in OLD["numbers"].values()} == {tuple(golden.sets())}


CHANGELOG = """# Changelog

## [Unreleased]

### Numbers changed

- `AdaC1Classifier`: ties.

### Fixed

- `AdaC2Classifier`: a message.
- **Numbers**: `AdaC3Classifier` and
  `CSB2Classifier` round.
- Other: `CSB1Classifier`.

## [0.1.0]

### Numbers changed

- `CSB0Classifier`: ties.
"""


def test_the_command_refuses_changes_that_the_changelog_does_not_name(
    tmp_path, monkeypatch, capsys
):
    """Only the first section, and its lines about numbers, count."""
    assert golden.named(CHANGELOG) == {"AdaC1Classifier", "AdaC3Classifier", "CSB2Classifier"}
    assert golden.named(CHANGELOG.replace("ties", "all classes")) == set(ESTIMATORS)
    changed = json.loads(golden.TABLE.read_text())
    for name in ("AdaC1Classifier", "AdaC2Classifier"):
        changed["numbers"][name]["wine"]["cost"] += 1
    for name, text in (("TABLE", json.dumps(changed)), ("CHANGELOG", CHANGELOG)):
        monkeypatch.setattr(golden, name, tmp_path / name)
        getattr(golden, name).write_text(text)
    monkeypatch.setattr(golden, "numbers", lambda name, which: OLD["numbers"][name][which])
    with pytest.raises(SystemExit):
        golden.main()
    assert capsys.readouterr().out.strip().endswith(": AdaC2Classifier")
    assert golden.read() == changed
    golden.CHANGELOG.write_text(CHANGELOG.replace("- Other", "- **Numbers**: `AdaC2Classifier`"))
    golden.main()
    assert golden.read()["numbers"] == OLD["numbers"]
