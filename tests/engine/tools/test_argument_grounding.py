"""Tests for arguments outside a tool's vocabulary: matched and confirmed, or refused with the
nearest values."""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from temporalio.client import Client

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.runtime.text_similarity import TextSimilarity
from holdfast.activities.tasks.argument_grounding import ArgumentGrounder, GroundedArguments
from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.corpus.search_criteria import QueryVector
from holdfast.models.jobs.activity_orders import AttemptOrder
from holdfast.models.plans.research_plan import ExpectedEntity, Task, TaskInput, TaskKind
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.planning.text.nearest_values import Vocabulary
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.matcher import MATCHER
from holdfast.storage.core.tables.call_tables import tool_calls
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, final_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine

pytestmark = pytest.mark.slow

KB = Path(__file__).parents[2] / "servers" / "vocabulary_server.py"
SERVER = f"""
[servers.kb]
command = ['{sys.executable}', '{KB}']
[servers.kb.vocabulary]
"concept.name" = {{tool = "concepts"}}
"""
CONCEPTS = ("sovereign state", *(f"kind {letter}" for letter in "abcdefghijklmnop"))
"""The names that the server knows; only the first is no kind by name."""


@pytest.fixture
async def kb(
    temporal: Client, database_url: str, tmp_path: Path, model: ScriptedModel
) -> AsyncIterator[RunningEngine]:
    """A worker with the scripted model and a server that knows certain values alone."""
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, toml=SERVER
    ) as engine:
        yield engine


def call(task_id: str, tool: str, name: str, value: object) -> Task:
    return Task(
        id=task_id,
        kind=TaskKind.TOOL,
        description=f"find what {task_id} is about",
        tool=f"kb.{tool}",
        inputs=(TaskInput(name=name, value=value),),
        expects=(ExpectedEntity(name="value"),),
    )


async def called(engine: RunningEngine, job_id: str) -> list[tuple[str, dict[str, Any]]]:
    """The tools that were called, with the arguments they were called with."""
    query = (
        select(tool_calls.c.tool, tool_calls.c.request)
        .where(tool_calls.c.job_id == job_id)
        .order_by(tool_calls.c.id)
    )
    async with engine.db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return [(row.tool, json.loads(row.request)) for row in rows]


async def stored(engine: RunningEngine, job_id: str, task_id: str) -> Any:
    query = select(tasks).where(tasks.c.job_id == job_id, tasks.c.id == task_id)
    async with engine.db.reading() as connection:
        return (await connection.execute(query)).one()


class OnlyStates:
    """An embedding model that finds a sovereign state in every text but those of kinds."""

    config = EmbeddingsConfig(model="states")

    async def query(self, text: str) -> QueryVector:
        return QueryVector(model="states", values=(1.0, 0.0))

    async def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [(1.0, 0.0) if text == "sovereign state" else (0.0, 1.0) for text in texts]


def chosen(value: str | None) -> Any:
    return lambda asked: {"match": value}


@pytest.mark.conformance("HZN-07")
async def test_an_argument_is_matched_confirmed_and_noted(
    kb: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(call("T1", "relate", "relation", "birthplace"), final_task("T2", "T1"))
    players.parts["matcher"] = chosen("place of birth")

    job = await kb.run("Where was she born?")

    assert (job.status, job.answer) == ("done", "followed place of birth")
    assert await called(kb, job.job_id) == [("kb.relate", {"relation": "place of birth"})]
    (asked,) = players.tasks(MATCHER)
    assert (asked["argument"], asked["parameter"]) == ("birthplace", "relation")
    assert set(asked["candidates"]) == {"place of birth", "country of citizenship", "spouse"}
    note = "'birthplace' was not found; substituted with 'place of birth'"
    (extracted,) = players.tasks(EXTRACTOR)
    assert extracted["note"] == note
    assert extracted["arguments"] == {"relation": "place of birth"}
    row = await stored(kb, job.job_id, "T1")
    assert row.inputs[0]["value"] == "birthplace"
    assert row.trace["note"] == note
    assert row.trace["substituted"] == [
        {"parameter": "relation", "given": "birthplace", "used": "place of birth"}
    ]
    (ended,) = [
        each
        for each in await job_queries.events_after(kb.db, job.job_id, 0)
        if each.kind == "task.done" and each.task == "T1"
    ]
    assert ended.facts["note"] == note


@pytest.mark.conformance("HZN-07")
@pytest.mark.long
async def test_a_difference_of_case_and_spaces_is_taken_without_a_word(
    kb: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(
        call("T1", "relate", "relation", " Place  of Birth"), final_task("T2", "T1")
    )

    job = await kb.run("Where was she born?")

    assert job.answer == "followed place of birth"
    assert players.count(MATCHER) == 0
    assert players.tasks(EXTRACTOR)[0]["note"] == ""
    assert "note" not in (await stored(kb, job.job_id, "T1")).trace


@pytest.mark.conformance("HZN-07")
@pytest.mark.long
async def test_what_means_none_of_the_values_goes_back_with_the_ten_nearest_uncalled(
    kb: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(call("T1", "concept", "name", "kinds of a"), final_task("T2", "T1"))
    players.continuations = [
        plan(call("T1a", "concept", "name", "kind a"), final_task("T2a", "T1a"))
    ]

    job = await kb.run("Which are there?")

    assert (job.status, job.answer, job.replans) == ("done", "all of kind a", 1)
    assert await called(kb, job.job_id) == [("kb.concept", {"name": "kind a"})]
    (given,) = players.tasks(MATCHER)
    assert len(given["candidates"]) == 10
    (told,) = [asked.task["feedback"] for asked in players.asked["replanner"]]
    first, second = told.splitlines()
    assert first == "kb.concept was not called: it knows no name 'kinds of a'."
    assert second == "Nearest to it are: " + ", ".join(map(repr, given["candidates"]))


@pytest.mark.conformance("HZN-07")
@pytest.mark.long
async def test_a_synonym_is_among_the_nearest_where_a_model_knows_meanings(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOLDFAST_LOCAL_EMBEDDINGS", "true")
    players.plan = plan(
        call("T1", "concept", "name", "independent country"), final_task("T2", "T1")
    )
    players.parts["matcher"] = chosen("sovereign state")

    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, toml=SERVER
    ) as engine:
        assert engine.parts.similarity is not None
        engine.parts.similarity.limit_s = 600  # a busy machine loads the model slowly
        job = await engine.run("Which are there?", within_s=300)

    assert (job.status, job.answer) == ("done", "all of sovereign state")
    (given,) = players.tasks(MATCHER)
    assert len(given["candidates"]) == 10
    assert set(Vocabulary(CONCEPTS).nearest("independent country")) < set(given["candidates"])


@pytest.mark.conformance("HZN-07")
@pytest.mark.parametrize("at_first", [True, False], ids=["meaning first", "spelling first"])
@pytest.mark.long
async def test_the_answer_of_a_matcher_is_found_whether_or_not_meaning_is_known_then(
    kb: RunningEngine, players: ScriptedRoles, at_first: bool
) -> None:
    players.parts["matcher"] = chosen("sovereign state")
    job_id = await kb.submit("Which are there?", start_delay=timedelta(hours=1))
    job = await job_rows.load_job(kb.db, job_id)

    async def ground(knows_meaning: bool) -> GroundedArguments:
        order = AttemptOrder(job_id=job_id, epoch=1)
        caller = ModelCaller.of(kb.parts, order, job.request, "T1")
        similarity = TextSimilarity(OnlyStates()) if knows_meaning else None
        grounder = ArgumentGrounder(caller, kb.parts.hub, {}, "kb.concept", similarity)
        return await grounder.ground({"name": "independent country"})

    first, again = await ground(at_first), await ground(not at_first)

    assert first == again
    assert first.arguments == {"name": "sovereign state"}
    (asked,) = players.tasks(MATCHER)
    assert ("sovereign state" in asked["candidates"]) == at_first


@pytest.mark.conformance("HZN-07")
@pytest.mark.long
async def test_a_match_that_is_no_candidate_is_sent_back(
    kb: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(call("T1", "relate", "relation", "married to"), final_task("T2", "T1"))
    answers = iter(["husband", "spouse"])
    players.parts["matcher"] = lambda asked: {"match": next(answers)}

    job = await kb.run("Who is she married to?")

    assert job.answer == "followed spouse"
    corrected = players.asked["matcher"][1].turns[-1]["content"]
    assert "'husband' is none of the candidates; copy one, or give null" in corrected


@pytest.mark.conformance("HZN-07")
@pytest.mark.long
async def test_switched_off_an_argument_must_be_exact_and_the_nearest_is_named(
    kb: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(call("T1", "relate", "relation", "Place of birth"), final_task("T2", "T1"))
    players.continuations = [
        plan(call("T1a", "relate", "relation", "place of birth"), final_task("T2a", "T1a"))
    ]

    job = await kb.run("Where was she born?", robust_tools="false")

    assert (job.answer, job.replans) == ("followed place of birth", 1)
    assert players.count(MATCHER) == 0
    (told,) = [asked.task["feedback"] for asked in players.asked["replanner"]]
    assert told.splitlines()[1] == "Nearest to it is: 'place of birth'"
    assert Strategy().robust_tools
    assert preset("full-horizon").strategy.robust_tools


@pytest.mark.conformance("HZN-07")
@pytest.mark.long
async def test_two_spellings_of_one_value_are_the_same_call(
    kb: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(
        call("T1", "relate", "relation", "place of birth"),
        call("T2", "relate", "relation", "Place of birth").model_copy(
            update={"depends_on": ("T1",)}
        ),
        final_task("T3", "T2"),
    )

    job = await kb.run("Where was she born?")

    assert job.status == "done"
    assert "was called with these arguments before" in players.tasks(EXTRACTOR)[1]["note"]


@pytest.mark.conformance("HZN-07")
@pytest.mark.long
async def test_without_an_extractor_the_agent_sees_what_was_substituted(
    kb: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(agent_task("T1", about="Where?", yields="final_answer"))
    players.parts["matcher"] = chosen("place of birth")
    step = {
        "tool": "kb.relate",
        "inputs": [{"name": "relation", "value": "birthplace"}],
        "expects": [{"name": "found"}],
    }
    players.parts["stepper"] = lambda asked: (
        {"outputs": [{"name": "final_answer", "value": asked.task["trace"][0]["action"]}]}
        if asked.task["trace"]
        else {"calls": [step]}
    )

    job = await kb.run("Where?", preset_name="single-step")

    assert job.status == "done", job.message
    assert players.count(STEPPER) == 2
    assert str(job.answer).endswith(
        "-- 'birthplace' was not found; substituted with 'place of birth'"
    )
