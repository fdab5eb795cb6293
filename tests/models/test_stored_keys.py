"""The keys of receipts and questions and the ids of activities, which are stored."""

import re
from pathlib import Path

from holdfast.models.wire import call_places, earlier_receipts, stored_keys

_PAGE = Path(__file__).parents[2] / "docs" / "changing-workflows.md"


def test_keys_are_written_as_running_jobs_know_them() -> None:
    assert stored_keys.task_receipt("T3", 1) == "T3#1"
    assert stored_keys.agent_turn_receipt("T3", 2, 1) == "T3#2/1"
    assert stored_keys.replan_receipt("T3", 1) == "replan:T3"
    assert stored_keys.replan_receipt("T3", 2) == "replan:T3#2"
    assert stored_keys.revision_receipt(4, 1) == "revise:4#1"
    assert stored_keys.routing_receipt("T3:ab", 1) == "asked:T3:ab#1"
    assert stored_keys.receipt_key_of_run("report", 3) == "report@3"
    assert stored_keys.task_activity("T3", 1) == "T3"
    assert stored_keys.agent_turn_activity("T3", 2, 0) == "T3#2"
    assert stored_keys.agent_turn_activity("T3", 2, 1) == "T3/1#2"


def test_what_a_key_says_is_read_back() -> None:
    turns = [(1, 0), (1, 4), (2, 0), (2, 4)]
    ids = [stored_keys.agent_turn_activity("T3.1", attempt, steps) for attempt, steps in turns]

    assert {stored_keys.task_of_activity(each) for each in ids} == {"T3.1"}
    assert stored_keys.escalated_attempt(stored_keys.escalation_question("T3", 2)) == 2
    assert stored_keys.is_revision_activity(stored_keys.revision_activity(3))
    assert stored_keys.is_verification_activity(stored_keys.gap_filling_activity(1))
    assert not stored_keys.is_verification_activity(stored_keys.task_activity("T1", 1))


def test_every_earlier_format_of_receipt_keys_has_a_reader_and_a_row_in_the_documentation() -> None:
    rows = re.findall(r"^\| (\d+) \| .*`T3#1", _PAGE.read_text("utf-8"), re.MULTILINE)
    readers = [reader.number for reader in earlier_receipts.EARLIER_FORMATS]

    assert sorted([stored_keys.RECEIPT_KEY_FORMAT, *readers]) == [int(number) for number in rows]


def test_an_agents_turn_is_also_looked_for_under_its_first_format() -> None:
    assert earlier_receipts.earlier_keys("T3.1#1/4")[-1] == "T3.1#1/4.0"
    for key in ("T3#1", "plan", "replan:T3#2", "revise:4#1", "asked:T3:ab#1", "T3#1/4.0"):
        assert earlier_receipts.earlier_keys(key) == ()


def test_the_places_of_calls_are_written_as_running_jobs_know_them() -> None:
    assert call_places.planning_label(0) == ""
    assert call_places.planning_label(4) == "plan:4"
    assert call_places.call_part("", 2) == "2"
    assert call_places.call_part(call_places.chunk_place(3, chunks=5), 1) == "chunk3/1"
    assert call_places.chunk_place(1, chunks=1) == ""
    assert call_places.match_place("relation") == "match:relation"
    assert call_places.turn_place(4, 0) == "4"
    assert call_places.turn_place(4, 2, "extended") == "4+2/extended"
    assert call_places.answer_place("T3:ab", "memory", 1) == "T3:ab/memory1"
    assert call_places.group_place(2) == "group2"
    assert (call_places.REPORT_LABEL, call_places.CORRECTED_REPORT) == ("report", "again")
