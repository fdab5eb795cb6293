"""Tests that problem documents name requests where the command line names commands."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.api.application import build_application
from holdfast.api.commands_as_requests import REQUESTS, in_requests
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

ROOT = Path(__file__).parents[3]
SHARED = ("holdfast/*", "planning", "storage", "tools", "activities", "workflows", "models")
OTHER_FACES = {"cli", "web", "mcp_server", "python_client", "temporal_ui", "services"}
"""They answer people and hosts, who run commands and call tools."""
OF_THE_OPERATOR = {
    f"`holdfast {name}`" for name in ("corpus", "corpus add", "down", "open", "serve", "up")
}
"""Commands that no request can replace: they start, stop and fill the installation itself."""
NO_ERRORS = {
    "holdfast/jobs/current_status.py",
    "holdfast/reports/exports/word_document.py",
    "holdfast/bundles/bundle_reader.py",
    "holdfast/records/bundle_replay.py",
}
"""They say it in the status of a job, or only to the command line."""
COMMAND = re.compile(r"`holdfast [a-z][^`]*`")


def test_a_command_with_its_values_becomes_the_request_with_them() -> None:
    told = in_requests(
        "wait with `holdfast wait job-1`, see `holdfast trace job-1 MARK` or `holdfast list`; "
        "`holdfast report job-1 --partial`, `holdfast retry job-1 T3`, `holdfast up`"
    )

    assert told == (
        "wait with `GET /v1/jobs/job-1/wait`, see `GET /v1/jobs/job-1/provenance/MARK` or "
        "`GET /v1/jobs`; `POST /v1/jobs/job-1/partial-report`, "
        '`POST /v1/jobs/job-1/retry` with `{"tasks": ["T3"]}`, `holdfast up`'
    )


def test_each_request_is_one_of_the_api() -> None:
    description = build_application(None, None).openapi()  # type: ignore[arg-type]  # serves nothing
    routes = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, methods in description["paths"].items()
        for method in methods
    }

    named = {
        tuple(re.sub(r"<[A-Z]+>", "{}", request.partition("`")[0]).split(" ", 1))
        for request in REQUESTS.values()
    }

    assert named <= routes, named - routes


def test_each_command_that_an_error_names_has_its_request() -> None:
    named = {command for source in _shared_sources() for command in _commands(source)}

    assert named, "the search finds no command"
    unanswered = {command for command in named if in_requests(command) == command}
    assert unanswered <= OF_THE_OPERATOR


@pytest.mark.slow
async def test_a_refusal_names_the_request_that_helps(idle_engine: RunningEngine) -> None:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        async with serving.client() as client:
            job = (await client.post("/jobs", json={"question": "Who?"})).json()["job_id"]
            answers = [
                await client.delete(f"/jobs/{job}"),
                await client.get(f"/jobs/{job}/report"),
                await client.get(f"/jobs/{job}/bundle"),
                await client.post(f"/jobs/{job}/questions/7", json={"text": "yes"}),
                await client.delete("/webhooks/none"),
                await client.delete("/keys/none"),
            ]
        without = await client_without_key(serving)

    details = [answer.json()["detail"] for answer in answers]
    assert [answer.status_code for answer in answers] == [400, 404, 400, 404, 404, 404]
    assert not any("holdfast " in detail for detail in details), details
    assert [re.findall(r"`([A-Z]+ \S+)`", detail) for detail in details] == [
        [f"POST /v1/jobs/{job}/cancel"],
        [f"GET /v1/jobs/{job}/wait"],
        [f"GET /v1/jobs/{job}/wait"],
        [f"GET /v1/jobs/{job}/questions"],
        ["GET /v1/webhooks"],
        ["GET /v1/keys"],
    ]
    assert "POST /v1/keys" in without


async def client_without_key(serving: HttpService) -> str:
    async with serving.client() as client:
        answer = await client.get("/jobs", headers={"Authorization": ""})
    assert answer.status_code == 401
    return str(answer.json()["detail"])


def _shared_sources() -> Iterator[Path]:
    for pattern in SHARED:
        for folder in ROOT.glob(pattern):
            if folder.name in OTHER_FACES or (folder.is_symlink() and folder.parent != ROOT):
                continue
            sources = folder.rglob("*.py") if folder.is_dir() else [folder]
            for source in sources:
                if str(source.relative_to(ROOT)) not in NO_ERRORS:
                    yield source


def _commands(source: Path) -> Iterator[str]:
    """Yield the commands that texts of the module name, other than its docstrings."""
    tree = ast.parse(source.read_text()) if source.suffix == ".py" else ast.Module([], [])
    spoken = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for part in ast.walk(tree):
        is_text = isinstance(part, ast.Constant) and isinstance(part.value, str)
        if id(part) in spoken or not (is_text or isinstance(part, ast.JoinedStr)):
            continue
        yield from COMMAND.findall(ast.unparse(part))
