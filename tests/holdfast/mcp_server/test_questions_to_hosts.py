"""Tests of a job's questions on their way to the user of an MCP host."""

from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitRequestFormParams, ElicitResult

from holdfast.jobs.job_lookup import report_of
from holdfast.jobs.open_questions import open_questions_of
from holdfast.mcp_server.host_questions import question_form
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.models.views.status_views import WaitingQuestion
from holdfast.planning.questions.answer_choices import CHOICES_BY_KIND
from holdfast.storage.questions.question_rows import questions_of
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.services.mcp_host import answer_of, mcp_host, refusal_of

pytestmark = pytest.mark.slow

QUESTION: dict[str, Any] = {
    "question": "Who?",
    "preset": "kpi-chain",
    "model": "scripted",
    "review": True,
}


class User:
    """A user who fills in the forms of a host."""

    def __init__(self, action: str = "accept", **content: Any) -> None:
        self.asked: list[ElicitRequestFormParams] = []
        self._result = ElicitResult(action=action, content=content or None)  # type: ignore[arg-type]  # tests say more

    async def __call__(self, _: object, params: Any) -> ElicitResult:
        self.asked.append(params)
        return self._result


async def state_after(client: Client, job: str, *statuses: str) -> dict[str, Any]:
    while True:
        state = await answer_of(client, "research_wait", job=job)
        if state["status"] in statuses:
            return state


@pytest.mark.conformance("MCP-01")
async def test_a_host_with_forms_asks_its_user_and_the_job_goes_on(
    engine: RunningEngine, serving: HttpService
) -> None:
    user = User(choice="approve")
    async with mcp_host(serving, elicitation_callback=user) as client:
        job = (await answer_of(client, "research_start", **QUESTION))["job"]
        state = await state_after(client, job, "done")

    (form,) = user.asked
    assert "approve" in form.requested_schema["properties"]["choice"]["enum"]
    # Nobody types a plan in YAML into a form.
    assert "edit" not in form.requested_schema["properties"]["choice"]["enum"]
    assert (state["answer"], state["questions"]) == ("found a", [])
    (asked,) = await questions_of(engine.db, job)
    assert asked.answer == "approve"


@pytest.mark.long
async def test_a_question_that_the_user_declines_is_asked_once_and_stays_in_the_state(
    engine: RunningEngine, serving: HttpService
) -> None:
    user = User("decline")
    async with mcp_host(serving, elicitation_callback=user) as client:
        job = (await answer_of(client, "research_start", **QUESTION))["job"]
        first = await answer_of(client, "research_wait", job=job, seconds=15)
        second = await answer_of(client, "research_wait", job=job, seconds=1)
        number = second["questions"][0]["question"]
        answered = await answer_of(
            client, "research_answer", job=job, question=number, choice="approve"
        )
        state = await state_after(client, job, "done")

    assert len(user.asked) == 1
    assert first["questions"] == second["questions"]
    assert answered["status"] in ("running", "done")
    assert state["answer"] == "found a"


@pytest.mark.long
async def test_an_answer_that_does_not_fit_leaves_the_question_open_and_says_why(
    engine: RunningEngine, serving: HttpService
) -> None:
    user = User(choice="perhaps")
    async with mcp_host(serving, elicitation_callback=user) as client:
        job = (await answer_of(client, "research_start", **QUESTION))["job"]
        state = await answer_of(client, "research_wait", job=job, seconds=15)
        number = state["questions"][0]["question"]
        refused = await refusal_of(
            client, "research_answer", job=job, question=number, choice="perhaps"
        )
        unknown = await refusal_of(
            client, "research_answer", job=job, question=number + 9, choice="approve"
        )

    assert "'perhaps' is no answer" in state["note"]
    assert "answer with `approve`" in refused
    assert "question" in unknown
    assert len(await open_questions_of(engine.db, job)) == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_hosts_without_a_way_to_ask_have_the_questions_in_the_state(
    mode: str, engine: RunningEngine, serving: HttpService
) -> None:
    job = await engine.submit("Who?", review=True)
    asked = await wait_for_question(engine, job, QuestionKind.APPROVAL)
    # An older host over HTTP declares forms, but the server has no way back to it.
    callback = User(choice="approve") if mode == "legacy" else None
    async with mcp_host(serving, mode=mode, elicitation_callback=callback) as client:
        state = await answer_of(client, "research_status", job=job)
        waited = await answer_of(client, "research_wait", job=job)

    (question,) = state["questions"]
    assert (question["question"], question["text"]) == (asked.id, asked.text)
    assert waited["questions"] == state["questions"]
    assert "research_answer" in waited["next"]
    assert callback is None or callback.asked == []


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (QuestionKind.QUESTION, "Answer"),
        (QuestionKind.ESCALATION, "Answer"),
        (QuestionKind.APPROVAL, "What to change"),
        (QuestionKind.BUDGET, "New limit"),
    ],
)
def test_each_kind_of_question_has_a_field_for_what_its_answer_needs(
    kind: QuestionKind, field: str
) -> None:
    question = WaitingQuestion(
        id=1, kind=kind, task="", text="What now?", choices=CHOICES_BY_KIND[kind], default=None,
        deadline=None, answer_with="",
    )  # fmt: skip

    form = question_form(question).params

    assert isinstance(form, ElicitRequestFormParams)
    assert form.requested_schema["properties"]["text"]["title"].startswith(field)


@pytest.mark.conformance("MCP-01")
@pytest.mark.long
async def test_a_host_runs_a_plan_that_was_only_made_if_its_user_wants_it(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with mcp_host(serving) as client:
        job = (await answer_of(client, "research_start", **QUESTION | {"review": False}))["job"]
        await state_after(client, job, "done")
        planned = await engine.submit("Who else?", plan_only=True)
        made = await state_after(client, planned, "done")
        resumed = await answer_of(client, "research_resume", job=planned)
        again = await refusal_of(client, "research_resume", job=job)
        ended = await state_after(client, planned, "done")

    assert "if the user wants it, research_resume" in made["next"]
    assert resumed["status"] == "running"
    assert f"job {job} is done" in again
    assert (await report_of(engine.holdfast, planned)).answer == ended["answer"]
