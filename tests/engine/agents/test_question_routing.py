"""Tests for the routing of an agent's question: memory, then evidence, then another task, and the
user last (WAVE-05)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import SecretStr

from holdfast.activities.agents.agent_question_routing import (
    AgentQuestion,
    RoutingResult,
    route_question,
)
from holdfast.activities.runtime.activity_services import ModelRegistry
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.errors import StaleEpoch
from holdfast.models.evidence.evidence import LocatedQuote
from holdfast.models.jobs.activity_orders import TaskOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import TaskReceipt
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import ExpectedEntity, Plan, Task, TaskKind, TaskStatus
from holdfast.models.questions.user_questions import AnswerOrigin
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL, Strategy
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.roles.agents.answerer import ANSWERER
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.plans import plan_change_rows, task_queries, task_transactions
from holdfast.storage.plans.task_transactions import TaskAttemptOutcome
from holdfast.storage.questions import question_rows
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles

pytestmark = [pytest.mark.slow, pytest.mark.conformance("WAVE-05")]

JOB = "job-1"
HEIGHT = "How tall is the Gannet Stair Light?"
KEEPER = AgentQuestion(
    task_id="T3", text="Who was the first keeper of the light?", default="Nobody."
)


def agent(task_id: str, *after: str, what: str = "", name: str = "answer") -> Task:
    return Task(
        id=task_id,
        kind=TaskKind.AGENT,
        description=what or f"find out {task_id}",
        expects=(ExpectedEntity(name=name, description=what),),
        depends_on=after,
    )


PLAN = Plan(
    tasks=(
        agent("T1", what="the height of the Gannet Stair Light", name="height"),
        agent("T2", what="the year it was lit"),
        agent("T3", what="the story of its keepers"),
        agent("T4", "T3", what="the first keeper of the light and his later life"),
    )
)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture
async def models(model: ScriptedModel) -> AsyncIterator[ModelRegistry]:
    endpoint = EndpointModel(base_url=model.url, api_key=SecretStr("sk-test"))
    yield ModelRegistry(ExtractiveModel(), endpoint)
    await endpoint.aclose()


async def model_caller(
    db: Database,
    models: ModelRegistry,
    plan: Plan = PLAN,
    *,
    model: str = "scripted",
    **settings: object,
) -> ModelCaller:
    """A place to ask from, in a new job that has this plan."""
    strategy = Strategy.model_validate(settings)
    request = JobRequest(question="?", preset="kpi-chain", model=model, strategy=strategy)
    await job_rows.submit_job(db, JOB, request, None)
    async with db.job(JOB) as write:
        first = PlanChange(cause=PlanChangeCause.PLANNED, added=plan.tasks)
        await plan_change_rows.store_change(write, Plan(), first)
    epoch = await job_rows.begin_job_run(db, JOB, "run-1")
    return ModelCaller(CallLedger(db), models, model, strategy, JOB, epoch, task_id="T3")


async def finish(
    db: Database, asking: ModelCaller, task_id: str, value: str, *, read: str = ""
) -> None:
    """Let the task have found this value, in a passage where one is given."""
    task = (await task_queries.load_task(db, JOB, task_id)).task
    name = task.expects[0].name
    passage = SourcePassage(
        address="light.md", title="The light", text=read, start=0, end=len(read)
    )
    attempt = TaskAttemptOutcome(
        task=task,
        receipt=TaskReceipt(task_id=task_id, attempt=1, status=TaskStatus.DONE),
        kept=(EntityValue.of_promise(task.expects[0], value, 0.9),),
        read=(passage,) if read else (),
        found=(LocatedQuote(entity=name, passage=passage, start=0, end=5),) if read else (),
    )
    order = TaskOrder(job_id=JOB, epoch=asking.epoch, task_id=task_id)
    await task_transactions.finish_task(CallLedger(db), order, f"{task_id}#1", attempt)


def knowing(players: ScriptedRoles, **answers: str) -> None:
    """Let the answerer know what these items say, by the end of their ids."""

    def part(asked: ReceivedRequest) -> object:
        for item in asked.task["items"]:
            for end, answer in answers.items():
                if item["id"].endswith(end):
                    return {"answer": answer, "rests_on": item["id"]}
        return {"answer": None, "rests_on": None}

    players.parts["answerer"] = part


async def test_memory_is_asked_first_and_the_answer_keeps_its_origin(
    db: Database, models: ModelRegistry, players: ScriptedRoles
) -> None:
    asking = await model_caller(db, models)
    await finish(db, asking, "T1", "34 m", read="It is 34 m tall. Its keeper was tall.")
    knowing(players, height="34 m")
    raised = AgentQuestion(task_id="T3", text=HEIGHT)

    routed = await route_question(db, asking, raised)
    again = await route_question(db, asking, raised)

    assert routed == again == RoutingResult(answer="34 m", origin=AnswerOrigin.MEMORY)
    [kept] = await question_rows.answers_to_task(db, JOB, "T3")
    assert (kept.text, kept.answer, kept.origin) == (HEIGHT, "34 m", AnswerOrigin.MEMORY)
    assert (kept.answered_by, kept.trail) == ("T1.height", ("memory: T1.height",))
    assert players.count(ANSWERER) == 1
    [item] = players.tasks(ANSWERER)[0]["items"]
    assert item["says"] == "34 m"


async def test_then_what_was_read_is_searched(
    db: Database, models: ModelRegistry, players: ScriptedRoles
) -> None:
    asking = await model_caller(db, models)
    await finish(db, asking, "T1", "34 m", read="Its first keeper was Orlan Treave.")
    knowing(players, E1="Orlan Treave")

    routed = await route_question(db, asking, KEEPER)

    assert routed == RoutingResult(answer="Orlan Treave", origin=AnswerOrigin.EVIDENCE)
    [kept] = await question_rows.answers_to_task(db, JOB, "T3")
    assert kept.trail == ("memory: none of 1 answers it", "evidence: E1")
    assert "Orlan Treave" in players.tasks(ANSWERER)[1]["items"][0]["says"]


@pytest.mark.conformance("BEY-03")
async def test_a_lost_attempt_is_repeated_in_its_own_words_though_the_job_knows_more_since(
    db: Database, models: ModelRegistry, players: ScriptedRoles
) -> None:
    asking = await model_caller(db, models)
    await finish(db, asking, "T1", "34 m")
    await job_rows.begin_job_run(db, JOB, "run-2")
    with pytest.raises(StaleEpoch):
        await route_question(db, asking, KEEPER)
    asking = replace(asking, epoch=await job_rows.begin_job_run(db, JOB, "run-3"))
    await finish(db, asking, "T2", "1871")

    routed = await route_question(db, asking, KEEPER)

    assert routed.waits_for == ("Q1",)
    assert [each["items"][0]["id"] for each in players.tasks(ANSWERER)] == ["T1.height"]


async def test_an_answer_that_rests_on_nothing_known_is_sent_back(
    db: Database, models: ModelRegistry, players: ScriptedRoles
) -> None:
    asking = await model_caller(db, models, max_routings=0, plan_tries=1)
    await finish(db, asking, "T1", "34 m")
    players.parts["answerer"] = lambda _: {"answer": "I happen to know", "rests_on": "T9.x"}

    routed = await route_question(db, asking, KEEPER)

    assert routed.question is not None
    assert players.count(ANSWERER) == 2
    assert players.asked["answerer"][1].is_correction


async def test_then_a_task_that_promises_it_is_waited_for_and_its_result_is_the_answer(
    db: Database, models: ModelRegistry, players: ScriptedRoles
) -> None:
    asking = await model_caller(db, models)
    raised = AgentQuestion(task_id="T3", text=HEIGHT.replace("How tall", "What height"))

    routed = await route_question(db, asking, raised)
    waiting = await route_question(db, asking, raised)
    await finish(db, asking, "T1", "34 m")
    knowing(players, height="34 m")
    answered = await route_question(db, asking, raised)

    assert routed == waiting == RoutingResult(waits_for=("T1",))
    assert answered == RoutingResult(answer="34 m", origin=AnswerOrigin.TASK)
    [kept] = await question_rows.answers_to_task(db, JOB, "T3")
    assert kept.trail[-2:] == ("task T1: asked", "memory: T1.height")


async def test_a_task_that_waits_for_the_asker_is_not_waited_for_but_a_new_one_is_added(
    db: Database, models: ModelRegistry
) -> None:
    asking = await model_caller(db, models)

    routed = await route_question(db, asking, KEEPER)
    again = await route_question(db, asking, KEEPER)

    assert routed == again
    assert routed.waits_for == ("Q1",)
    assert [task.id for task in routed.added] == ["Q1"]
    revision = (await plan_change_rows.load_plan_changes(db, JOB))[-1]
    assert (revision.cause, revision.added) == ("question", ("Q1",))
    stored = (await task_queries.load_task(db, JOB, "Q1")).task
    assert (stored.kind, stored.description) == (TaskKind.AGENT, KEEPER.text)
    assert len(await plan_change_rows.load_plan_changes(db, JOB)) == 2


async def test_two_agents_do_not_wait_for_each_other(db: Database, models: ModelRegistry) -> None:
    asking = await model_caller(db, models)
    first = AgentQuestion(task_id="T2", text="What is the story of its keepers?")
    second = AgentQuestion(task_id="T3", text="What was the year when it was lit?")

    one = await route_question(db, asking, first)
    other = await route_question(db, asking, second)

    assert one.waits_for == ("T3",)
    assert other.waits_for == ("Q1",)


async def test_the_user_is_asked_last_after_two_routings_with_a_deadline_and_a_default(
    db: Database, models: ModelRegistry
) -> None:
    asking = await model_caller(db, models)
    for name in ("Q1", "Q2"):
        routed = await route_question(db, asking, KEEPER)
        assert routed.waits_for == (name,)
        await finish(db, asking, name, "no idea")

    routed = await route_question(db, asking, KEEPER)
    again = await route_question(db, asking, KEEPER)

    assert routed == again
    assert routed.question is not None
    assert routed.question.task_id == "T3"
    [waits] = await question_rows.open_questions(db, JOB)
    assert waits.default == "Nobody."
    assert waits.deadline is not None
    assert waits.deadline - waits.asked_at > timedelta(minutes=29)
    assert [step.partition(":")[0] for step in waits.trail] == [
        "memory",
        "evidence",
        "task Q1",
        "memory",
        "evidence",
        "task Q2",
        "memory",
        "evidence",
    ]


async def test_what_a_task_for_a_question_asks_goes_to_nobody_else_than_the_user(
    db: Database, models: ModelRegistry
) -> None:
    asking = await model_caller(db, models)
    await route_question(db, asking, KEEPER)

    routed = await route_question(db, asking, AgentQuestion(task_id="Q1", text="Which light?"))

    assert routed.question is not None


async def test_where_nobody_may_be_asked_the_default_is_taken_at_once(
    db: Database, models: ModelRegistry
) -> None:
    asking = await model_caller(db, models, questions=False, max_routings=0)

    routed = await route_question(db, asking, KEEPER)

    assert routed == RoutingResult(answer="Nobody.", origin=AnswerOrigin.DEFAULT)
    assert await question_rows.open_questions(db, JOB) == []
    [kept] = await question_rows.answers_to_task(db, JOB, "T3")
    assert kept.origin is AnswerOrigin.DEFAULT


async def test_the_built_in_model_knows_what_the_job_knows(
    db: Database, models: ModelRegistry
) -> None:
    asking = await model_caller(db, models, model=EXTRACTIVE_MODEL, max_routings=0)
    await finish(db, asking, "T1", "34 m")

    known = await route_question(
        db,
        asking,
        AgentQuestion(task_id="T3", text="What is the height of the Gannet Stair Light?"),
    )
    unknown = await route_question(db, asking, KEEPER)

    assert known == RoutingResult(answer="34 m", origin=AnswerOrigin.MEMORY)
    assert unknown.question is not None
