"""Tests for jobs that compute over their results and draw a chart that the report shows."""

import json
import re
from typing import Any

import pytest
from sqlalchemy import text

from holdfast.client import Holdfast
from holdfast.jobs.job_lookup import report_of
from holdfast.models.calls.tool_figures import SVG
from holdfast.models.evidence.evidence import Report
from holdfast.models.plans.research_plan import (
    EntityType,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
)
from holdfast.reports.figure_export import (
    load_figure_images,
    to_standalone_html,
    write_report_folder,
)
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER
from tests.engine.views.test_workflow_history import history_payloads, load_workflow_history
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import (
    agent_task,
    final_task,
    lookup_task,
    plan,
    result_reference,
)
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

FILING = "Acme's revenue was EUR 2 m in 2022, EUR 3 m in 2023 and EUR 4.5 m in 2024."
REVENUES = [{"year": 2022, "eur_m": 2}, {"year": 2023, "eur_m": 3}, {"year": 2024, "eur_m": 4.5}]
CODE = "first, last = rows[0], rows[-1]\n(last['eur_m'] / first['eur_m'] - 1) * 100"


def call(task_id: str, name: str, yields: str, of: EntityType, **inputs: Any) -> Task:
    given = tuple(TaskInput(name=key, value=value) for key, value in inputs.items())
    needs = tuple(dict.fromkeys(re.findall(r"<JSON_PATH>(T\d+)", str(inputs))))
    expects = (ExpectedEntity(name=yields, type=of),)
    return Task(
        id=task_id,
        kind=TaskKind.TOOL,
        description=f"get {yields}",
        tool=name,
        inputs=given,
        expects=expects,
        depends_on=needs,
    )


def chart(task_id: str, rows: object) -> Task:
    return call(
        task_id,
        "charts.draw",
        "chart",
        EntityType.STRING,
        kind="line",
        data=rows,
        x="year",
        y="eur_m",
        title="Acme's revenue more than doubled",
        y_title="Revenue (EUR m)",
        caption="Its filings",
    )


def computing() -> Plan:
    rows = result_reference("T1", "revenues")
    return plan(
        lookup_task("T1", query="Acme revenue", yields="revenues", kind=EntityType.ARRAY),
        call("T2", "python.run", "growth", EntityType.NUMBER, code=CODE, inputs={"rows": rows}),
        chart("T3", rows),
        final_task("T4", "T2", "T3").model_copy(
            update={
                "inputs": (
                    TaskInput(
                        name="growth", value=result_reference("T2", "growth"), is_reference=True
                    ),
                )
            }
        ),
    )


def extractor(asked: ReceivedRequest) -> object:
    (entity,) = asked.task["entities"]
    read = asked.task["response"][0]["text"]
    found: dict[str, tuple[object, str]] = {
        "revenues": (REVENUES, FILING),
        "growth": (float(read.removeprefix("result = ")) if "result =" in read else 0, read),
        "chart": (read.splitlines()[0], read.splitlines()[0]),
    }
    value, quote = found[entity["name"]]
    one = {"name": entity["name"], "value": value, "confidence": 0.95, "quote": quote}
    return {"entities": [one], "confidence": 0.95, "summary": "read"}


@pytest.fixture(autouse=True)
def _answering(tools: ScriptedTools, players: ScriptedRoles) -> None:
    tools.answers = lambda _: FILING
    players.parts["extractor"] = extractor


async def the_report(engine: RunningEngine, job_id: str) -> Report:
    return await report_of(engine.holdfast, job_id)


@pytest.mark.conformance("BEY-04", "KPI-06")
async def test_a_job_computes_on_references_and_its_report_shows_the_chart(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tmp_path: Any
) -> None:
    players.plan = computing()

    job = await engine.run("How fast did Acme grow?")

    assert job.status == "done", job.message
    report = await the_report(engine, job.job_id)
    (growth,) = [each for each in report.citations if each.address == "tool:python.run"]
    assert growth.quote == "result = 125.0"
    assert growth.code == CODE
    assert growth.inputs.startswith('rows = [{"year": 2022')
    assert f"computed by: {CODE.splitlines()[0]} " in to_markdown(report).replace("\\[", "[")
    assert any(growth.mark in each.marks for each in report.findings)
    (figure,) = report.figures
    assert (figure.title, figure.caption) == ("Acme's revenue more than doubled", "Its filings")
    assert (figure.task, figure.tool) == ("T3", "charts.draw")
    assert [each.media_type for each in figure.forms] == ["image/png", SVG]
    await _is_shown_everywhere(engine.holdfast, job.job_id, report, tmp_path)
    await _went_nowhere_else(engine, job.job_id, model)


async def _is_shown_everywhere(
    holdfast: Holdfast, job_id: str, report: Report, folder: Any
) -> None:
    (figure,) = report.figures
    assert f"![Acme's revenue more than doubled](figure:{figure.id})" in to_markdown(report)
    images = await load_figure_images(holdfast, job_id, report, all_forms=True)
    assert '<img src="data:image/png;base64,iVBOR' in to_standalone_html(report, images)
    files = write_report_folder(folder / "out", report, images)
    assert {each.name for each in files} == {
        "report.md",
        "report.html",
        f"{figure.id}.png",
        f"{figure.id}.svg",
    }
    shown = f"![Acme's revenue more than doubled](figures/{figure.id}.png)"
    assert shown in (folder / "out/report.md").read_text()
    assert (folder / f"out/figures/{figure.id}.png").read_bytes()[:4] == b"\x89PNG"
    with HttpService(holdfast) as serving:
        for form in figure.forms:
            got = await serving.get(f"/jobs/{job_id}/figures/{form.sha256}")
            assert got.status_code == 200
            assert got.content == images[form.sha256].data
            assert got.headers["content-type"].split(";")[0] == form.media_type
            assert "sandbox" in got.headers["content-security-policy"]
            assert got.headers["x-content-type-options"] == "nosniff"
            assert got.headers["content-disposition"].startswith("inline")
        for odd in ("0" * 64, "..%2f..%2fetc", "x"):
            assert (await serving.get(f"/jobs/{job_id}/figures/{odd}")).status_code == 404
        assert (await serving.get(f"/jobs/other/figures/{form.sha256}")).status_code == 404


async def _went_nowhere_else(engine: RunningEngine, job_id: str, model: ScriptedModel) -> None:
    """The bytes are in no prompt, no history and no answer of the ledger."""
    history = json.loads((await load_workflow_history(engine.temporal, job_id)).to_json())
    kept = b"".join(history_payloads(history)).decode(errors="replace")
    prompts = "".join(str(asked.body) for asked in model.asked)
    assert "result = 125.0" in prompts
    for place in (kept, prompts, await _responses(engine, job_id)):
        assert "iVBOR" not in place
        assert "<svg" not in place


async def _responses(engine: RunningEngine, job_id: str) -> str:
    query = text("select string_agg(response, ' ') from tool_calls where job_id = :job")
    async with engine.db.reading() as connection:
        return str((await connection.execute(query, {"job": job_id})).scalar_one())


@pytest.mark.long
async def test_a_call_that_is_made_twice_draws_once_and_is_shown_once(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    ended = (TaskInput(name="c", value=result_reference("T2", "chart"), is_reference=True),)
    players.plan = plan(
        chart("T1", REVENUES),
        chart("T2", REVENUES).model_copy(update={"depends_on": ("T1",)}),
        final_task("T3", "T1", "T2").model_copy(update={"inputs": ended}),
    )

    job = await engine.run("Draw it twice", max_identical_calls=3)

    assert job.status == "done", job.message
    (figure,) = (await the_report(engine, job.job_id)).figures
    assert len(figure.forms) == 2


@pytest.mark.conformance("VMAO-05")
@pytest.mark.long
async def test_an_agent_that_draws_is_offered_charts_by_default_and_its_step_is_shown(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(
        agent_task("T1", about="Draw the revenue", agent="visualization", yields="final_answer")
    )

    def stepper(asked: ReceivedRequest) -> object:
        if not asked.task["trace"]:
            inputs = [{"name": g.name, "value": g.value} for g in chart("T1", REVENUES).inputs]
            return {
                "calls": [{"tool": "charts.draw", "inputs": inputs, "expects": [{"name": "chart"}]}]
            }
        value = asked.task["trace"][-1]["found"]["chart"]
        return {"outputs": [{"name": "final_answer", "value": value, "confidence": 0.9}]}

    players.parts["stepper"] = stepper
    players.parts["assessor"] = lambda asked: (
        {
            "status": "completed",
            "outputs": [{"name": "final_answer", "value": "<JSON_PATH>T1.1.chart</JSON_PATH>"}],
        }
    )

    job = await engine.run("Draw Acme's revenue", preset_name="tdp")

    assert job.status == "done", job.message
    offered = {each["name"]: each for each in players.tasks(AGENT_TASK_PLANNER)[0]["agents"]}
    assert offered["visualization"]["tools"] == ["charts.draw"]
    assert offered["raw_data"]["tools"] == ["python.run"]
    (figure,) = (await the_report(engine, job.job_id)).figures
    assert (figure.task, figure.tool) == ("T1.1", "charts.draw")
