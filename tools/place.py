"""One MCP server as the hub uses it: what it lists now, what goes in, what comes out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.types import CallToolResult, Tool

from models.errors import DocumentGone, HoldfastError, ToolBusy, ToolFailed
from models.text import shortened
from models.tools import ToolAnswer, ToolSignature
from tools.answers import read_answer, read_text
from tools.arguments import CheckedTool
from tools.config import ServerConfig
from tools.described import described, described_schema
from tools.link import ServerLink
from tools.passing import is_gone, is_passing
from tools.plain import plain_text
from tools.secrets import Veil, secrets_of
from tools.vocabularies import Vocabularies
from tools.vocabulary_sources import Source
from tools.wires import configured, in_process

_LONGEST_NAME = 80
"""Characters of the name of a tool that cannot be used, in the reason."""
_LONGEST_ERROR = 2_000
"""How many characters of a tool's own error message are passed on."""


@dataclass(frozen=True)
class BuiltinServer:
    """A server that is part of this process; `bind` is as in `holdfast.toml`."""

    server: MCPServer
    bind: Mapping[str, str] = field(default_factory=dict)
    vocabulary: Mapping[str, Source] = field(default_factory=dict)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Keys that it holds: hidden wherever its answers and errors repeat them."""
    timeout_s: float = 600
    concurrency: int = 32
    max_bytes: int = 1_000_000


class _Listing:
    """The tools that a server lists now, checked; made anew when it lists them anew."""

    def __init__(self) -> None:
        self._tools: Mapping[str, Tool] = {}
        self._checked: dict[str, CheckedTool] = {}

    def of(self, tools: Mapping[str, Tool]) -> Mapping[str, CheckedTool]:
        if tools is not self._tools:
            self._tools = tools
            self._checked = {name: CheckedTool(tool) for name, tool in tools.items()}
        return self._checked


@dataclass(frozen=True)
class Place:
    """A server with its connection, its limits, and what is hidden of it."""

    link: ServerLink
    bind: Mapping[str, str]
    timeout: timedelta
    max_bytes: int
    vocabularies: Vocabularies
    is_foreign: bool
    """Whether it is a server of the user's own."""
    veil: Veil
    listing: _Listing = field(default_factory=_Listing)

    @property
    def tools(self) -> Mapping[str, CheckedTool]:
        """What it lists now, by name without the server's."""
        return self.listing.of(self.link.tools)

    async def absence(self) -> str | None:
        """Why it cannot be reached, if it cannot, after waiting for it."""
        try:
            await self.link.connected()
        except HoldfastError as error:
            return self.veil.text(str(error))
        return None

    def refusals(self) -> Iterator[str]:
        """What of it cannot be used, with reasons."""
        server = self.link.name
        left_out = dict(self.link.refused)
        left_out |= {each.tool.name: each.fault for each in self.tools.values() if each.fault}
        for name, reason in left_out.items():
            shown = shortened(" ".join(name.split()), _LONGEST_NAME)
            yield self.veil.text(plain_text(f"tool '{server}.{shown}' was left out: {reason}"))
        for fault in self.vocabularies.unfit(self.link.tools):
            yield self.veil.text(plain_text(f"server {server!r}: {fault}"))

    def signatures(self) -> Iterator[ToolSignature]:
        """The tools that can be called now."""
        usable = (each.tool for each in self.tools.values() if each.fault is None)
        for tool in usable:
            yield ToolSignature(
                name=f"{self.link.name}.{tool.name}",
                description=described(self.veil.text(tool.description or "")),
                input_schema=described_schema(_visible(tool.input_schema, self.bind)),
                output_schema=tool.output_schema and described_schema(tool.output_schema),
                read_only=_is_read_only(tool),
                idempotent=_is_idempotent(tool),
            )

    async def call(
        self, checked: CheckedTool, arguments: Mapping[str, Any], facts: Mapping[str, str],
        timeout: timedelta,  # noqa: ASYNC109  # passed on to the server, so that it stops as well
    ) -> ToolAnswer:  # fmt: skip
        """The answer of one of its tools; as `Hub.call`."""
        tool = checked.tool
        name = f"{self.link.name}.{tool.name}"
        filled = _filled(arguments, self.bind, facts, tool)
        checked.check(name, filled)
        try:
            result = await self.link.call(
                tool.name,
                filled,
                seconds=min(timeout, self.timeout).total_seconds(),
                is_repeatable=_is_read_only(tool) or _is_idempotent(tool),
            )
            if self.is_foreign:  # the library has checked what comes from this process
                checked.check_answer(name, result)
            return self.veil.answer(self._answer(result, name))
        except HoldfastError as error:
            error.args = (self.veil.text(str(error)),)
            raise

    def _answer(self, result: CallToolResult, name: str) -> ToolAnswer:
        if result.is_error:
            said, _ = read_text(result, _LONGEST_ERROR)
            raise _kind(result)(f"{name} answered with an error: {said or 'no reason given'}")
        return read_answer(result, tool=name, limit=self.max_bytes, is_foreign=self.is_foreign)


def configured_place(
    name: str, server: ServerConfig, patience: timedelta, log_folder: Path | None
) -> Place:
    """A server of `holdfast.toml`."""
    connect = configured(name, server, log_folder)
    link = ServerLink(name, connect, concurrency=server.concurrency, patience=patience)
    return _place(link, server, secrets_of(server), is_foreign=True)


def builtin_place(name: str, server: BuiltinServer, patience: timedelta) -> Place:
    """A server that is part of this process."""
    connect = in_process(server.server)
    link = ServerLink(name, connect, concurrency=server.concurrency, patience=patience)
    return _place(link, server, server.secrets, is_foreign=False)


def _place(
    link: ServerLink,
    server: ServerConfig | BuiltinServer,
    secrets: tuple[str, ...],
    *,
    is_foreign: bool,
) -> Place:
    return Place(
        link=link,
        bind=server.bind,
        timeout=timedelta(seconds=server.timeout_s),
        max_bytes=server.max_bytes,
        vocabularies=Vocabularies(server.vocabulary),
        is_foreign=is_foreign,
        veil=Veil(secrets),
    )


def _visible(schema: Mapping[str, Any], bind: Mapping[str, str]) -> dict[str, Any]:
    """The schema without the parameters that Holdfast fills in."""
    shown = dict(schema)
    if "properties" in schema:
        shown["properties"] = {
            name: value for name, value in schema["properties"].items() if name not in bind
        }
    if "required" in schema:
        shown["required"] = [name for name in schema["required"] if name not in bind]
    return shown


def _is_read_only(tool: Tool) -> bool:
    return bool(tool.annotations and tool.annotations.read_only_hint)


def _is_idempotent(tool: Tool) -> bool:
    return bool(tool.annotations and tool.annotations.idempotent_hint)


def _filled(
    arguments: Mapping[str, Any], bind: Mapping[str, str], facts: Mapping[str, str], tool: Tool
) -> dict[str, Any]:
    chosen = {name: value for name, value in arguments.items() if name not in bind}
    taken = tool.input_schema.get("properties", {})
    bound = {name: facts[fact] for name, fact in bind.items() if name in taken and fact in facts}
    return chosen | bound


def _kind(result: CallToolResult) -> type[ToolBusy | ToolFailed]:
    if is_passing(result):
        return ToolBusy
    return DocumentGone if is_gone(result) else ToolFailed
