"""Tests that `/openapi.json` is valid, and that what is shown of a job is as it says."""

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from starlette.testclient import TestClient
from typer.main import get_command

from holdfast.api.application import build_application
from holdfast.cli.app import app as command_line
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

OPENAPI = build_application(None, None).openapi()  # type: ignore[arg-type]  # serves nothing
COMPONENTS = {"components": OPENAPI["components"]}
ROUTES = {
    "quotas set": "PUT /v1/quotas/{kind}/{subject}",
    "quotas list": "GET /v1/quotas",
    "quotas remove": "DELETE /v1/quotas/{kind}/{subject}",
    "schedules add": "POST /v1/schedules",
    "schedules list": "GET /v1/schedules",
    "schedules show": "GET /v1/schedules/{schedule}",
    "schedules pause": "POST /v1/schedules/{schedule}/pause",
    "schedules resume": "POST /v1/schedules/{schedule}/resume",
    "schedules run": "POST /v1/schedules/{schedule}/run",
    "schedules end": "DELETE /v1/schedules/{schedule}",
    "webhooks list": "GET /v1/webhooks",
    "webhooks add": "POST /v1/webhooks",
    "webhooks remove": "DELETE /v1/webhooks/{webhook}",
    "webhooks rotate": "POST /v1/webhooks/{webhook}/rotate",
    "webhooks test": "POST /v1/webhooks/{webhook}/test",
    "run": "POST /v1/jobs",
    "submit": "POST /v1/jobs",
    "list": "GET /v1/jobs",
    "show": "GET /v1/jobs/{job}",
    "status": "GET /v1/jobs/{job}/status",
    "wait": "GET /v1/jobs/{job}/wait",
    "report": "GET /v1/jobs/{job}/report",
    "figure": "GET /v1/jobs/{job}/figures/{sha256}",
    "pause": "POST /v1/jobs/{job}/pause",
    "resume": "POST /v1/jobs/{job}/resume",
    "cancel": "POST /v1/jobs/{job}/cancel",
    "retry": "POST /v1/jobs/{job}/retry",
    "compare": "GET /v1/jobs/{job}/compare/{other}",
    "update": "POST /v1/jobs/{job}/update",
    "fork": "POST /v1/jobs/{job}/fork",
    "export": "GET /v1/jobs/{job}/bundle",
    "import": "POST /v1/bundles",
    "verify": "POST /v1/bundles/check",
    "rm": "DELETE /v1/jobs/{job}",
    "prune": "POST /v1/prune",
    "erase": "POST /v1/erasures",
    "erasures": "GET /v1/erasures",
    "retract": "POST /v1/jobs/{job}/retractions",
    "source": "GET /v1/jobs/{job}/sources/{source}",
    "trace": "GET /v1/jobs/{job}/provenance/{mark}",
    "recheck": "POST /v1/jobs/{job}/recheck",
    "rederive": "GET /v1/jobs/{job}/rederivation",
    "steer": "POST /v1/jobs/{job}/steer",
    "answer": "POST /v1/jobs/{job}/questions/{question}",
    "questions": "GET /v1/jobs/{job}/questions",
    "plan": "GET /v1/jobs/{job}/plan",
    "memory": "GET /v1/jobs/{job}/memory",
    "verification": "GET /v1/jobs/{job}/verification",
    "calls": "GET /v1/jobs/{job}/calls",
    "events": "GET /v1/jobs/{job}/events",
    "stats": "GET /v1/statistics",
    "otel": "POST /v1/jobs/{job}/otel",
    "agents": "GET /v1/agents",
    "doctor": "GET /v1/doctor",
    "audit": "GET /v1/audit",
    "keys create": "POST /v1/keys",
    "keys list": "GET /v1/keys",
    "keys rotate": "POST /v1/keys/{key}/rotate",
    "keys revoke": "DELETE /v1/keys/{key}",
    "corpus add": "POST /v1/collections/{collection}/documents",
    "corpus list": "GET /v1/collections",
    "corpus search": "POST /v1/collections/{collection}/search",
    "corpus remove": "DELETE /v1/collections/{collection}/documents",
    "models list": "GET /v1/configured-models",
    "models check": "POST /v1/configured-models/check",
}
OF_THIS_COMPUTER = {
    "demo": "its documents come with the installation",
    "open": "opens a browser",
    "serve": "is the server",
    "mcp": "is another face",
    "up": "starts the server",
    "down": "stops the server",
    "backup": "writes a file of the operator's computer",
    "replay": "runs a folder of bundles of this computer, for continuous integration",
    "restore": "reads a file of the operator's computer",
    "eval": "measures presets, for developers",
}


def command_names() -> set[str]:
    names = set()
    for name, command in get_command(command_line).commands.items():  # type: ignore[attr-defined]  # is a group
        below = getattr(command, "commands", None)
        names |= {f"{name} {each}" for each in below} if below else {name}
    return names


@pytest.mark.conformance("API-01")
def test_every_command_has_a_route_or_belongs_to_the_computer() -> None:
    routes = {
        f"{method.upper()} {path}"
        for path, methods in OPENAPI["paths"].items()
        for method in methods
    }

    assert command_names() == set(ROUTES) | set(OF_THIS_COMPUTER)
    assert set(ROUTES.values()) <= routes


@pytest.mark.conformance("API-01")
def test_the_description_is_valid() -> None:
    validate(OPENAPI)

    described = [
        (path, method, answer)
        for path, methods in OPENAPI["paths"].items()
        for method, operation in methods.items()
        for answer in operation["responses"].values()
    ]
    assert [each for each in described if not each[2]["description"]] == []


def test_a_wrong_method_is_answered_with_all_methods_of_the_path() -> None:
    with TestClient(build_application(None, None)) as client:  # type: ignore[arg-type]  # serves nothing
        answer = client.patch("/v1/collections/a/documents")

    assert answer.status_code == 405
    assert answer.headers["allow"] == "DELETE, GET, POST"
    assert answer.json()["detail"].endswith("use DELETE, GET, POST")


@pytest.mark.conformance("API-01")
async def test_what_is_shown_of_a_job_keeps_to_the_description(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    job_id = (await engine.run("Who?")).job_id
    checked = set()

    with HttpService(engine.holdfast) as serving:
        for path, methods in OPENAPI["paths"].items():
            address = (
                path.format_map({"job": job_id, "other": job_id, "mark": 1})
                if _is_read(path)
                else ""
            )
            if "get" in methods and address:
                answer = await serving.get(address.removeprefix("/v1"))
                described = methods["get"]["responses"][str(answer.status_code)]["content"]
                media_type = answer.headers["content-type"].partition(";")[0]
                assert media_type in described, path
                if media_type == "application/json":
                    schema = {**described[media_type]["schema"], **COMPONENTS}
                    Draft202012Validator(schema).validate(answer.json())
                    checked.add(path.removeprefix("/v1/jobs/{job}"))

    assert checked >= {"", "/wait", "/status", "/plan", "/calls", "/log", "/provenance/{mark}"}


def _is_read(path: str) -> bool:
    """True for what is shown of a job, but for what the test names nothing of."""
    return path.startswith("/v1/jobs/{job}") and not any(
        name in path for name in ("{sha256}", "{source}", "{question}", "/estimate")
    )
