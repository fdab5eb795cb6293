"""Tests for figures over HTTP: an SVG of another server is a download and is never displayed."""

import pytest

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.tool_figures import SVG, new_figure
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow

HOSTILE = new_figure(SVG, b"<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>", title="plot")
PNG = new_figure("image/png", b"\x89PNG\r\n\x1a\n", title="plot 2")


async def test_an_svg_of_another_server_is_a_download_in_which_nothing_runs(
    idle_engine: RunningEngine,
) -> None:
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(idle_engine.db, "job-1", request, None)
    ledger = CallLedger(idle_engine.db)
    key = CallKey(job_id="job-1", task_id="T1", request_hash="h")
    opened = await ledger.open_tool_call(key, "lab.plot", {})
    await ledger.close_tool_call(opened.row_id, ToolAnswer(text="x", figures=(HOSTILE, PNG)))

    with HttpService(idle_engine.holdfast) as serving:
        svg = await serving.get(f"/jobs/job-1/figures/{HOSTILE.sha256}")
        png = await serving.get(f"/jobs/job-1/figures/{PNG.sha256}")

    assert svg.content == HOSTILE.data
    name = f"{HOSTILE.sha256[:12]}.svg"
    assert svg.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert png.headers["content-disposition"].startswith("inline")
    for got in (svg, png):
        policy = got.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "sandbox" in policy
        assert got.headers["x-content-type-options"] == "nosniff"
