"""Tests for tool tasks: inputs, extraction, KPIs, chunks, repeated calls."""

import json

import pytest

from holdfast.models.plans.research_plan import EntityType, ExpectedEntity, TaskInput
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.storage.evidence import evidence_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan, result_reference
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

SECRET = "the raw page says xyzzy among many other words"


@pytest.mark.conformance("KPI-06")
async def test_a_tool_is_called_with_its_resolved_inputs_types_kept(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    second = lookup_task("T2", "T1", query=f"more on {result_reference('T1', 'name')}")
    players.plan = plan(
        lookup_task("T1", query="first", yields="name"), second, final_task("T3", "T2")
    )
    tools.answers = lambda argument: "Ada" if argument == "first" else "more"

    job = await engine.run("Who?")

    assert job.status == "done"
    assert tools.called == [("wikipedia_search", "first"), ("wikipedia_search", "more on Ada")]


@pytest.mark.conformance("KPI-06")
async def test_the_raw_response_is_stored_and_reaches_only_its_own_extraction(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"),
        lookup_task("T2", "T1", query="b"),
        final_task("T3", "T1", "T2"),
    )
    players.parts["extractor"] = extractor_script("short", 0.9)
    tools.answers = {"a": SECRET, "b": "nothing of note, short"}

    job = await engine.run("Who?")

    prompts = [json.dumps(asked.turns) for asked in model.asked]
    holding = [n for n, prompt in enumerate(prompts) if "xyzzy" in prompt]
    assert len(holding) == 1
    assert model.asked[holding[0]].plays(EXTRACTOR)
    async with engine.db.reading() as connection:
        from sqlalchemy import select

        from holdfast.storage.core.tables.call_tables import tool_calls

        rows = (await connection.execute(select(tool_calls.c.response))).scalars().all()
    assert any(SECRET in row for row in rows)
    assert job.status == "done"


@pytest.mark.conformance("KPI-07")
@pytest.mark.parametrize(("confidence", "status"), [(0.70, "done"), (0.69, "superseded")])
async def test_the_threshold_is_part_of_the_border(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    confidence: float,
    status: str,
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.continuations = [plan(final_task("T2a"))]
    players.parts["extractor"] = extractor_script("word", confidence)
    tools.answers = {"a": "a word"}

    job = await engine.run("Who?")

    assert {task.id: task.status for task in job.tasks}["T1"] == status


@pytest.mark.conformance("KPI-07")
@pytest.mark.parametrize(("confidence", "status"), [(0.70, "done"), (0.69, "superseded")])
@pytest.mark.long
async def test_one_score_for_the_answer_counts_for_entities_without_one(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    confidence: float,
    status: str,
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.continuations = [plan(final_task("T2a"))]
    found = {"name": "value", "value": "word", "confidence": None}
    players.parts["extractor"] = lambda _: {"entities": [found], "confidence": confidence}
    tools.answers = {"a": "a word"}

    job = await engine.run("Who?")

    (first, *_) = job.tasks
    assert (first.id, first.status) == ("T1", status)
    assert first.confidence == confidence


@pytest.mark.conformance("KPI-07")
async def test_the_threshold_is_a_setting_of_the_job(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.parts["extractor"] = extractor_script("word", 0.2)
    tools.answers = {"a": "a word"}

    job = await engine.run("Who?", confidence_threshold="0.2")

    assert (job.status, job.replans) == ("done", 0)


@pytest.mark.conformance("KPI-07")
@pytest.mark.long
async def test_a_value_of_another_type_is_a_failure_that_is_named(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    year = lookup_task("T1", query="a", yields="year", kind=EntityType.INTEGER)
    players.plan = plan(year, final_task("T2").model_copy(update={"depends_on": ("T1",)}))
    players.continuations = [plan(lookup_task("T1a", query="b"), final_task("T2a", "T1a"))]
    answers = iter([extractor_script("unknown", 0.9), extractor_script("word", 0.9)])
    players.parts["extractor"] = lambda asked: next(answers)(asked)
    tools.answers = {"a": "unknown year", "b": "a word"}

    job = await engine.run("When?")

    assert "'year' has not its declared type" in players.tasks(REPLANNER)[0]["feedback"]
    assert job.status == "done"


@pytest.mark.conformance("KPI-08")
async def test_a_long_response_is_extracted_in_chunks_side_by_side_and_the_best_wins(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    pages = [f"Page {n}. " + "Some words stand here. " * 600 for n in range(3)]
    tools.answers = {"a": "\n\n".join([*pages, "The keeper was Ada Brink."])}

    def part(asked: ReceivedRequest) -> ScriptedReply:
        text = " ".join(fragment["text"] for fragment in asked.task["response"])
        found = {"name": "value", "value": None, "confidence": 0.95}
        if "Ada Brink" in text:
            quote = "The keeper was Ada Brink."
            found = {"name": "value", "value": "Ada Brink", "confidence": 0.8, "quote": quote}
        elif "Page 0" in text:
            found = {"name": "value", "value": "Some words", "confidence": 0.3}
        return ScriptedReply.of({"entities": [found], "confidence": 0.9, "summary": ""}, delay=0.2)

    players.parts["extractor"] = part

    job = await engine.run("Who?")

    assert players.count(EXTRACTOR) >= 3
    assert model.most_at_once >= 2
    entities = {task.id: task.entities for task in job.tasks}
    assert entities["T1"] == {"value": "Ada Brink"}
    assert entities["T2"] == {"final_answer": "Ada Brink"}


@pytest.mark.conformance("KPI-08")
async def test_a_list_keeps_the_items_of_all_chunks_each_with_its_quote(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    films = lookup_task("T1", query="a", yields="films", kind=EntityType.ARRAY)
    players.plan = plan(films, final_task("T2").model_copy(update={"depends_on": ("T1",)}))
    tools.answers = {"a": "\n\n".join(f"Film {n} is hers. " + "Words. " * 250 for n in range(3))}

    def part(asked: ReceivedRequest) -> object:
        text = " ".join(fragment["text"] for fragment in asked.task["response"])
        names = [f"Film {n}" for n in range(3) if f"Film {n}" in text]
        quote = f"{names[0]} is hers." if names else ""
        found = {"name": "films", "value": names, "confidence": 0.8, "quote": quote}
        return {"entities": [found], "confidence": 0.8, "summary": ""}

    players.parts["extractor"] = part

    job = await engine.run("Which films?", chunk_tokens="300")

    assert players.count(EXTRACTOR) >= 3
    assert job.tasks[0].entities == {"films": ["Film 0", "Film 1", "Film 2"]}
    assert job.tasks[0].confidence == 0.8
    quotes = {each.quote for each in await evidence_rows.evidence_of(engine.db, job.job_id)}
    assert {f"Film {n} is hers." for n in range(3)} <= quotes


@pytest.mark.conformance("KPI-08")
@pytest.mark.parametrize(
    ("settings", "words", "calls"),
    [
        only_long({"chunk_tokens": "200"}, 180, 1),
        only_long({"chunk_tokens": "200"}, 230, 2),
        ({}, 2_800, 1),
        ({}, 3_200, 2),
    ],
)
async def test_the_border_of_chunking_is_3000_tokens_or_as_set(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    settings: dict[str, str],
    words: int,
    calls: int,
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    tools.answers = {"a": "word " * words}

    await engine.run("Who?", **settings)

    assert players.count(EXTRACTOR) == calls


@pytest.mark.conformance("KPI-05")
async def test_what_cannot_be_resolved_fails_the_task_by_name_before_any_call(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    first = lookup_task("T1", query="a").model_copy(
        update={
            "expects": (ExpectedEntity(name="name"), ExpectedEntity(name="alias", required=False))
        }
    )
    second = lookup_task("T2", "T1", query=f"about {result_reference('T1', 'alias')}")
    players.plan = plan(first, second, final_task("T3", "T2"))
    players.continuations = [
        plan(
            lookup_task("T2a", "T1", query=result_reference("T1", "name")), final_task("T3a", "T2a")
        )
    ]

    def part(asked: ReceivedRequest) -> object:
        names = {entity["name"] for entity in asked.task["entities"]}
        found = [{"name": name, "value": None if name == "alias" else "Ada"} for name in names]
        return {"entities": found, "confidence": 0.9, "summary": ""}

    players.parts["extractor"] = part
    tools.answers = lambda argument: f"Ada on {argument}"

    job = await engine.run("Who?")

    assert tools.called == [("wikipedia_search", "a"), ("wikipedia_search", "Ada")]
    assert "'T1.alias' points to nothing" in players.tasks(REPLANNER)[0]["feedback"]
    assert job.status == "done"
    calls = await job_queries.job_calls(engine.db, job.job_id)
    assert not [call for call in calls if call.task == "T2"]


@pytest.mark.conformance("HZN-06")
async def test_the_same_call_again_is_not_executed_and_the_model_is_told(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1", query="same"),
        lookup_task("T2", "T1", query="same"),
        final_task("T3", "T1", "T2"),
    )
    tools.answers = {"same": "one answer"}

    job = await engine.run("Who?")

    assert tools.called == [("wikipedia_search", "same")]
    assert (job.repeated_calls, job.calls.tool) == (1, 1)
    notes = [given["note"] for given in players.tasks(EXTRACTOR)]
    assert notes[0] == ""
    assert "was called with these arguments before" in notes[1]


@pytest.mark.conformance("VMAO-02")
@pytest.mark.long
async def test_results_of_dependencies_are_shown_only_where_the_task_asks_for_them(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    blind = final_task("T3", "T1").model_copy(
        update={"id": "T2", "expects": (ExpectedEntity(name="note"),), "inputs": ()}
    )
    seeing = final_task("T3", "T1", "T2").model_copy(update={"include_context": True, "inputs": ()})
    players.plan = plan(lookup_task("T1", query="a"), blind, seeing)
    tools.answers = {"a": "Ada"}

    await engine.run("Who?")

    first, second = players.tasks(REASONER)
    assert first["context"] == []
    assert {(given["name"], given["value"]) for given in second["context"]} == {
        ("T1.value", "Ada"),
        ("T2.note", "so"),
    }


@pytest.mark.conformance("VMAO-02")
async def test_at_most_three_tasks_run_at_once_and_a_freed_slot_is_refilled(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    names = [f"T{n}" for n in range(1, 8)]
    players.plan = plan(
        *(lookup_task(name, query=name) for name in names), final_task("T9", *names)
    )
    slow = {"T1"}

    def part(asked: ReceivedRequest) -> ScriptedReply:
        delay = 1.2 if asked.task["arguments"]["query"] in slow else 0.15
        return ScriptedReply.of(extractor_script("found", 0.9)(asked), delay=delay)

    players.parts["extractor"] = part
    tools.answers = lambda argument: f"found {argument}"

    job = await engine.run("Who?")

    assert model.most_at_once == 3
    log = await job_queries.events_after(engine.db, job.job_id, 0)
    order = [(event.kind, event.task) for event in log]
    assert order.index(("task.started", "T4")) < order.index(("task.done", "T1"))


async def test_a_tool_that_found_nothing_fails_the_task_without_asking_the_model(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.continuations = [plan(lookup_task("T1a", query="b"), final_task("T2a", "T1a"))]
    tools.answers = {"a": "  ", "b": "found"}

    job = await engine.run("Who?")

    assert "found nothing for these arguments" in players.tasks(REPLANNER)[0]["feedback"]
    assert players.count(EXTRACTOR) == 1
    assert job.status == "done"


async def test_a_quote_that_nobody_wrote_makes_a_value_weak(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.continuations = [plan(final_task("T2a"))]
    players.parts["extractor"] = extractor_script(
        "Napoleon", 0.99, quote="It was Napoleon himself."
    )
    tools.answers = {"a": "a page on lighthouses"}

    job = await engine.run("Who?")

    failure = next(task.failure for task in job.tasks if task.id == "T1")
    assert failure is not None
    assert failure["weak"] == ["value"]


def test_inputs_need_no_reference_to_be_valid() -> None:
    assert TaskInput(name="x", value=None).type is EntityType.STRING


@pytest.mark.parametrize(("written", "calls"), [("Home County", 1), ("country", 2)])
@pytest.mark.long
async def test_a_name_in_another_case_is_taken_and_an_unknown_one_goes_back_once(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, written: str, calls: int
) -> None:
    players.plan = plan(lookup_task("T1", query="a", yields="home_county"), final_task("T2"))
    tools.answers = {"a": "Waconia is in Carver County."}

    def extractor(asked: ReceivedRequest) -> object:
        name = "home_county" if asked.is_correction else written
        entity = {"name": name, "value": "Carver County", "confidence": "95%", "quote": ""}
        return ScriptedReply.lax({"entities": [entity], "confidence": 95, "summary": "found"})

    players.parts["extractor"] = extractor

    job = await engine.run("Where?")

    assert job.status == "done"
    assert players.count(EXTRACTOR) == calls
    assert players.count(REPLANNER) == 0


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(("is_found", "replans"), [(True, 0), (False, 1)])
async def test_an_entity_that_is_left_out_goes_back_once(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    *,
    is_found: bool,
    replans: int,
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.continuations = [plan(final_task("T2a"))]
    tools.answers = {"a": "Waconia is in Carver County."}

    def extractor(asked: ReceivedRequest) -> object:
        entity = {"name": "value", "value": "Carver County", "confidence": 0.95}
        is_given = asked.is_correction and is_found
        return {"entities": [entity] if is_given else [], "summary": "no county is named"}

    players.parts["extractor"] = extractor

    job = await engine.run("Where?")

    assert (job.status, job.replans) == ("done", replans)
    first, second = players.asked["extractor"]
    assert not first.is_correction
    assert "'value' in `entities` is left out" in second.turns[-1]["content"]


LINES = ExpectedEntity(name="value", type=EntityType.ARRAY, description="the lines that closed")


def lines_script(*names: str) -> object:
    """An extractor that quotes one sentence for all these names."""
    quote = "The Brannick line closed."
    entity = {"name": "value", "value": list(names), "confidence": 0.9, "quote": quote}
    return lambda _: {"entities": [entity], "confidence": 0.9, "summary": "found"}


async def test_each_element_of_a_list_is_evidence_with_the_sentence_that_shows_it(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1").model_copy(update={"expects": (LINES,)}), final_task("T2")
    )
    players.parts["extractor"] = lines_script("Brannick", "Ellerhow")
    tools.answers = lambda _: "The Brannick line closed. It rained. The Ellerhow line closed too."

    job = await engine.run("Which?")

    assert job.status == "done"
    evidence = await evidence_rows.evidence_of(engine.db, job.job_id)
    assert {each.quote for each in evidence if each.entity == "value"} == {
        "The Brannick line closed.",
        "The Ellerhow line closed too.",
    }


@pytest.mark.conformance("KPI-07")
async def test_a_name_in_a_list_that_the_response_does_not_have_makes_the_list_weak(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1").model_copy(update={"expects": (LINES,)}), final_task("T2", "T1")
    )
    players.continuations = [plan(final_task("T2a"))]
    players.parts["extractor"] = lines_script("Brannick", "Skerra Ferry Trust")
    tools.answers = lambda _: "The Brannick line closed. It rained. The Ellerhow line closed too."

    job = await engine.run("Which?")

    failure = next(task.failure for task in job.tasks if task.id == "T1")
    assert failure is not None
    assert failure["weak"] == ["value"]
    (told,) = players.tasks(REPLANNER)
    assert "Not in the response: Skerra Ferry Trust." in told["feedback"]
