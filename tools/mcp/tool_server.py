"""Connect the hub to one MCP server: list tools, bind arguments, call, and mask secrets."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.types import CallToolResult, Tool

from holdfast.models.calls.tool_signatures import ToolAnswer, ToolSignature
from holdfast.models.errors import DocumentGone, HoldfastError, ToolBusy, ToolFailed
from holdfast.models.text.json_leaves import map_texts
from holdfast.models.text.secret_mask import SecretMask
from holdfast.models.text.storable_text import storable_text
from holdfast.models.text.terminal_text import shorten_text
from holdfast.tools.mcp.answers.answer_reader import read_answer_text, read_tool_answer
from holdfast.tools.mcp.answers.error_results import is_gone, is_passing
from holdfast.tools.mcp.answers.masked_answers import masked_answer
from holdfast.tools.mcp.private_jobs import ClosedServer, PrivateJob, Reach
from holdfast.tools.mcp.server_config import ServerConfig
from holdfast.tools.mcp.tool_descriptions import clean_description, clean_schema
from holdfast.tools.mcp.tool_schema_checks import CheckedTool
from holdfast.tools.mcp.transports.server_connection import ServerConnection
from holdfast.tools.mcp.transports.server_log import ServerLog
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
    """Keys of the server; no answer or error of any server shows them."""
    is_private: bool = False
    """True if the answers are private documents: every job that may call the server is private."""
    in_private_jobs: "BuiltinServer | ClosedServer | None" = None
    """What replaces the server in private jobs, if it reaches other machines."""
    closed_tools: Mapping[str, str] = field(default_factory=dict)
    """Why tools of this name are not offered, if a private job may not use them."""
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
    reach: Reach
    closed_tools: Mapping[str, str] = field(default_factory=dict)

    @property
    def tools(self) -> Mapping[str, CheckedTool]:
        """The tools of the current listing, by name without the server prefix."""
        return self.link.tools

    async def absence(self) -> str | None:
        """Wait for the connection; return why the server is unavailable, or None."""
        try:
            await self.link.connected()
        except HoldfastError as error:
            return self.secret_mask.text(str(error))
        return None

    def unusable_tools(self) -> Iterator[str]:
        """Return the unusable tools with reasons, and why the listing was not read to its end."""
        server, listing = self.link.name, self.link.listing
        left_out = dict(listing.refused)
        left_out |= {name: listed.fault for name, listed in self.tools.items() if listed.fault}
        for name, reason in left_out.items():
            shown = shorten_text(" ".join(name.split()), _MAX_NAME_CHARS)
            yield self._message(f"tool '{server}.{shown}' was left out: {reason}")
        for fault in self.vocabularies.unmatched_declarations(self._all_tools):
            yield self._message(f"server {server!r}: {fault}")
        if listing.fault:
            yield self._message(f"server {server!r}: {listing.fault}")

    def refusals(self, job: PrivateJob) -> dict[str, str]:
        """Return why tools of this server are closed to a private job, by the tool's name."""
        found = dict(self.closed_tools)
        for name, listed in self.tools.items():
            if refusal := job.tool_refusal(self.link.name, listed.tool, self.reach):
                found[name] = refusal
        return found

    @property
    def _all_tools(self) -> Mapping[str, Tool]:
        return {name: listed.tool for name, listed in self.tools.items()}

    def _message(self, text: str) -> str:
        return self.secret_mask.text(storable_text(text))

    async def signatures(self) -> list[ToolSignature]:
        """Return the signatures of the usable tools; one of them is made in one turn."""
        signatures = []
        for listed in tuple(self.tools.values()):
            is_named = self.secret_mask.text(listed.tool.name) == listed.tool.name
            if listed.fault is None and is_named:  # with another name it could not be called
                signatures.append(self.signature(listed))
                await asyncio.sleep(0)
        return signatures

    def signature(self, checked: CheckedTool) -> ToolSignature:
        """Return the signature of a tool of this server."""
        tool = checked.tool
        return ToolSignature(
            name=f"{self.link.name}.{tool.name}",
            description=clean_description(self.secret_mask.text(tool.description or "")),
            input_schema=self._shown_schema(
                _without_bound_parameters(tool.input_schema, self.bind)
            ),
            output_schema=tool.output_schema and self._shown_schema(tool.output_schema),
            read_only=_is_read_only(tool),
            idempotent=_is_idempotent(tool),
        )

    def _shown_schema(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return clean_schema(
            {name: map_texts(value, self.secret_mask.text) for name, value in schema.items()}
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
            if not self.is_foreign:
                return self._answer(checked, result, name)
            # A thread, because an answer of many values is looked at several times.
            return await asyncio.to_thread(self._answer, checked, result, name)
        except HoldfastError as error:
            error.args = (self.secret_mask.text(str(error)),)
            raise

    def _answer(self, checked: CheckedTool, result: CallToolResult, name: str) -> ToolAnswer:
        if self.is_foreign:  # the library has checked the answers of built-in servers
            checked.check_answer(name, result)
        if result.is_error:
            message, _ = read_answer_text(result, _MAX_ERROR_CHARS)
            raise _error_class(result)(
                f"{name} answered with an error: {message or 'no reason given'}"
            )
        answer = read_tool_answer(
            result, tool=name, limit=self.max_bytes, is_foreign=self.is_foreign
        )
        return masked_answer(answer, self.secret_mask)


def configured_tool_server(
    name: str,
    server: ServerConfig,
    patience: timedelta,
    log_folder: Path | None,
    mask: SecretMask,
    reach: Reach,
) -> ToolServer:
    """Return the tool server for a table `[servers.NAME]` of `holdfast.toml`."""
    server_log = None if log_folder is None else ServerLog(log_folder / f"{name}.log", mask)
    connect = connect_configured(name, server, server_log)
    link = ServerConnection(name, connect, concurrency=server.concurrency, patience=patience)
    return _tool_server(link, server, mask, reach, is_foreign=True)


def builtin_tool_server(
    name: str,
    server: BuiltinServer,
    patience: timedelta,
    mask: SecretMask,
    reach: Reach = Reach.DECLARED,
) -> ToolServer:
    """Return the tool server for a built-in server."""
    connect = connect_in_process(server.server)
    link = ServerConnection(name, connect, concurrency=server.concurrency, patience=patience)
    place = _tool_server(link, server, mask, reach, is_foreign=False)
    return replace(place, closed_tools=server.closed_tools)


def _tool_server(
    link: ServerConnection,
    server: ServerConfig | BuiltinServer,
    mask: SecretMask,
    reach: Reach,
    *,
    is_foreign: bool,
) -> ToolServer:
    return ToolServer(
        link=link,
        bind=server.bind,
        timeout=timedelta(seconds=server.timeout_s),
        max_bytes=server.max_bytes,
        vocabularies=ServerVocabularies(server.vocabulary, mask),
        is_foreign=is_foreign,
        secret_mask=mask,
        reach=reach,
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
