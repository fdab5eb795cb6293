"""Tests that run the examples of docs/python.md against an installation of their own."""

import ast
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from holdfast.services.service_lifecycle import stop_services
from holdfast.settings import Settings
from tests.support.documentation.pages import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
TEN_LINES = 10


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder whose services `Client.local()` starts, and a folder of papers."""
    for name in os.environ:
        if name.startswith(("HOLDFAST_", "OPENAI_", "TEMPORAL_")):
            monkeypatch.delenv(name)
    shutil.copytree(ROOT / "holdfast" / "demo" / "collection", tmp_path / "papers")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "home"
    stop_services(Settings(home=tmp_path / "home"))


def shown(block: str, names: dict[str, Any]) -> Any:
    """Run a block; return the value of its last line, as a notebook shows it."""
    tree = ast.parse(block)
    last = tree.body.pop()
    exec(compile(tree, "docs/python.md", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "docs/python.md", "eval"), names)
    exec(compile(ast.Module([last], []), "docs/python.md", "exec"), names)
    return None


@pytest.mark.conformance("API-06")
def test_the_examples_of_the_page_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, errors, job_cell, report_cell, several, application = BLOCKS
    assert len(first.strip().splitlines()) <= TEN_LINES + 1

    shown(first, {})
    told = capsys.readouterr().out
    shown(errors, {})
    refused = capsys.readouterr().out
    notebook: dict[str, Any] = {}
    job, report = shown(job_cell, notebook), shown(report_cell, notebook)
    notebook["client"].close()
    answers: dict[str, Any] = {}
    shown(several, answers)
    served: dict[str, Any] = {}
    shown(application, served)
    with TestClient(served["app"]) as client:
        asked = {"question": "Who designed the Gannet Stair Light?"}
        jobs = [client.post("/orders/7/research", params=asked).json() for _ in range(2)]
        seen = client.get(f"/research/{jobs[0]['job']}").json()
        unknown = client.get("/research/job-of-last-year")

    assert "job.ended" in told
    assert "gannet-stair-light.md" in told
    assert "there is no job" in refused
    assert "max_cost" in refused
    assert "<table>" in job._repr_html_()
    assert "<h4>Sources</h4>" in report._repr_html_()
    assert len(answers["answers"]) == 2
    assert jobs[0] == jobs[1]
    assert seen["status"] in ("queued", "running", "done")
    assert (unknown.status_code, "there is no job" in unknown.json()["detail"]) == (404, True)
