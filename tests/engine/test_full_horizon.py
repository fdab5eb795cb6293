"""`full-horizon`: the whole plan in one call, tools without the model in between."""

import pytest

from roles.extractor import EXTRACTOR
from roles.planner import PLANNER
from roles.replanner import REPLANNER
from storage.evidence import load_report
from tests.support.engine import Engine
from tests.support.plans import final, plan, ref, tool
from tests.support.players import Players
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_tools import ScriptedTools


@pytest.mark.conformance("HZN-01")
async def test_one_planner_call_then_tools_run_without_the_model_in_between(
    engine: Engine, players: Players, model: ScriptedModel, tools: ScriptedTools
) -> None:
    chain = [tool("T1", query="a")]
    chain += [tool(f"T{n}", f"T{n - 1}", query=f"{ref(f'T{n - 1}')}+") for n in range(2, 6)]
    players.plan = plan(*chain, final("T6", "T5"))
    tools.answers = lambda argument: f"{argument}!"

    job = await engine.run("How far?", preset_name="full-horizon")

    assert job.answer == "a!+!+!+!+!"
    assert (players.count(PLANNER), players.count(EXTRACTOR)) == (1, 0)
    assert [asked.plays(PLANNER) for asked in model.asked][:1] == [True]
    assert len(model.asked) == 3, "planner, final reasoning, report"
    report = await load_report(engine.db, job.job_id)
    assert report is not None
    assert report.citations


@pytest.mark.conformance("HZN-03")
async def test_only_a_failed_call_leads_to_replanning_of_all_that_remains(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    players.plan = plan(
        tool("T1", query="a"), tool("T2", "T1", query="none"), tool("T3", "T1", query="c", priority=1),
        final("T4", "T2", "T3"),
    )  # fmt: skip
    players.continuations = [plan(tool("T2a", "T1", query="b"), final("T4a", "T2a"))]
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
    engine: Engine, players: Players, tools: ScriptedTools, settings: dict[str, str], reason: str
) -> None:
    players.plan = plan(
        tool("T1", query="a"), tool("T2", "T1", query="b"), tool("T3", "T2", query="none"),
        final("T4", "T3"),
    )  # fmt: skip
    players.continuations = [
        plan(tool(f"T3{n}", "T2", query=f"none {n}"), final(f"T4{n}", f"T3{n}")) for n in "abc"
    ]
    tools.answers = {"a": "Ada", "b": "Brink"}

    job = await engine.run("Who?", preset_name="full-horizon", **settings)

    assert (job.status, job.stop_reason) == ("failed", reason)
    assert {task.id: task.status for task in job.tasks}["T2"] == "done"
    assert job.message


@pytest.mark.conformance("HZN-04")
def test_the_limits_of_the_paper_are_the_presets() -> None:
    from planning.presets import preset

    strategy = preset("full-horizon").strategy

    assert (strategy.max_tool_calls, strategy.max_replans) == (30, 8)
