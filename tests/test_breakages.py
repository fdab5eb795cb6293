"""Tests that each breakage of tests/breakages still fits the code and the tests."""

import pytest

from tests.breakages.breakage_list import (
    ROOT,
    Breakage,
    all_breakages,
    chosen_breakages,
    files_by_row,
)


@pytest.mark.parametrize("breakage", all_breakages(), ids=lambda each: each.name)
def test_a_breakage_changes_text_that_stands_in_its_file_once(breakage: Breakage) -> None:
    source = (ROOT / breakage.file).read_text()

    assert breakage.broken(source) != source


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
