"""Tests for the preset `full-horizon`: the whole plan in one call, and tools without the model in
between."""

import pytest

from holdfast.roles.planning.planner import PLANNER
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.storage.evidence.evidence_rows import load_report
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan, result_reference
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


@pytest.mark.conformance("HZN-01")
async def test_one_planner_call_then_tools_run_without_the_model_in_between(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    chain = [lookup_task("T1", query="a")]
    chain += [
        lookup_task(f"T{n}", f"T{n - 1}", query=f"{result_reference(f'T{n - 1}')}+")
        for n in range(2, 6)
    ]
    players.plan = plan(*chain, final_task("T6", "T5"))
    tools.answers = lambda argument: f"{argument}!"

    job = await engine.run("How far?", preset_name="full-horizon")

    assert job.answer == "a!+!+!+!+!"
    assert (players.count(PLANNER), players.count(EXTRACTOR)) == (1, 0)
    assert [asked.plays(PLANNER) for asked in model.asked][:1] == [True]
    assert len(model.asked) == 3, "planner, final reasoning, report"
    report = await load_report(engine.db, job.job_id)
    assert report is not None
    assert report.citations


@pytest.mark.conformance("HZN-01")
@pytest.mark.parametrize(("length", "extractions"), [(100, 0), (5_000, 1)])
async def test_a_long_page_is_read_before_it_becomes_the_next_query(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    length: int,
    extractions: int,
) -> None:
    page = "The light was designed by Ada. ".ljust(length, "x")
    await engine.add_document("lights", page)
    search = lookup_task("T1", query="light").model_copy(update={"tool": "corpus.search"})
    players.plan = plan(
        search, lookup_task("T2", "T1", query=result_reference("T1")), final_task("T3", "T2")
    )
    players.parts["extractor"] = extractor_script("Ada", 0.9)
    tools.answers = lambda argument: "Malmo"

    job = await engine.run("Where was she born?", preset_name="full-horizon", collection="lights")

    assert job.answer == "Malmo", job.message
    assert players.count(EXTRACTOR) == extractions
    ((_, query),) = tools.called
    assert query == "Ada" if extractions else query.startswith("The light was designed by Ada.")


@pytest.mark.conformance("HZN-03")
async def test_what_the_reader_of_a_long_page_made_up_is_no_result(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    await engine.add_document("lights", "The light was designed by Ada. ".ljust(5_000, "x"))
    search = lookup_task("T1", query="light").model_copy(update={"tool": "corpus.search"})
    players.plan = plan(search, final_task("T2", "T1"))
    players.continuations = [plan(lookup_task("T1a", query="full"), final_task("T2a", "T1a"))]
    players.parts["extractor"] = extractor_script("Bea", 0.9, quote="It was designed by Bea.")
    tools.answers = {"full": "Brink"}

    job = await engine.run("Who?", preset_name="full-horizon", collection="lights")

    (told,) = players.tasks(REPLANNER)
    assert (told["replaced"], job.answer) == (["T1", "T2"], "Brink")


@pytest.mark.conformance("HZN-03")
async def test_a_call_without_a_valid_result_leads_to_replanning_as_well(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="empty"), final_task("T2", "T1"))
    players.continuations = [plan(lookup_task("T1a", query="full"), final_task("T2a", "T1a"))]
    tools.answers = {"empty": "  ", "full": "Brink"}

    job = await engine.run("Who?", preset_name="full-horizon")

    (told,) = players.tasks(REPLANNER)
    assert "found nothing for these arguments" in told["feedback"]
    assert (told["replaced"], job.answer) == (["T1", "T2"], "Brink")


@pytest.mark.conformance("HZN-03")
async def test_only_a_failed_call_leads_to_replanning_of_all_that_remains(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"),
        lookup_task("T2", "T1", query="none"),
        lookup_task("T3", "T1", query="c", priority=1),
        final_task("T4", "T2", "T3"),
    )
    players.continuations = [plan(lookup_task("T2a", "T1", query="b"), final_task("T4a", "T2a"))]
    tools.answers = {"a": "Ada", "b": "Brink", "c": "Cora"}

    job = await engine.run("Who?", preset_name="full-horizon", slots="1")

    (given,) = players.tasks(REPLANNER)
    assert given["replaced"] == ["T2", "T3", "T4"]
    assert "no page for 'none'" in given["feedback"]
    assert job.answer == "Brink"
    assert ("wikipedia_search", "c") not in tools.called


@pytest.mark.conformance("HZN-04")
@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"max_tool_calls": "2"}, "tool_call_limit"), ({"max_replans": "1"}, "retry_limit")],
)
async def test_reaching_a_limit_is_a_stop_with_that_reason(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    settings: dict[str, str],
    reason: str,
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"),
        lookup_task("T2", "T1", query="b"),
        lookup_task("T3", "T2", query="none"),
        final_task("T4", "T3"),
    )
    players.continuations = [
        plan(lookup_task(f"T3{n}", "T2", query=f"none {n}"), final_task(f"T4{n}", f"T3{n}"))
        for n in "abc"
    ]
    tools.answers = {"a": "Ada", "b": "Brink"}

    job = await engine.run("Who?", preset_name="full-horizon", **settings)

    assert (job.status, job.stop_reason) == ("failed", reason)
    assert {task.id: task.status for task in job.tasks}["T2"] == "done"
    assert job.message


@pytest.mark.conformance("HZN-04")
def test_the_limits_of_the_paper_are_the_presets() -> None:
    from holdfast.planning.strategies.strategy_presets import preset

    strategy = preset("full-horizon").strategy

    assert (strategy.max_tool_calls, strategy.max_replans) == (30, 8)
