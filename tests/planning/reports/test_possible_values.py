"""Tests for values that were found with too little confidence: the report names them apart."""

import pytest

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.errors import FailureClass
from holdfast.models.evidence.evidence import LocatedQuote, Report
from holdfast.models.plans.research_plan import ExpectedEntity, TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.tasks.task_failure import Component
from holdfast.planning.reports.possible_values import possible_values
from holdfast.planning.results.kpi_check import EntityCandidate, check_kpis
from holdfast.planning.results.kpi_failure import kpi_failure
from holdfast.reports.exports.report_outline import report_outline
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown
from tests.support.jobs.plan_builders import lookup_task

pytestmark = pytest.mark.conformance("REP-07")

EXPECTS = (ExpectedEntity(name="value", description="the year of the opening"),)


def failed(
    task_id: str, value: str, sure: float, status: TaskStatus = TaskStatus.FAILED
) -> StoredTask:
    candidates = {"value": EntityCandidate(name="value", value=value, confidence=sure)}
    verdict = check_kpis(EXPECTS, candidates, 0.7)
    failure = kpi_failure(verdict, Component.EXTRACTOR, "", 0.7)
    assert failure.failure_class is FailureClass.SEMANTIC
    task = lookup_task(task_id).with_status(status)
    return StoredTask(
        task=task, position=0, attempt=1, root=task_id, added_by_change=1, failure=failure
    )


def test_the_surest_weak_value_is_named_with_what_it_lacks() -> None:
    tasks = [failed("T1", "1931", 0.41), failed("T2", "1932 [3]", 0.59)]

    (one,) = possible_values(tasks, 0.7, answer=None)

    assert (one.about, one.value) == ("the year of the opening", "1932")
    assert (one.confidence, one.needed) == (0.59, 0.7)


def test_a_possible_value_has_the_quote_that_it_was_read_from_in_every_format() -> None:
    passage = SourcePassage(
        address="log.md", title="The log", text="It opened in 1931, **I think**."
    )
    quotes = {"value": [LocatedQuote(entity="value", passage=passage, start=0, end=30)]}
    guess = EntityCandidate(name="value", value="1931", confidence=0.5, quote="made up")
    verdict = check_kpis(EXPECTS, {"value": guess}, 0.7)
    bare = failed("T1", "1931", 0.5)

    failure = kpi_failure(verdict.with_quotes(quotes), Component.EXTRACTOR, "", 0.7)
    (one,) = possible_values([bare.model_copy(update={"failure": failure})], 0.7, answer=None)
    unquoted = verdict.with_quotes({}).weak_values[0]

    assert failure.message.endswith(
        "Possible value: 1931, read from “It opened in 1931, **I think**”."
    )
    assert unquoted.quote == "", "a quote that is not in the response is none"
    report = Report(question="When?", answer=None, possible=(one,))
    words = "read from “It opened in 1931, I think”, The log, log.md"
    assert words in to_markdown(report)
    assert words in to_html(report)
    assert words in str(report_outline(report))


def test_a_value_that_was_found_in_another_way_is_not_possible_any_more() -> None:
    weak = failed("T1", "1931", 0.5, TaskStatus.SUPERSEDED)
    found = lookup_task("T1a").with_status(TaskStatus.DONE)
    stored = StoredTask(
        task=found.model_copy(update={"result": {"value": "1932"}}),
        position=1,
        attempt=1,
        root="T1",
        added_by_change=2,
    )

    assert possible_values([weak, stored], 0.7, answer=None) == ()
    assert possible_values([weak], 0.7, answer="Ada Marsh") == ()
    assert len(possible_values([weak], 0.7, answer=None)) == 1


def test_another_value_of_the_same_name_does_not_hide_a_possible_one() -> None:
    died = ExpectedEntity(name="value", description="the year in which the engineer died")
    other = lookup_task("T2").model_copy(update={"expects": (died,), "result": {"value": "1950"}})
    stored = StoredTask(
        task=other.with_status(TaskStatus.DONE), position=1, attempt=1, root="T2", added_by_change=1
    )

    (one,) = possible_values([failed("T1", "1931", 0.5), stored], 0.7, answer="Ada Marsh")

    assert one.value == "1931"


def test_a_value_of_an_agent_and_of_its_step_is_one() -> None:
    agent = failed("T1", "1931", 0.5)
    bare = failed("T1.1", "1931", 0.5)
    task = bare.task.with_parent("T1")
    assert bare.failure is not None
    weak = bare.failure.weak_values[0].model_copy(update={"description": ""})
    failure = bare.failure.model_copy(update={"weak_values": (weak,)})
    step = bare.model_copy(update={"task": task, "failure": failure})

    assert len(possible_values([agent, step], 0.7, answer="Ada Marsh")) == 1


@pytest.mark.conformance("REP-07")
@pytest.mark.parametrize(
    ("label", "about"),
    [
        ("agreement", "agreement with Verity"),
        ("passage", "agreement with Verity"),
        ("insurer (group)", "Who insured it?"),
    ],
)
def test_a_possible_value_is_named_once_and_without_a_label_that_adds_nothing(
    label: str, about: str
) -> None:
    one, two = failed("T1", "1931", 0.5), failed("T2", " 1931", 0.4)
    assert one.failure is not None
    weak = one.failure.weak_values[0].model_copy(update={"description": f"{label}: {about}"})
    one = one.model_copy(
        update={"failure": one.failure.model_copy(update={"weak_values": (weak,)})}
    )

    (shown,) = possible_values([one, two], 0.7, answer=None)

    assert (shown.about, shown.value) == (about, "1931")


@pytest.mark.conformance("REP-07")
def test_a_weak_value_that_is_the_answer_is_not_possible_besides() -> None:
    assert possible_values([failed("T1", "1931", 0.5)], 0.7, answer=" 1931") == ()
    assert len(possible_values([failed("T1", "1931", 0.5)], 0.7, answer="1932")) == 1


@pytest.mark.parametrize(
    ("value", "is_shown"),
    [
        ("Orme Light opened  in 1931, they say [2]", False),
        ("Orme Light opened in 1932, they say", True),
        ("the year 1931", True),
    ],
)
def test_a_sentence_that_is_its_own_quote_is_no_possible_value(value: str, is_shown: bool) -> None:
    one = failed("T1", value, 0.4)
    assert one.failure is not None
    quote = "the year 1931" if len(value.split()) < 5 else "Orme Light opened in 1931, they say"
    weak = one.failure.weak_values[0].model_copy(update={"quote": quote})
    failure = one.failure.model_copy(update={"weak_values": (weak,)})

    shown = possible_values([one.model_copy(update={"failure": failure})], 0.7, answer=None)

    assert bool(shown) is is_shown
