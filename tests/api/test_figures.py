"""Figures over HTTP: what another server drew as SVG is handed out, and never shown."""

import pytest

from models.calls import CallKey
from models.figures import SVG, drawn
from models.jobs import JobRequest
from models.strategy import Strategy
from models.tools import ToolAnswer
from storage import jobs
from storage.ledger import Ledger
from tests.support.engine import Engine
from tests.support.serving import Serving

pytestmark = pytest.mark.slow

HOSTILE = drawn(SVG, b"<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>", title="plot")
PNG = drawn("image/png", b"\x89PNG\r\n\x1a\n", title="plot 2")


async def test_an_svg_of_another_server_is_a_download_in_which_nothing_runs(
    idle_engine: Engine,
) -> None:
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await jobs.submit(idle_engine.db, "job-1", request, None)
    ledger = Ledger(idle_engine.db)
    key = CallKey(job_id="job-1", task_id="T1", request_hash="h")
    opened = await ledger.open_tool_call(key, "lab.plot", {})
    await ledger.close_tool_call(opened.row_id, ToolAnswer(text="x", figures=(HOSTILE, PNG)))

    with Serving(idle_engine.holdfast) as serving:
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
