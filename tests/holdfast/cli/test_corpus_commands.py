"""Tests for `holdfast corpus`: add, list, search and remove."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from tests.support.endpoints.embeddings_endpoint import EmbeddingsRefusal, HashingEmbeddings
from tests.support.services.command_shell import CommandShell, command_shell

pytestmark = pytest.mark.slow

DEMO = Path(holdfast.__file__).parent / "demo" / "collection"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[HashingEmbeddings]:
    with HashingEmbeddings() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def home(endpoint: HashingEmbeddings) -> Iterator[CommandShell]:
    """An installation with an embedding model and one collection."""
    with command_shell() as here:
        (here.folder / "holdfast.toml").write_text(
            f'[embeddings]\nurl = "{endpoint.url}"\nmodel = "hash"\nbatch_size = 16\n'
        )
        docs = here.folder / "docs"
        docs.mkdir()
        (docs / "lamp.md").write_text(
            "---\nauthor: Sault\ndate: 2021-05-04\n---\n# The lamp\n\nOil."
        )
        (docs / "lights.csv").write_text("Name;Lit\nSkerrin;1884\nGannet;1902\n")
        (docs / "old.doc").write_bytes(b"x")
        ran = here.holdfast("corpus", "add", "docs", "--collection", "lights", "--json")
        assert ran.code == 0, ran.err
        added = json.loads(ran.out)
        assert (added["collection"], added["added"]) == ("lights", 2)
        assert added["skipped"][0]["path"] == "old.doc"
        assert added["embedded"] == {
            "model": "hash",
            "embedded": 2,
            "left": 0,
            "fault": "",
            "in_background": False,
        }
        yield here


def test_collections_are_listed_with_their_vectors_and_documents(home: CommandShell) -> None:
    (line,) = json.loads(home.holdfast("corpus", "list", "--json").out)
    documents = json.loads(home.holdfast("corpus", "list", "lights", "--json").out)
    plain = home.holdfast("corpus", "list").out

    assert (line["name"], line["documents"], line["passages"]) == ("lights", 2, 2)
    assert (line["search"], line["without_vector"]) == ("hybrid", 0)
    assert line["vectors"] == [{"model": "hash", "dimension": 64, "passages": 2}]
    assert [each["address"] for each in documents] == ["lamp.md", "lights.csv"]
    assert documents[0]["metadata"]["author"] == "Sault"
    assert "2 hash" in plain
    assert "there is no collection 'no'; collections: lights" in (
        home.holdfast("corpus", "list", "no").refused()
    )


def test_a_search_says_how_it_searched_and_takes_filters(home: CommandShell) -> None:
    ran = home.holdfast("corpus", "search", "Skerrin", "light", "--json")
    assert ran.code == 0, ran.err
    both = json.loads(ran.out)
    some = json.loads(
        home.holdfast(
            "corpus",
            "search",
            "lamp Skerrin",
            "--collection",
            "lights",
            "--mode",
            "keyword",
            "--filter",
            "kind=md",
            "--filter",
            "kind=pdf",
            "--filter",
            "date=2021..2021-06",
            "--json",
        ).out
    )
    plain = home.holdfast("corpus", "search", "gannet", "--mode", "keyword")

    assert (both["mode"], both["note"]) == ("hybrid", "")
    assert both["passages"][0]["text"] == "Name: Skerrin; Lit: 1884\n\nName: Gannet; Lit: 1902"
    assert [each["address"] for each in some["passages"]] == ["lamp.md"]
    assert "lights.csv" in plain.out
    assert "1 passage found by keyword search in lights" in plain.err
    assert "takes key=value" in home.holdfast("corpus", "search", "x", "--filter", "a").refused()
    assert "date=2020.." in (
        home.holdfast("corpus", "search", "x", "--filter", "date=soon..").refused()
    )


@pytest.mark.long
def test_what_was_not_embedded_is_by_adding_again_and_removing_asks_first(
    home: CommandShell, endpoint: HashingEmbeddings
) -> None:
    (home.folder / "one.txt").write_text("A new light.")
    endpoint.push(EmbeddingsRefusal(401, message="no such key"))

    refused = home.holdfast("corpus", "add", "one.txt", "--collection", "more", "--meta", "a=b")
    again = home.holdfast("corpus", "add", "one.txt", "--collection", "more")

    assert refused.code == 1
    assert "documents: 1 read, 0 unchanged" in refused.out
    assert "1 passages have no vector yet" in refused.out
    assert "answered 401: no such key" in refused.out
    assert again.code == 0
    assert "0 read, 1 unchanged" in again.out
    assert "vectors: 1 passages embedded by hash" in again.out

    unasked = home.holdfast("corpus", "remove", "more").refused()
    unknown = home.holdfast("corpus", "remove", "more", "x.txt", "--yes").refused()
    one = home.holdfast("corpus", "remove", "more", "one.txt", "--yes", "--json")

    assert "There is no terminal to ask: add --yes" in unasked
    assert "there is no document 'x.txt'" in unknown
    assert json.loads(one.out) == {"collection": "more", "removed": 1}
    assert "there is no collection 'more'" in home.holdfast("corpus", "remove", "more").refused()


@pytest.mark.long
def test_an_interrupted_adding_keeps_what_it_did(
    home: CommandShell, endpoint: HashingEmbeddings
) -> None:
    before = len(endpoint.embedded)
    # The second batch is told to wait, so the adding cannot end before it is interrupted.
    endpoint.push(None, EmbeddingsRefusal(503, {"retry-after": "50"}))

    running = home.started("corpus", "add", str(DEMO), "--collection", "demo")
    endpoint.wait_for_refusals()
    os.kill(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    again = home.holdfast("corpus", "add", str(DEMO), "--collection", "demo", "--json")

    assert running.returncode == 130, err
    assert b"documents that were read and embedded stay" in err
    done = json.loads(again.out)
    assert (done["added"], done["unchanged"]) == (0, 37)
    assert done["embedded"]["left"] == 0
    assert len(endpoint.embedded) - before >= done["embedded"]["embedded"] > 0
    assert home.holdfast("corpus", "remove", "demo", "--yes").out.startswith("removed 37 doc")


def test_a_language_that_there_is_not_is_refused_with_those_there_are(home: CommandShell) -> None:
    said = home.holdfast("corpus", "add", "docs", "--language", "elvish").refused()

    assert "there is no language 'elvish'; choose one of simple, arabic," in said
