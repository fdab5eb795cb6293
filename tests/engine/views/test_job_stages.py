"""Tests that a job shows what each stage spent, and why the next was needed (MOD-06)."""

import pytest

from holdfast.cli.render.event_lines import progress_line
from holdfast.cli.render.job_lines import job_lines
from holdfast.cli.render.status_lines import status_lines
from holdfast.jobs.current_status import status_of
from holdfast.jobs.job_lookup import report_of
from holdfast.models.views.job_views import JobView
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_json, to_markdown
from holdfast.storage.views.job_queries import events_after
from tests.support.endpoints.loop_script import answer, search, sentence
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("MOD-06")]

QUESTION = "In which city was the designer of the Teal Bridge born?"
BRIDGE = "The Teal Bridge was designed by Ada Lindqvist."
BIRTH = "Ada Lindqvist was born in Malmo."
LOOK = "Find the birthplace of Ada Lindqvist in the parish records"
OPEN = "where Ada Lindqvist was born"
WHY_PLANNED = f"The first try left 1 question open: {OPEN}."
DESIGNED = sentence("Ada Lindqvist designed the Teal Bridge.", 1, BRIDGE)


@pytest.fixture(autouse=True)
def _pages(tools: ScriptedTools, players: ScriptedRoles) -> None:
    pages = {QUESTION: BRIDGE, "Teal Bridge": BRIDGE, LOOK: BIRTH}
    tools.answers = lambda query: pages.get(query, "")
    players.plan = plan(agent_task("T1", about=LOOK, yields="birthplace"))


async def run_research(engine: RunningEngine) -> JobView:
    return await engine.run(QUESTION, preset_name="research", servers=("lab",))


async def test_a_job_that_is_planned_after_its_loop_shows_every_stage(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[search("Teal Bridge")], [answer("", DESIGNED, open=[OPEN])]]

    job = await run_research(engine)
    status = await status_of(engine.holdfast, job.job_id)
    report = await report_of(engine.holdfast, job.job_id)

    stages = {each.name.value: each for each in job.stages}
    assert list(stages) == ["loop", "plan", "work", "verify", "report"]
    assert stages["loop"].tool_calls == 2
    assert stages["plan"].why == WHY_PLANNED
    assert all(stage.model_calls and stage.input_tokens for stage in job.stages)
    assert sum(stage.model_calls for stage in job.stages) == job.calls.model
    assert sum(stage.tool_calls for stage in job.stages) == job.calls.tool
    assert sum(stage.input_tokens for stage in job.stages) == job.tokens.input
    assert stages["loop"].seconds > 0
    assert status.stages == report.stages == job.stages
    lines = [*job_lines(job), *status_lines(status)]
    assert (
        sum(line.startswith("stage:    planning: 1 model call, 0 tool calls, ") for line in lines)
        == 2
    )
    assert sum(line.strip() == WHY_PLANNED for line in lines) == 2
    assert "- Planning: 1 call, " in to_markdown(report)
    assert WHY_PLANNED in to_html(report)
    assert to_json(report)["stages"]
    entries = await events_after(engine.db, job.job_id, 0)
    progress = [progress_line(entry, job) for entry in entries]
    assert f"  loop     leaves the rest to a plan: not found: {OPEN}" in progress


async def test_a_question_that_the_loop_answers_shows_no_stages_in_its_report(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.turns = [[answer("Ada Lindqvist", DESIGNED)]]

    job = await run_research(engine)
    report = await report_of(engine.holdfast, job.job_id)

    assert [stage.name.value for stage in job.stages] == ["loop", "report"]
    assert job.stages[0].model_calls == job.calls.model
    assert "stage:    writing the report: no calls" in job_lines(job)
    assert "How it was made" not in to_markdown(report) + to_html(report)
