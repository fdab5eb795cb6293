"""Tests for what the client imports, and that it reaches every route in both of its forms."""

import inspect
import json
import re
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from holdfast import AsyncClient, Client
from holdfast.api.application import build_application
from holdfast.python_client import answers, jobs_and_reports
from holdfast.python_client.api_errors import ServerUnreachable
from holdfast.python_client.local_installation import start_local_installation
from tests.support.packages.synchronous_client import synchronous_files

OPENAPI = build_application(None, None).openapi()  # type: ignore[arg-type]  # serves nothing
MEASURE = "import sys; from holdfast import Client, AsyncClient; print(*sorted(sys.modules))"
ENGINE = {"temporalio", "sqlalchemy", "psycopg", "openai", "mcp", "fastapi", "alembic", "typer"}
MODELS: dict[str, type[BaseModel]] = {
    "SubmittedJob": answers.SubmittedJob,
    "JobLine": answers.JobLine,
    "JobView": jobs_and_reports.Job,
    "TaskView": answers.Task,
    "Tokens": answers.Tokens,
    "EventView": answers.Event,
    "WaitingQuestion": answers.WaitingQuestion,
    "AcceptedChange": answers.AcceptedChange,
    "DryRun": answers.Estimate,
    "CollectionLine": answers.Collection,
    "DocumentLine": answers.Document,
    "DocumentUpload": answers.Upload,
    "UploadProgress": answers.UploadProgress,
    "SearchListing": answers.SearchListing,
    "CorpusPassage": answers.Passage,
    "ApiKey": answers.ApiKey,
    "CreatedKey": answers.CreatedKey,
}


@pytest.mark.conformance("API-06")
def test_the_client_loads_nothing_of_the_engine(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    loaded = done.stdout.split()

    ours = [name for name in loaded if name.startswith("holdfast.")]
    assert ours
    assert [name for name in ours if not name.startswith("holdfast.python_client")] == []
    assert {name.partition(".")[0] for name in loaded} & ENGINE == set()


@pytest.mark.slow
def test_the_synchronous_client_is_made_from_the_asynchronous_one() -> None:
    made = synchronous_files()

    assert {place: place.read_text("utf-8") for place in made} == made, "run `make client`"
    assert {place.name for place in made} == {
        each.name for each in next(iter(made)).parent.glob("*.py")
    }


def test_both_clients_have_the_same_methods_and_parameters() -> None:
    shapes = [
        {
            name.removeprefix("a") if name == "aclose" else name: str(
                inspect.signature(method).replace(return_annotation=inspect.Signature.empty)
            )
            for name, method in inspect.getmembers(client, inspect.isfunction)
            if not name.startswith("_")
        }
        for client in (AsyncClient, Client)
    ]

    assert shapes[0] == shapes[1]
    assert "submit" in shapes[0]


async def test_a_method_reaches_every_route() -> None:
    sent: set[tuple[str, str]] = set()

    class Recording(AsyncClient):
        async def _request(self, method: str, path: str, **_: Any) -> Any:
            sent.add((method, f"/v1{path}"))
            raise InterruptedError

    async with Recording() as client:
        for name, method in inspect.getmembers(client, inspect.iscoroutinefunction):
            if not name.startswith("_") and name != "aclose" and name != "local":
                given = [
                    1 if parameter.annotation is int else __file__
                    for parameter in inspect.signature(method).parameters.values()
                    if parameter.default is parameter.empty
                    and parameter.kind != parameter.VAR_KEYWORD
                ]
                with pytest.raises(InterruptedError):
                    await method(*given)
        # With a model, a comparison is another request, since it may cost something.
        with pytest.raises(InterruptedError):
            await client.compare("job-1", "job-2", model="gpt-5")

    streamed = {("GET", "/v1/jobs/{job}/events")}
    # Clients of the OpenAI API, and tools of Temporal, reach these.
    of_others = ("/v1/responses", "/v1/models", "/v1/codec")
    missing = {
        (method.upper(), path)
        for path, methods in OPENAPI["paths"].items()
        for method in methods
        if not path.startswith(of_others)
        and not any(_fits(path, at) for by, at in sent if by == method.upper())
    }
    assert missing == streamed


def _fits(route: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/?#]+", route), path) is not None


@pytest.mark.parametrize("name", MODELS)
def test_the_fields_of_the_client_are_those_of_the_server(name: str) -> None:
    schema = OPENAPI["components"]["schemas"][name]
    fields = MODELS[name].model_fields

    assert set(fields) <= set(schema["properties"])
    for field, info in fields.items():
        is_sent = field in schema.get("required", ()) or "default" in schema["properties"][field]
        assert is_sent or not info.is_required(), field
        nullable = "null" in json.dumps(schema["properties"][field])
        assert not nullable or type(None) in typing.get_args(info.annotation), field


def test_every_model_of_the_client_is_compared_with_the_server() -> None:
    defined = {
        each
        for module in (answers, jobs_and_reports)
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, BaseModel) and each.__module__ == module.__name__
    }
    # A report is described by the command line's page, and tested with a real one.
    reports = {jobs_and_reports.Report, answers.Statement, answers.Citation, answers.Answer}
    assert defined - reports == set(MODELS.values())


def test_an_installation_that_does_not_start_is_refused_with_the_reason_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "home").write_text("no folder")

    with pytest.raises(
        ServerUnreachable, match=r"^`holdfast up` failed: (?!error)[^\n]*home[^\n]*$"
    ):
        start_local_installation(tmp_path / "home")
