"""Tests that a secret in the worker's environment is found nowhere after a job."""

import asyncio
import io
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from sqlalchemy import inspect, text
from temporalio.client import Client

from holdfast.configuration.json_logs import configure_logs
from holdfast.models.plans.research_plan import Task, TaskInput
from tests.engine.views.test_workflow_history import history_payloads
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.services.command_shell import CommandShell
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

# None of them looks like one: what hides them knows the values, and guesses nothing.
KEY = "walnut-drawer-seventeen"
ENV = 'heron"under\\the-bridge'
HEADER = "copper-kettle-thirty"
LEAKY = str(Path("tests/servers/secret_leaking_server.py").absolute())
PLANTED = (KEY, ENV, HEADER)


@pytest.fixture
def log_lines() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    lines = io.StringIO()
    configure_logs("DEBUG", stream=lines)
    yield lines
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def _task(name: str, called: str, parameter: str, *after: str) -> Task:
    inputs = (TaskInput(name=parameter, value="the lamp"),)
    return lookup_task(name, *after).model_copy(update={"tool": called, "inputs": inputs})


@pytest.mark.conformance("SAF-04")
async def test_planted_secrets_are_found_nowhere_after_jobs_that_met_them_everywhere(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
    players: ScriptedRoles,
    monkeypatch: pytest.MonkeyPatch,
    log_lines: io.StringIO,
) -> None:
    monkeypatch.setenv("LEAKY_SECRET", ENV)
    monkeypatch.setenv("STOLEN", KEY[::-1])
    monkeypatch.setenv("GIVEN", f"Bearer {HEADER}")
    command = json.dumps([sys.executable, LEAKY])
    toml = (
        f'[servers.leaky]\ncommand = {command}\nenv = ["LEAKY_SECRET", "STOLEN"]\n'
        f'[servers.far]\nurl = "{tools.url}"\nheaders_env = {{ Authorization = "GIVEN" }}\n'
    )
    tools.answers = lambda key: f"{key}: you sent me {HEADER} as Bearer {HEADER}."
    players.plan = plan(
        _task("T1", "leaky.tell", "words"),
        _task("T2", "far.lookup", "key"),
        _task("T4", "leaky.draw", "words"),
        final_task("T3", "T1"),
    )
    extractor = players._extractor

    def _extract(asked: ReceivedRequest) -> ScriptedReply:
        # The endpoint repeats the key that was sent to it, in an answer that is otherwise right.
        said = dict(extractor(asked))  # type: ignore[call-overload]  # a dict, as written there
        return ScriptedReply.of(said | {"summary": f"you sent {asked.headers['authorization']}"})

    players.parts["extractor"] = _extract
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, toml=toml, key=KEY
    ) as engine:
        good = await engine.run("Who lit it?")
        assert good.status == "done", good.message
        # A tool's error that repeats its key, and then a body of 401 that repeats the endpoint's.
        players.plan = plan(_task("T1", "leaky.fail", "words"), final_task("T2", "T1"))
        players.parts["replanner"] = lambda asked: ScriptedReply(
            status=401, error={"message": f"Incorrect API key provided: {KEY}"}
        )
        bad = await engine.run("Who put it out?")
        assert (bad.status, bad.stop_reason) == ("failed", "model_refused")
        seen = await _everything(engine, [good.job_id, bad.job_id])
        with HttpService(engine.holdfast) as service:
            for path in ("/jobs", f"/jobs/{good.job_id}", f"/jobs/{good.job_id}/report"):
                answer = await service.get(path)
                assert answer.status_code == 200, path
                seen[f"api {path}"] = answer.text
    logging.getLogger("a.library").warning("sending %s", {"x": [HEADER]}, exc_info=OSError(ENV))
    seen["log"] = log_lines.getvalue()
    seen |= await asyncio.to_thread(_printed, tmp_path, database_url, [good.job_id, bad.job_id])

    assert f"Incorrect API key provided: {'*' * len(KEY)}" in seen["table model_calls"]
    assert "a.library" in seen["log"]
    assert f"drawn with {'*' * len(KEY)}" in seen["table sources"]
    assert "An image was left out: it contains a secret" in seen["table tool_calls"]
    assert f"the lamp by {'*' * len(ENV)}" in seen["table figures"]
    assert f"with {'*' * len(ENV)}" in seen[f"page {good.job_id}"]
    stars = "*" * len(ENV)
    assert f"found with the key {stars}, said" in seen["table sources"]
    assert f"the key {stars} has expired" in seen["table tool_calls"]
    assert f"the key {stars} has expired" in seen[f"events {bad.job_id}"]
    for place, found in seen.items():
        for secret in PLANTED:
            for form in (secret, json.dumps(secret)[1:-1], json.dumps(json.dumps(secret)[1:-1])):
                assert form.strip('"') not in found, f"{secret} is in {place}"


async def _everything(engine: RunningEngine, job_ids: list[str]) -> dict[str, str]:
    """All that is stored of the jobs, by where it is."""
    seen = {}
    async with engine.db.reading() as connection:
        names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
        for name in names:
            rows = await connection.execute(text(f'select t::text from "{name}" as t'))
            seen[f"table {name}"] = "\n".join(rows.scalars())
    for job_id in job_ids:
        history = await engine.temporal.get_workflow_handle(job_id).fetch_history()
        events = history.to_json()
        inside = b"\n".join(history_payloads(json.loads(events))).decode("utf-8", "replace")
        seen[f"history {job_id}"] = events + inside
    assert len(seen) > 20
    return seen


def _printed(folder: Path, database_url: str, job_ids: list[str]) -> dict[str, str]:
    """What commands print of the jobs, and what they say when they fail."""
    (folder / "home").mkdir()
    here = CommandShell(folder / "home", folder)
    reach = {"HOLDFAST_DATABASE_URL": database_url, "OPENAI_API_KEY": KEY, "LEAKY_SECRET": ENV}
    reach |= {"TEMPORAL_ADDRESS": "127.0.0.1:1"}
    good, bad = job_ids
    seen = {}
    page = ("page", "report", good, "--format", "html")
    for name, *words in (
        ("events", "events", bad),
        ("calls", "calls", bad, "--json"),
        ("report", "report", good),
        page,
        ("source", "source", "1"),
    ):
        ran = here.holdfast(*words, **reach)
        assert ran.code == 0, ran.err
        seen[f"{name} {words[1]}"] = ran.out + ran.err
    return seen
