"""Tests that a value counts as computed only if nothing that was read for it has its number."""

from datetime import UTC, datetime

from holdfast.models.evidence.evidence import StoredEvidence
from holdfast.planning.reports.found_values import FoundValue, split_found_values

TEXT = "Selby Bridge was opened in 1932 by Ada Marsh, and cost 900 pounds."


def evidence(task_id: str = "T1", text: str = TEXT) -> StoredEvidence:
    return StoredEvidence(
        id=1,
        task_id=task_id,
        entity="value",
        source_id=1,
        address="https://bridges.example",
        title="Bridges",
        source_text=text,
        source_start=0,
        start=0,
        end=24,
        quote=text[:24],
        sha256="a" * 64,
        fetched_at=datetime(2026, 1, 2, tzinfo=UTC),
    )


def test_a_value_that_the_source_of_its_task_has_was_read() -> None:
    values = [FoundValue("900", "T1"), FoundValue("900", "T2"), FoundValue("1832", "T3")]

    found = split_found_values(values, [evidence()])

    assert (found.read, found.computed) == (["900"], ["1832"])


def test_a_number_that_only_the_source_of_another_task_has_was_computed() -> None:
    found = split_found_values([FoundValue("900", "T2"), FoundValue("900")], [evidence()])

    assert (found.read, found.computed) == ([], ["900"])


def test_passages_of_a_tool_were_read_whatever_they_name() -> None:
    joined = f"{TEXT} Later Jane Doe widened it in 1951."
    long = "Jane Doe widened it in 1951. " * 40

    found = split_found_values([FoundValue(joined, "T2"), FoundValue(long, "T2")], [evidence()])

    assert not found.computed
    nothing_read = split_found_values([FoundValue(long, "T2")], [])
    assert nothing_read.computed == [long], "a job without evidence tells what its tools said"
