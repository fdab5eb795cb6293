"""Tests that the page says in plain words what the engine writes in its own."""

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.activities.runtime.task_outcome import invalid_answer_failure
from holdfast.activities.tasks.tool_task import _empty_answer_failure
from holdfast.jobs.record_in_words import cause, task_of_call
from holdfast.jobs.waterfall import waterfall
from holdfast.jobs.work_in_words import work_of_role
from holdfast.models.budget.spend_breakdown import Phase
from holdfast.models.calls.call_records import CallView
from holdfast.models.errors import FailureClass
from holdfast.models.jobs.idle_span import IdleSpan
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import EntityType, ExpectedEntity, Task, TaskKind
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.tasks.task_failure import Component, Failure
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.results.kpi_check import EntityCandidate, check_kpis
from holdfast.planning.results.kpi_failure import kpi_failure
from holdfast.web.rendering.plain_words import (
    failure_in_words,
    plain_words,
    references,
    work,
)
from tests.support.jobs.plan_builders import lookup_task

NO_ANSWER = invalid_answer_failure(Component.REASONER, ["`a` is missing; write it", "no list"])
EMPTY = _empty_answer_failure(lookup_task("T1"))


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ('{"error": {"code": 500}}', "The tool failed."),
        ('It failed. {"error": 500}', "The tool failed."),
        ('no passage says when Dr. Vane began {"a": 1}', "The tool failed."),
        ("The call failed: no room; tried {'a': 1}", "The call failed: no room."),
        (
            "The page is gone.\nTraceback (most recent call last): `holdfast resume JOB`",
            "The page is gone.",
        ),
        ("Entity 'a_b' was not found. 2 validation errors for Answer", "A b was not found."),
    ],
)
def test_json_and_a_traceback_stand_behind_a_sentence_as_they_are(
    message: str, sentence: str
) -> None:
    failure = Failure(component=Component.TOOL, failure_class=FailureClass.TOOL, message=message)

    assert failure_in_words(failure) == (sentence, message)


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (NO_ANSWER, "The reasoner gave no valid answer."),
        (
            invalid_answer_failure(Component.EXTRACTOR, ["two lists; use only one"]),
            "The extractor gave no valid answer: two lists.",
        ),
        (EMPTY, "lab.wikipedia_search found nothing for these arguments."),
    ],
)
def test_an_order_to_a_model_stands_behind_a_sentence(failure: Failure, sentence: str) -> None:
    assert failure_in_words(failure) == (sentence, failure.message)


def test_details_are_in_the_words_of_the_page() -> None:
    faults = ["Entity 'old_cost' was not found.", "try others"]
    found = failure_in_words(invalid_answer_failure(Component.EXTRACTOR, faults))

    assert found == (
        "The extractor gave no valid answer: Old cost was not found.",
        "The extractor gave no valid answer: Old cost was not found.; try others",
    )


REGISTER = "The register gives the post, but it does not give the name [[1]]."


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (FailureClass.TOOL, "The corpus cannot be read: try another, or use the old one."),
        (FailureClass.QUOTA, "the account is out of credit: top it up, or name another endpoint"),
        (FailureClass.QUOTA, 'the service refused: {"error": "no credit"}'),
        (FailureClass.POLICY, "the model 'x' has no key: set `X_KEY`; then use it again"),
        (
            FailureClass.SEMANTIC,
            (
                "The agent did not resolve it: the minutes do not name the contractor, only the "
                'architect; the page says ["A"].'
            ),
        ),
        (FailureClass.SEMANTIC, f"Entity 'officer' was not found. The extractor says: {REGISTER}"),
        (FailureClass.SEMANTIC, f"The reasoner says it failed: {REGISTER}"),
        (
            FailureClass.SEMANTIC,
            (
                "Entity 'fee' is below the confidence of 0.7: 0.55. Possible fee: 40, read from "
                '“the rules give the fee as ["40"]”.'
            ),
        ),
    ],
)
def test_what_a_person_can_use_is_not_cut(kind: FailureClass, message: str) -> None:
    failure = Failure(component=Component.TOOL, failure_class=kind, message=message)

    assert failure_in_words(failure) == (plain_words(message), "")


def test_the_failure_of_a_task_names_its_values_in_words() -> None:
    expects = [
        ExpectedEntity(name="ouzel_cost"),
        ExpectedEntity(name="built_in", type=EntityType.INTEGER),
        ExpectedEntity(name="gannet_cost"),
    ]
    found = {
        "built_in": EntityCandidate(name="built_in", value="once", confidence=0.9),
        "gannet_cost": EntityCandidate(name="gannet_cost", value="9 million", confidence=0.55),
    }
    verdict = check_kpis(expects, found, 0.7)
    failure = kpi_failure(verdict, Component.EXTRACTOR, "no page has it.", 0.7)

    assert failure.failure_class is FailureClass.SEMANTIC
    assert plain_words(failure.message) == (
        "Ouzel cost was not found. Built in is not the kind of value that was asked for. "
        "Gannet cost is not sure enough: 55%, and 70% is needed. "
        "The reason given: no page has it. Possible gannet cost: 9 million."
    )


def test_the_confidence_is_named_only_where_somebody_gave_one_that_is_too_low() -> None:
    expects = [ExpectedEntity(name="cost")]
    sure = {"cost": EntityCandidate(name="cost", value=None, confidence=0.9)}
    unsure = {"cost": EntityCandidate(name="cost", value=None, confidence=0.15)}
    bare, low = (
        kpi_failure(check_kpis(expects, found, 0.7), Component.EXTRACTOR, "", 0.7).message
        for found in (sure, unsure)
    )

    assert bare == "Entity 'cost' was not found."
    assert plain_words(low) == "Cost was not found. Confidence: very low, 15%."


def test_every_role_phase_and_cause_has_words() -> None:
    assert all(work_of_role(role) != role.replace("_", " ") for role in RoleName)
    assert all("_" not in work(phase) and work(phase) != "execution" for phase in Phase)
    assert all("_" not in cause(each) and cause(each) != "replanned" for each in PlanChangeCause)


def test_references_and_keys_of_calls_name_tasks() -> None:
    shown = references("cost of <JSON_PATH>T2.later_post</JSON_PATH>")

    assert shown == "cost of the later post that T2 finds"
    assert [task_of_call(key) for key in ("T1", "T1.2", "replan:T5#2", "plan", "verify:1")] == [
        "T1",
        "T1.2",
        "T5",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("seconds", "labels"),
    [
        (0.3, ["0", "0.1 s", "0.2 s", "0.3 s"]),
        (5.4, ["0", "2 s", "4 s"]),
        (100, ["0", "30 s", "60 s", "90 s"]),
        (763, ["0", "5 min", "10 min"]),
        (3 * 86_400, ["0", "1 d", "2 d", "3 d"]),
        (0, []),
    ],
)
def test_the_axis_of_the_waterfall_has_a_few_round_times(seconds: float, labels: list[str]) -> None:
    begin = datetime.now(UTC)
    shown = waterfall([], [], [], begin, begin + timedelta(seconds=seconds))

    assert [tick.label for tick in shown.ticks] == labels
    assert all(0 <= tick.at <= 100 for tick in shown.ticks)


def test_a_call_whose_end_was_not_recorded_ends_with_its_task_in_the_waterfall() -> None:
    begin = datetime.now(UTC)
    ended = begin + timedelta(seconds=6)
    task = Task(id="T1", kind=TaskKind.TOOL, tool="corpus.search", description="Find the builder")
    stored = StoredTask(
        task=task,
        position=0,
        attempt=1,
        root="T1",
        added_by_change=0,
        started_at=begin,
        finished_at=ended,
    )
    call = CallView(
        id=1, kind="model", role="extractor", task="T1", name="extractive", request_hash="",
        status="started", started_at=begin, finished_at=None, tokens={}, reused=0, sends=1,
    )  # fmt: skip
    (row,) = waterfall([stored], [call], [], begin, begin + timedelta(minutes=10)).rows

    assert row.seconds == 6
    assert {bar.width for bar in row.bars} == {1}


def test_the_time_in_which_a_job_had_ended_takes_no_room_in_the_waterfall() -> None:
    begin = datetime.now(UTC)
    ended, reopened = begin + timedelta(seconds=10), begin + timedelta(days=2)
    calls = [
        CallView(
            id=number, kind="model", role="extractor", task=name, name="extractive",
            request_hash="", status="done", started_at=at, finished_at=at + timedelta(seconds=5),
            tokens={}, reused=0, sends=1,
        )
        for number, name, at in ((1, "T1", begin), (2, "T1", reopened), (3, "T2", reopened))
    ]  # fmt: skip
    end = reopened + timedelta(seconds=10)
    shown = waterfall([], calls, [], begin, end, idle=[IdleSpan(ended, reopened)])

    assert shown.seconds == 20
    assert {(row.seconds, row.bars[-1].start, row.bars[-1].width) for row in shown.rows} == {
        (15, 50, 25),
        (5, 50, 25),
    }
