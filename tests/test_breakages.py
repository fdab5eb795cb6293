"""Tests that each breakage of tests/breakages still fits the code and the tests."""

from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.breakages import __main__ as breakages_main
from tests.breakages.breakage_list import (
    ROOT,
    Breakage,
    all_breakages,
    chosen_breakages,
    files_by_row,
)
from tests.breakages.caught_records import CaughtRecord, read_records
from tests.breakages.held_page import PAGE, renewed_page, without_sums


@pytest.mark.parametrize("breakage", all_breakages(), ids=lambda each: each.name)
def test_a_breakage_changes_text_that_stands_in_its_file_once(breakage: Breakage) -> None:
    source = (ROOT / breakage.file).read_text()

    assert breakage.broken(source) != source


@pytest.mark.slow
def test_each_breakage_has_a_name_of_its_own_and_tests_that_carry_its_row() -> None:
    names = [each.name for each in all_breakages()]

    assert len(names) == len(set(names)) >= 23
    assert [each.name for each in all_breakages() if each.row not in files_by_row()] == []
    missing = [
        path for each in all_breakages() for path in each.tests if not (ROOT / path).exists()
    ]
    assert missing == []


def test_a_breakage_is_chosen_by_its_name_or_its_row_and_an_unknown_one_is_named() -> None:
    (first, *_) = all_breakages()

    assert first in chosen_breakages([first.name])
    assert first in chosen_breakages([first.row])
    with pytest.raises(ValueError, match="there is no breakage 'nonsense'; there are: tdp05"):
        chosen_breakages(["nonsense"])


def test_a_breakage_whose_text_is_gone_says_so() -> None:
    with pytest.raises(ValueError, match=r"stands 0 times in .*, not once"):
        all_breakages()[0].broken("")


def test_the_page_has_what_caught_each_breakage() -> None:
    page = PAGE.read_text()

    renewed = renewed_page(page, all_breakages(), read_records())

    assert without_sums(page) == without_sums(renewed), (
        "the page is older than its records: python -m tests.breakages --record NAME"
    )


def test_what_caught_a_breakage_is_still_a_test_that_carries_its_row() -> None:
    gone = _gone(read_records(), files_by_row())

    assert gone == [], "try these again: python -m tests.breakages --record NAME"


def test_a_record_whose_row_no_test_carries_any_more_is_named() -> None:
    record = CaughtRecord.model_validate(
        {"caught_by": "a/test_a.py::test_a", "tried": "2026-11-27"}
    )

    assert _gone({"kpi07": record}, {}) == ["kpi07: a/test_a.py::test_a"]


def _gone(records: Mapping[str, CaughtRecord], carried: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The records of breakages that are gone, or whose test is gone or carries another row."""
    rows = {each.name: each.row for each in all_breakages()}
    return [
        f"{name}: {record.caught_by}"
        for name, record in records.items()
        if name not in rows
        or (record.caught_by and not _stands(record, carried.get(rows[name], ())))
    ]


def _stands(record: CaughtRecord, files: tuple[str, ...]) -> bool:
    path, _, name = record.caught_by.partition("::")
    return path in files and f"def {name}(" in (ROOT / path).read_text()


def test_a_row_with_a_fault_that_nothing_noticed_is_not_called_held() -> None:
    first, second = chosen_breakages(["kpi07", "kpi08"])
    tried = {"tried": "2026-11-27"}
    records = {
        first.name: CaughtRecord.model_validate({"caught_by": "a/test_a.py::test_a"} | tried),
        second.name: CaughtRecord.model_validate({"caught_by": ""} | tried),
    }

    page = renewed_page(PAGE.read_text(), [first, second], records)

    assert "2 faults were tried. 1 of" in page
    assert "Not held: KPI-08. Not tried: KPI-01," in page
    assert f"| KPI-07 | `kpi07` | {first.breaks} | `test_a.py`, `test_a` |" in page
    assert f"| KPI-08 | `kpi08` | {second.breaks} | **nothing** |" in page


def _breakage_of(folder: Path) -> Breakage:
    """A breakage of a file that holds only `1`."""
    (folder / "a.py").write_text("1")
    return Breakage(name="a", row="KPI-07", breaks="b", file="a.py", text="1", replacement="2")


def test_a_test_that_reaches_its_limit_of_time_has_caught_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breakage = _breakage_of(tmp_path)
    said = "FAILED a/test_a.py::test_a - Failed: Timeout (>180.0s) from pytest-timeout."

    def run(*_: object) -> CompletedProcess[str]:
        is_broken = (tmp_path / "a.py").read_text() == "2"
        return CompletedProcess([], int(is_broken), said if is_broken else "", "")

    monkeypatch.setattr(breakages_main, "run_tests", run)
    monkeypatch.setattr(breakages_main, "run_test", run)

    with pytest.raises(breakages_main.NotTried, match="reached its limit of time"):
        breakages_main.verdict_on(breakage, tmp_path, set())


def test_a_test_that_fails_on_the_whole_code_has_caught_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breakage = _breakage_of(tmp_path)
    codes = {"1": 0, "2": 1}

    def run(*_: object) -> CompletedProcess[str]:
        code = codes[(tmp_path / "a.py").read_text()]
        return CompletedProcess([], code, "FAILED a/test_a.py::test_a - it failed", "")

    monkeypatch.setattr(breakages_main, "run_tests", run)
    monkeypatch.setattr(breakages_main, "run_test", run)

    passed: set[str] = set()
    assert breakages_main.verdict_on(breakage, tmp_path, passed) == "a/test_a.py::test_a"
    codes["1"] = 1
    assert breakages_main.verdict_on(breakage, tmp_path, passed) == "a/test_a.py::test_a"
    with pytest.raises(breakages_main.NotTried, match="does not pass on the whole code either"):
        breakages_main.verdict_on(breakage, tmp_path, set())
