"""Tests for `/metrics`, and for the figures that a worker serves itself."""

import json
import re
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text

from holdfast.storage.views.metric_queries import installation_figures
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("OPS-05")]

DEPLOY = Path(__file__).parents[3] / "deploy/observability"


def parsed(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """The samples by name."""
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for sample in samples:
        found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


async def test_the_server_serves_the_figures_that_dashboard_and_alerts_use(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="q1"), final_task("T2", "T1"))
    tools.answers = lambda argument: f"found {argument}"
    view = await engine.run("Who keeps the light?")
    with HttpService(engine.holdfast) as serving:
        async with httpx2.AsyncClient(base_url=serving.url, trust_env=False) as plain:
            refused = await plain.get("/metrics")
            key = {"Authorization": f"Bearer {serving.token}"}
            shown = await plain.get("/metrics", headers=key)

    figures = parsed(shown.text)
    assert refused.status_code == 401
    assert shown.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert figures["holdfast_database_up"] == [({}, 1.0)]
    assert figures["holdfast_jobs"] == [({"status": "done", "stop_reason": "answered"}, 1.0)]
    paid = sum(value for _, value in figures["holdfast_model_input_tokens_total"])
    assert paid == view.tokens.input
    assert paid > 0
    assert sum(value for _, value in figures["holdfast_tool_sends_total"]) == 1
    assert "light" not in shown.text
    served = set(re.findall(r"^# TYPE (holdfast_\w+)", shown.text, re.MULTILINE))
    for file in ("grafana-dashboard.json", "alerts.yaml"):
        named = set(re.findall(r"holdfast_\w+", (DEPLOY / file).read_text()))
        assert named, file
        assert named <= served, file


async def test_copies_of_a_fork_and_calls_of_an_import_count_for_nothing(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="q1"), final_task("T2", "T1"))
    tools.answers = lambda argument: f"found {argument}"
    job_id = (await engine.run("Who keeps the light?")).job_id

    async def counted() -> set[str]:
        figures = await installation_figures(engine.db)
        named = {f"holdfast_{kind}_calls_total" for kind in ("model", "tool")}
        return {f.name for f in figures if f.name in named and f.samples}

    before = await counted()
    async with engine.db.engine.begin() as connection:
        await connection.execute(text("update tool_calls set origin_call_id = 1"))
    copied = await counted()
    async with engine.db.engine.begin() as connection:
        imported = text("update jobs set imported = '{}' where id = :job")
        await connection.execute(imported, {"job": job_id})

    assert len(before) == 2
    assert copied == {"holdfast_model_calls_total"}
    assert await counted() == set()


def test_every_alert_has_a_part_in_the_runbook() -> None:
    page = (DEPLOY.parents[1] / "docs/metrics.md").read_text()
    alerts = re.findall(r"alert: (\w+)", (DEPLOY / "alerts.yaml").read_text())

    assert len(alerts) >= 5
    assert [name for name in alerts if f"### {name}\n" not in page] == []
    assert json.loads((DEPLOY / "grafana-dashboard.json").read_text())["panels"]
