"""The keys of receipts and questions and the ids of activities, which are stored."""

from holdfast.models.wire import stored_keys


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
