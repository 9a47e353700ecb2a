"""Every paper has items, and every item a plan."""

from __future__ import annotations

from dataclasses import replace

from costboost_papers import registry


def test_every_paper_has_items_with_plans():
    names = {paper.name: [item.name for item in paper.items()] for paper in registry.PAPERS}
    assert names == {
        "lozano2008": ["figure1", "table1", "table2"],
        "cai2008": ["table3"],
        "masnadi2007": ["figure2", "figure3", "table2", "figure4"],
        "beijbom2014": ["table2", "taxonomy"],
        "cao2013": [
            "figure1", "figure2", "table1", "table2", "table3", "table4", "table5", "figure3",
        ],
    }  # fmt: skip
    for item in registry.items():
        assert item.title and item.notes and item.minutes >= 0
        source = registry.owner(item)
        assert source.shares_rows_with is None
        quick, full = source.tasks("quick"), source.tasks("full")
        assert 0 < len(quick) <= len(full)
        for tasks in (quick, full):
            assert len(set(tasks)) == len(tasks)
            assert {(task.paper, task.item) for task in tasks} == {(source.paper, source.name)}
        printed = item.printed()
        assert list(printed.columns) == ["dataset", "algorithm", "setting", "metric", "value"]
        assert printed["value"].notna().all()


def test_earlier_names_still_work():
    assert registry.paper("cai") is registry.paper("cai2008")
    assert registry.find("cai", "table3").paper == "cai2008"


def test_a_renamed_paper_keeps_its_seeds():
    task = registry.find("cai2008", "table3").tasks("full")[0]
    assert task.seed == replace(task, paper="cai").seed
    assert task.key.startswith("cai2008/")
    assert replace(task, paper="cao2013").seed != task.seed


def test_every_paper_has_printed_numbers():
    for paper in registry.PAPERS:
        assert any(len(item.printed()) for item in paper.items()), paper.name
