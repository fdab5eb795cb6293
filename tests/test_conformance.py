"""Tests that docs/conformance.md and the tests agree on the ids of promised behaviours."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.breakages.breakage_list import files_by_row
from tests.support.conformance_run import ID, states_by_row

ROOT = Path(__file__).parent.parent
SKIPPED_FOLDERS = {".venv", ".git", "build", "dist", "node_modules"}


@cache
def states_by_id() -> dict[str, str]:
    """The state (tested, planned) of each row of the page."""
    return states_by_row(ROOT / "docs/conformance.md")


def carried_ids() -> frozenset[str]:
    return frozenset(files_by_row())


def text_files() -> Iterator[Path]:
    for suffix in ("py", "md", "toml"):
        for path in ROOT.rglob(f"*.{suffix}"):
            if not SKIPPED_FOLDERS & set(path.relative_to(ROOT).parts):
                yield path


def test_every_row_of_the_page_has_an_id_a_sentence_and_a_state() -> None:
    page = (ROOT / "docs/conformance.md").read_text()
    rows = re.findall(rf"^\| {ID} \|", page, re.MULTILINE)

    assert len(rows) == len(states_by_id()) > 100


def test_every_id_that_a_test_carries_is_on_the_page() -> None:
    assert sorted(carried_ids() - set(states_by_id())) == []


def test_every_row_that_is_not_planned_is_carried_by_a_test() -> None:
    tested = {id_ for id_, state in states_by_id().items() if state == "tested"}

    assert sorted(tested - carried_ids()) == []


def test_a_row_that_a_test_carries_is_not_called_planned() -> None:
    planned = {id_ for id_, state in states_by_id().items() if state == "planned"}

    assert sorted(planned & carried_ids()) == []


@pytest.mark.slow
def test_every_id_that_code_and_docs_mention_is_on_the_page() -> None:
    prefixes = "|".join(sorted({id_.partition("-")[0] for id_ in states_by_id()}))
    mentions = re.compile(rf"\b(?:{prefixes})-\d\d\b")
    unknown = {
        f"{path.relative_to(ROOT)}: {id_}"
        for path in text_files()
        for id_ in mentions.findall(path.read_text())
        if id_ not in states_by_id()
    }

    assert sorted(unknown) == []


@pytest.mark.slow
def test_no_reference_points_to_a_document_outside_the_project() -> None:
    """`seed 002` and `H-59` named files that readers of this repository do not have."""
    outside = re.compile(r"\bseed 00\d|\b[HKTVW]-\d\d\b")
    mentions = {
        f"{path.relative_to(ROOT)}: {mention}"
        for path in text_files()
        if path != Path(__file__)
        for mention in outside.findall(path.read_text())
    }

    assert sorted(mentions) == []
