"""Tests for vocabularies of tools: from the schema, from `holdfast.toml`, from a file, from
another tool."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import pytest
from mcp.server import MCPServer
from pydantic import Field

from holdfast.models.errors import BadConfiguration, ToolFailed
from holdfast.planning.schemas.allowed_texts import allowed_texts
from holdfast.tools.mcp.server_config import StdioServer, read_servers
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from holdfast.tools.vocabularies.vocabulary_sources import FromTool
from tests.support.tools.server_processes import SERVER_SCRIPTS

CLOSED = {"enum": ["a", "b"]}


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (CLOSED, ("a", "b")),
        ({"const": "a"}, ("a",)),
        ({"enum": ["a", None]}, ("a",)),
        ({"anyOf": [CLOSED, {"type": "null"}]}, ("a", "b")),
        ({"oneOf": [CLOSED, {"const": "c"}]}, ("a", "b", "c")),
        ({"$ref": "#/$defs/Kind"}, ("a", "b")),
        ({"type": "array", "items": {"$ref": "#/$defs/Kind"}}, ("a", "b")),
        ({"type": "string"}, ()),
        ({"anyOf": [CLOSED, {"type": "string"}]}, ()),
        ({"enum": [1, 2]}, ()),
        ({"enum": ["a", 2]}, ()),
        ({"$ref": "#/$defs/Loop"}, ()),
        ({"$ref": "#/$defs/None"}, ()),
        ({"$ref": "https://example.org/x"}, ()),
        (True, ()),
    ],
)
def test_a_schema_that_allows_certain_texts_alone_is_a_vocabulary(
    schema: object, values: tuple[str, ...]
) -> None:
    root = {"$defs": {"Kind": CLOSED, "Loop": {"$ref": "#/$defs/Loop"}}}

    assert allowed_texts(schema, root) == values


def written(folder: Path, vocabulary: str) -> Path:
    path = folder / "holdfast.toml"
    path.write_text(
        f"[servers.kb]\ncommand = ['{sys.executable}', '{SERVER_SCRIPTS / 'failing_tools_server.py'}']\n"
        f"[servers.kb.vocabulary]\n{vocabulary}\n"
    )
    return path


def test_a_vocabulary_is_a_list_a_file_of_lines_or_a_tool(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("alpha beta\n\n  gamma \n", "utf-8")
    path = written(
        tmp_path,
        'text = ["one", "two"]\n"search.query" = {file = "terms.txt"}\nkey = {tool = "seen"}',
    )

    (server,) = read_servers(path).values()

    assert isinstance(server, StdioServer)
    assert server.vocabulary == {
        "text": ("one", "two"),
        "search.query": ("alpha beta", "gamma"),
        "key": FromTool(tool="seen"),
    }


@pytest.mark.parametrize(
    ("vocabulary", "says"),
    [
        ("text = 3", r"servers\.kb\.vocabulary: .*write for example vocabulary = \{relation"),
        ("text = []", r"servers\.kb\.vocabulary: "),
        ('text = ["one", ""]', r"servers\.kb\.vocabulary: "),
        ('text = {tol = "seen"}', r"servers\.kb\.vocabulary: "),
        ('text = {file = "none.txt"}', r"kb\.vocabulary\.text\.file: '.*none\.txt' cannot be read"),
        ('text = {file = "empty.txt"}', r"'.*empty\.txt' is empty; write a value on each line"),
    ],
)
def test_a_broken_vocabulary_is_told_with_its_place(
    tmp_path: Path, vocabulary: str, says: str
) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")

    with pytest.raises(BadConfiguration, match=says):
        read_servers(written(tmp_path, vocabulary))


class Listing:
    """A server with a tool that lists what another one takes."""

    def __init__(self) -> None:
        self.listed: list[str] = []
        self.values = ["capital of", "spouse"]
        self.server = MCPServer("kb")

        @self.server.tool()
        def relate(relation: str, collection: str = "") -> str:
            return relation

        @self.server.tool()
        def relations(collection: str = "") -> list[str]:
            self.listed.append(collection)
            return self.values

        @self.server.tool(structured_output=False)
        def lines() -> str:
            return "one\ntwo \n\n"

    def hub(self, max_bytes: int = 100_000, **vocabulary: object) -> Hub:
        served = BuiltinServer(
            self.server,
            {"collection": "collection"},
            vocabulary,  # type: ignore[arg-type]
            max_bytes=max_bytes,
        )
        return Hub({}, {"kb": served})


@pytest.fixture
def listing() -> Listing:
    return Listing()


async def _values(hub: Hub, tool: str, name: str, collection: str = "c") -> tuple[str, ...]:
    found = await hub.vocabularies(tool, (name,), facts={"collection": collection})
    return found[name].vocabulary.values if name in found else ()


async def test_a_tool_is_asked_for_its_list_once_and_once_for_each_collection(
    listing: Listing,
) -> None:
    async with listing.hub(relation=FromTool(tool="relations")) as hub:
        first = await _values(hub, "kb.relate", "relation")
        again = await _values(hub, "kb.relate", "relation")
        other = await _values(hub, "kb.relate", "relation", "d")

    assert first == again == other == ("capital of", "spouse")
    assert listing.listed == ["c", "d"]


async def test_the_lines_of_a_text_are_a_list_as_well(listing: Listing) -> None:
    async with listing.hub(relation=FromTool(tool="lines")) as hub:
        assert await _values(hub, "kb.relate", "relation") == ("one", "two")


async def test_what_is_declared_for_one_tool_goes_before_what_is_for_all(listing: Listing) -> None:
    vocabulary = {"relation": ("all",), "relate.relation": ("one",)}
    async with listing.hub(**vocabulary) as hub:
        assert await _values(hub, "kb.relate", "relation") == ("one",)
        assert await _values(hub, "kb.relate", "collection") == ()


@pytest.mark.conformance("SAF-04")
async def test_no_vocabulary_and_no_description_tells_a_secret() -> None:
    server = MCPServer("kb")

    @server.tool()
    def relate(
        kind: Annotated[Literal["plain", "key-walnut-drawer"], Field(description="walnut-drawer")],
        relation: str,
    ) -> str:
        return kind + relation

    @server.tool()
    def relations() -> list[str]:
        return ["spouse", "key-walnut-drawer"]

    vocabulary = {"relation": FromTool(tool="relations")}
    served = BuiltinServer(server, vocabulary=vocabulary, secrets=("walnut-drawer",))
    async with Hub({}, {"kb": served}) as hub:
        known = await hub.vocabularies("kb.relate", ("kind", "relation"), facts={})

    # The server would refuse a masked value; answers of tools are masked before.
    assert known["kind"].vocabulary.values == ("plain",)
    assert known["kind"].description == "*" * len("walnut-drawer")
    assert known["relation"].vocabulary.values == ("spouse", f"key-{'*' * 13}")


async def test_a_list_that_was_cut_or_failed_is_told(listing: Listing) -> None:
    listing.values = ["x" * 50] * 100
    async with listing.hub(1000, relation=FromTool(tool="relations")) as hub:
        with pytest.raises(ToolFailed, match="more values than `max_bytes` lets through"):
            await _values(hub, "kb.relate", "relation")
    async with listing.hub(relation=FromTool(tool="nowhere")) as hub:
        with pytest.raises(ToolFailed, match=r"come from 'nowhere', and there is no tool 'kb\.now"):
            await _values(hub, "kb.relate", "relation")


async def test_a_vocabulary_that_fits_no_parameter_is_a_fault_of_the_server(
    listing: Listing,
) -> None:
    vocabulary = {"relatoin": ("a",), "relation": FromTool(tool="relatoins")}
    async with listing.hub(**vocabulary) as hub:
        await hub.signatures()

        assert hub.faults() == (
            "server 'kb': vocabulary 'relation' wants the tool 'relatoins', which is not there",
            "server 'kb': vocabulary 'relatoin' fits no parameter of its tools",
        )


async def test_of_a_tool_that_is_not_there_nothing_is_known(listing: Listing) -> None:
    """An answer that the ledger has can be used all the same."""
    async with listing.hub() as hub:
        assert await hub.vocabularies("kb.nothing", ("x",), facts={}) == {}
        assert await hub.vocabularies("nowhere.relate", ("x",), facts={}) == {}
