"""Connect the hub to one MCP server: list tools, bind arguments, call, and mask secrets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.types import CallToolResult, Tool

from holdfast.models.calls.tool_signatures import ToolAnswer, ToolSignature
from holdfast.models.errors import DocumentGone, HoldfastError, ToolBusy, ToolFailed
from holdfast.models.text.storable_text import storable_text
from holdfast.models.text.terminal_text import shorten_text
from holdfast.tools.mcp.answers.answer_reader import read_answer_text, read_tool_answer
from holdfast.tools.mcp.answers.error_results import is_gone, is_passing
from holdfast.tools.mcp.secret_mask import SecretMask, server_secrets
from holdfast.tools.mcp.server_config import ServerConfig
from holdfast.tools.mcp.tool_descriptions import clean_description, clean_schema
from holdfast.tools.mcp.tool_schema_checks import CheckedTool
from holdfast.tools.mcp.transports.server_connection import ServerConnection
from holdfast.tools.mcp.transports.server_transports import connect_configured, connect_in_process
from holdfast.tools.optional_parts import OptionalPart, missing_part_message
from holdfast.tools.vocabularies.server_vocabularies import ServerVocabularies
from holdfast.tools.vocabularies.vocabulary_sources import VocabularySource

_MAX_NAME_CHARS = 80
"""Characters of an unusable tool's name in a message."""
_MAX_ERROR_CHARS = 2_000
"""Characters of a tool's own error message that reach the caller."""


@dataclass(frozen=True)
class BuiltinServer:
    """A server inside this process; `bind` works as in `holdfast.toml`."""

    server: MCPServer
    bind: Mapping[str, str] = field(default_factory=dict)
    vocabulary: Mapping[str, VocabularySource] = field(default_factory=dict)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Keys of the server; its answers and errors never show them."""
    timeout_s: float = 600
    concurrency: int = 32
    max_bytes: int = 1_000_000


@dataclass(frozen=True)
class MissingServer:
    """A server that comes with Holdfast, and needs an optional part that is not installed."""

    part: OptionalPart
    use: str
    """What the server does, such as "drawing charts"."""

    @property
    def reason(self) -> str:
        return missing_part_message(self.part, self.use)


class _ToolListing:
    """The checked tools of a server's current listing; replaced when the listing changes."""

    def __init__(self) -> None:
        self._tools: Mapping[str, Tool] = {}
        self._checked: dict[str, CheckedTool] = {}

    def of(self, tools: Mapping[str, Tool]) -> Mapping[str, CheckedTool]:
        if tools is not self._tools:
            self._tools = tools
            self._checked = {name: CheckedTool(tool) for name, tool in tools.items()}
        return self._checked


@dataclass(frozen=True)
class ToolServer:
    """An MCP server with its connection, limits, bound parameters and masked secrets."""

    link: ServerConnection
    bind: Mapping[str, str]
    timeout: timedelta
    max_bytes: int
    vocabularies: ServerVocabularies
    is_foreign: bool
    """True if the user configured the server; False if it is built in."""
    secret_mask: SecretMask
    listing: _ToolListing = field(default_factory=_ToolListing)

    @property
    def tools(self) -> Mapping[str, CheckedTool]:
        """The tools of the current listing, by name without the server prefix."""
        return self.listing.of(self.link.tools)

    async def absence(self) -> str | None:
        """Wait for the connection; return why the server is unavailable, or None."""
        try:
            await self.link.connected()
        except HoldfastError as error:
            return self.secret_mask.text(str(error))
        return None

    def unusable_tools(self) -> Iterator[str]:
        """Return the unusable tools with reasons."""
        server = self.link.name
        left_out = dict(self.link.refused)
        left_out |= {
            listed.tool.name: listed.fault for listed in self.tools.values() if listed.fault
        }
        for name, reason in left_out.items():
            shown = shorten_text(" ".join(name.split()), _MAX_NAME_CHARS)
            yield self.secret_mask.text(
                storable_text(f"tool '{server}.{shown}' was left out: {reason}")
            )
        for fault in self.vocabularies.unmatched_declarations(self.link.tools):
            yield self.secret_mask.text(storable_text(f"server {server!r}: {fault}"))

    def signatures(self) -> Iterator[ToolSignature]:
        """Return the signatures of the usable tools."""
        usable = (listed.tool for listed in self.tools.values() if listed.fault is None)
        for tool in usable:
            yield ToolSignature(
                name=f"{self.link.name}.{tool.name}",
                description=clean_description(self.secret_mask.text(tool.description or "")),
                input_schema=clean_schema(_without_bound_parameters(tool.input_schema, self.bind)),
                output_schema=tool.output_schema and clean_schema(tool.output_schema),
                read_only=_is_read_only(tool),
                idempotent=_is_idempotent(tool),
            )

    async def call(
        self,
        checked: CheckedTool,
        arguments: Mapping[str, Any],
        facts: Mapping[str, str],
        timeout: timedelta,  # noqa: ASYNC109  # passed on to the server, so that it stops as well
    ) -> ToolAnswer:
        """Return the answer of a tool of this server, as `Hub.call` does."""
        tool = checked.tool
        name = f"{self.link.name}.{tool.name}"
        filled = _with_bound_arguments(arguments, self.bind, facts, tool)
        checked.check(name, filled)
        try:
            result = await self.link.call(
                tool.name,
                filled,
                seconds=min(timeout, self.timeout).total_seconds(),
                is_repeatable=_is_read_only(tool) or _is_idempotent(tool),
            )
            if self.is_foreign:  # the library has checked the answers of built-in servers
                checked.check_answer(name, result)
            return self.secret_mask.answer(self._answer(result, name))
        except HoldfastError as error:
            error.args = (self.secret_mask.text(str(error)),)
            raise

    def _answer(self, result: CallToolResult, name: str) -> ToolAnswer:
        if result.is_error:
            message, _ = read_answer_text(result, _MAX_ERROR_CHARS)
            raise _error_class(result)(
                f"{name} answered with an error: {message or 'no reason given'}"
            )
        return read_tool_answer(result, tool=name, limit=self.max_bytes, is_foreign=self.is_foreign)


def configured_tool_server(
    name: str, server: ServerConfig, patience: timedelta, log_folder: Path | None
) -> ToolServer:
    """Return the tool server for a table `[servers.NAME]` of `holdfast.toml`."""
    connect = connect_configured(name, server, log_folder)
    link = ServerConnection(name, connect, concurrency=server.concurrency, patience=patience)
    return _tool_server(link, server, server_secrets(server), is_foreign=True)


def builtin_tool_server(name: str, server: BuiltinServer, patience: timedelta) -> ToolServer:
    """Return the tool server for a built-in server."""
    connect = connect_in_process(server.server)
    link = ServerConnection(name, connect, concurrency=server.concurrency, patience=patience)
    return _tool_server(link, server, server.secrets, is_foreign=False)


def _tool_server(
    link: ServerConnection,
    server: ServerConfig | BuiltinServer,
    secrets: tuple[str, ...],
    *,
    is_foreign: bool,
) -> ToolServer:
    return ToolServer(
        link=link,
        bind=server.bind,
        timeout=timedelta(seconds=server.timeout_s),
        max_bytes=server.max_bytes,
        vocabularies=ServerVocabularies(server.vocabulary),
        is_foreign=is_foreign,
        secret_mask=SecretMask(secrets),
    )


def _without_bound_parameters(schema: Mapping[str, Any], bind: Mapping[str, str]) -> dict[str, Any]:
    """Return the schema without the bound parameters."""
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


def _with_bound_arguments(
    arguments: Mapping[str, Any], bind: Mapping[str, str], facts: Mapping[str, str], tool: Tool
) -> dict[str, Any]:
    chosen = {name: value for name, value in arguments.items() if name not in bind}
    taken = tool.input_schema.get("properties", {})
    bound = {name: facts[fact] for name, fact in bind.items() if name in taken and fact in facts}
    return chosen | bound


def _error_class(result: CallToolResult) -> type[ToolBusy | ToolFailed]:
    if is_passing(result):
        return ToolBusy
    return DocumentGone if is_gone(result) else ToolFailed
