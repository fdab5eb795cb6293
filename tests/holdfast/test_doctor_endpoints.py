"""Tests that `holdfast doctor` asks every configured endpoint, and says what to correct."""

import json
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.endpoints.embeddings_endpoint import EmbeddingsRefusal, HashingEmbeddings
from tests.support.endpoints.hosted_app import HostedApp
from tests.support.services.command_shell import CommandShell, command_shell

pytestmark = pytest.mark.slow

KEY = "sk-own-4711"


class Reranking(HostedApp):
    """Orders texts in Cohere's form; with a status, it refuses."""

    def __init__(self) -> None:
        self.status = 200
        super().__init__(Starlette(routes=[Route("/v2/rerank", self._order, methods=["POST"])]))

    async def _order(self, request: Request) -> Response:
        texts = (await request.json())["documents"]
        scores = [{"index": place, "relevance_score": 0.5} for place, _ in enumerate(texts)]
        return JSONResponse({"results": scores}, self.status)


class ModelLists(HostedApp):
    """Lists its models to those who send its key; counts who asks."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        super().__init__(Starlette(routes=[Route("/v1/models", self._list)]))

    @property
    def url(self) -> str:
        """The base url, with /v1."""
        return f"{self.address}/v1"

    async def _list(self, request: Request) -> Response:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.keys.append(key)
        return JSONResponse({"data": []}, 200 if key == KEY else 401)


@pytest.fixture
def lists() -> Iterator[ModelLists]:
    with ModelLists() as server:
        yield server


@pytest.fixture
def here() -> Iterator[CommandShell]:
    with command_shell() as shell:
        yield shell


def checked(here: CommandShell, toml: str, **variables: str) -> dict[str, tuple[str, str, str]]:
    """The status, detail and remedy of each part."""
    (here.folder / "holdfast.toml").write_text(toml)
    ran = here.holdfast("doctor", "--json", **variables)
    assert "Traceback" not in ran.err
    assert KEY not in ran.out + ran.err
    parts = json.loads(ran.out)
    return {each["part"]: (each["status"], each["detail"], each["remedy"]) for each in parts}


def table(name: str, url: str, *more: str) -> str:
    return "\n".join([f"[models.{name}]", f'url = "{url}"', *more, ""])


@pytest.mark.conformance("MOD-01")
def test_each_endpoint_is_asked_once_with_the_key_of_its_models(
    here: CommandShell, lists: ModelLists
) -> None:
    toml = table("big", lists.url, 'key_env = "BIG_KEY"')
    toml += table("small", lists.url, 'key_env = "BIG_KEY"') + table("keyless", lists.url)

    found = checked(here, toml, BIG_KEY=KEY, OPENAI_API_KEY="sk-of-openai")

    where = lists.url
    assert found["models big, small"] == ("ok", f"{where} answers and takes the key", "")
    remedy = "name the variable with the key as `key_env` in [models.keyless]"
    assert found["model keyless"] == ("failed", f"{where} needs a key (401)", remedy)
    assert sorted(lists.keys) == ["", KEY]


@pytest.mark.conformance("MOD-01")
def test_a_wrong_key_a_missing_key_and_a_wrong_address_are_told_apart(
    here: CommandShell, lists: ModelLists
) -> None:
    toml = table("wrong", lists.url, 'key_env = "WRONG_KEY"')
    toml += table("unset", lists.url, 'key_env = "UNSET_KEY"')
    toml += table("away", "http://me:secret@127.0.0.1:9/v1")

    found = checked(here, toml, WRONG_KEY="sk-wrong-1234")

    assert found["model wrong"] == (
        "failed",
        f"{lists.url} refuses the key (401)",
        "set WRONG_KEY to a valid key",
    )
    assert found["model unset"][0] == "failed"
    assert "set the variable UNSET_KEY" in found["model unset"][1]
    status, detail, remedy = found["model away"]
    assert (status, remedy) == ("failed", "check `url` in [models.away]")
    assert detail.startswith("http://127.0.0.1:9/v1 does not answer")


def test_the_reranking_endpoint_is_asked_for_an_order(here: CommandShell) -> None:
    with Reranking() as server:
        toml = f'[rerank]\nmodel = "rank"\nurl = "{server.address}/v2"\n'

        good = checked(here, toml)
        of_another_form = checked(here, toml + 'form = "tei"\n')
        server.status = 401
        refused = checked(here, toml)
        where = f"rank at {server.address}/v2"

    assert good["rerank"] == ("ok", f"{where} orders passages", "")
    assert of_another_form["rerank"][0] == refused["rerank"][0] == "failed"
    assert "`key_env` in [rerank]" in refused["rerank"][1]


@pytest.mark.conformance("MOD-01")
def test_the_embedding_endpoint_is_asked_for_a_vector(here: CommandShell) -> None:
    with HashingEmbeddings(48) as server:
        toml = f'[embeddings]\nmodel = "bge"\nurl = "{server.url}"\n'

        good = checked(here, toml, OPENAI_API_KEY=KEY)
        server.push(EmbeddingsRefusal(401, message="no key"))
        refused = checked(here, toml)
        server.push(EmbeddingsRefusal(200, raw=b"<html>"))
        strange = checked(here, toml)
        where = f"bge at {server.url}"

    assert good["embeddings"] == ("ok", f"{where} gives vectors of dimension 48", "")
    assert server.keys == {"Bearer none"}, "the key of the models goes to no other endpoint"
    assert "check the key in `key_env` in [embeddings]" in refused["embeddings"][1]
    assert refused["embeddings"][0] == strange["embeddings"][0] == "failed"
    assert "check `url` in [embeddings]" in strange["embeddings"][1]


def test_without_tables_only_the_default_endpoint_is_checked(here: CommandShell) -> None:
    found = checked(here, "")

    assert found["model endpoint"][0] == "skipped"
    assert not [part for part in found if part.startswith(("model ", "models "))][1:]
    assert "embeddings" not in found
