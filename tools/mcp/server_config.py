"""Read and validate the MCP servers that the user configures in `holdfast.toml`."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field
from pydantic_core import ErrorDetails

from holdfast.models.errors import BadConfiguration
from holdfast.models.frozen_model import Frozen
from holdfast.planning.text.nearest_values import nearest_names
from holdfast.tools.holdfast_toml import read_toml, validated
from holdfast.tools.mcp.server_sandbox import SandboxSetting, check_granted_paths
from holdfast.tools.vocabularies.vocabulary_sources import VocabularySource, read_vocabulary_files

ConfigText = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]+$")]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""No dot: the first dot of `server.tool` ends the server's name."""

_EXAMPLES = {
    "command": 'command = ["python", "server.py"]',
    "env": 'env = ["MY_TOKEN"] (names only; the values stay in the environment)',
    "cwd": 'cwd = "servers/mine"',
    "sandbox": 'sandbox = true or sandbox = { network = true, read = ["books"], write = ["notes"], '
    "memory_mb = 512, processes = 16 }",
    "url": 'url = "https://example.org/mcp"',
    "headers_env": 'headers_env = {Authorization = "MY_TOKEN_VAR"}',
    "timeout_s": "timeout_s = 60",
    "concurrency": "concurrency = 8",
    "max_bytes": "max_bytes = 1000000",
    "vocabulary": 'vocabulary = {relation = ["capital of", "born in"]}, {file = "terms.txt"} or '
    '{tool = "list_terms"} in the place of the list',
    "bind": 'bind = {collection = "collection"}',
}


class _ServerSettings(Frozen):
    timeout_s: float = Field(default=60, gt=0, le=86_400, allow_inf_nan=False)
    """The time limit of a call."""
    concurrency: int = Field(default=8, ge=1, le=1_000)
    """The maximum number of concurrent calls."""
    max_bytes: int = Field(default=1_000_000, ge=1)
    """The maximum number of characters kept of an answer."""
    bind: Mapping[ConfigText, ConfigText] = Field(default_factory=dict)
    """Facts of the job by tool parameter; Holdfast sets them, planners never see them."""
    vocabulary: Mapping[ConfigText, VocabularySource] = Field(default_factory=dict)
    """The allowed values by `parameter` or `tool.parameter`."""


class StdioServer(_ServerSettings):
    """A server that Holdfast starts; they exchange messages over stdin and stdout."""

    command: tuple[ConfigText, ...] = Field(min_length=1)
    env: tuple[ConfigText, ...] = ()
    """Names of the worker's environment variables that the server gets."""
    cwd: Path | None = None
    sandbox: SandboxSetting = None
    """What the command may reach; None if it runs as the worker does."""


class HttpServer(_ServerSettings):
    """A running server, connected over streamable HTTP."""

    url: str = Field(pattern=r"^https?://[^\s/]+\S*$")
    headers_env: Mapping[ConfigText, ConfigText] = Field(default_factory=dict)
    """The environment variable with the header's whole value, by header."""


ServerConfig: TypeAlias = StdioServer | HttpServer


def read_servers(path: Path) -> dict[str, ServerConfig]:
    """Return the servers of the file at `path` by name; empty if the file does not exist.

    A relative `cwd` starts at the file's folder, which is also the default.

    Raises:
        BadConfiguration: a setting is wrong; names file, server and key, and the right form.
    """
    if not path.exists():
        return {}
    tables = _tables(path)
    return {name: _server(path, name, entry) for name, entry in tables.items()}


def check_own_names(servers: Collection[str], builtin: Collection[str]) -> None:
    """Check that no server of the user has the name of a built-in server.

    Raises:
        BadConfiguration: a name is taken.
    """
    for name in sorted(set(servers) & set(builtin)):
        raise BadConfiguration(f"server {name!r} comes with Holdfast; rename yours")


def _tables(path: Path) -> dict[str, Any]:
    content = read_toml(path)
    for key in content:
        if key != "servers" and nearest_names(key.lower(), ["servers", "mcpservers"]):
            raise BadConfiguration(f"{path}: unknown table {key!r}; write [servers.NAME]")
    tables = content.get("servers", {})
    if not isinstance(tables, dict):
        raise BadConfiguration(f"{path}: 'servers' must be tables; write [servers.NAME]")
    return tables


def _server(path: Path, name: str, entry: object) -> ServerConfig:
    where = f"{path}: servers.{name}"
    if not _NAME.fullmatch(name):
        raise BadConfiguration(f"{where}: use letters, digits, - and _ in a server's name")
    if not isinstance(entry, dict):
        raise BadConfiguration(f"{where} must be a table; write [servers.{name}]")
    shape = _shape(where, entry)
    server = validated(shape, entry, lambda detail: _config_error(where, shape, detail))
    known = read_vocabulary_files(where, path.resolve().parent, server.vocabulary)
    server = server.model_copy(update={"vocabulary": known})
    return _with_working_folder(where, path, server) if isinstance(server, StdioServer) else server


def _shape(where: str, entry: Mapping[str, object]) -> type[StdioServer] | type[HttpServer]:
    match "command" in entry, "url" in entry:
        case True, False:
            return StdioServer
        case False, True:
            return HttpServer
        case True, True:
            raise BadConfiguration(f"{where} has both 'command' and 'url'; leave one of them out")
        case _:
            ways = f"{_EXAMPLES['command']} or {_EXAMPLES['url']}"
            raise BadConfiguration(f"{where} has neither 'command' nor 'url'; add {ways}")


def _config_error(where: str, shape: type[_ServerSettings], detail: ErrorDetails) -> str:
    key = str(detail["loc"][0])
    if detail["type"] == "extra_forbidden" and len(detail["loc"]) == 1:
        keys = ", ".join(sorted(shape.model_fields))
        return f"{where}.{key} is not a known key; known here: {keys}"
    return f"{where}.{key}: {detail['msg']}; write for example {_EXAMPLES[key]}"


def _with_working_folder(where: str, path: Path, server: StdioServer) -> StdioServer:
    cwd = path.resolve().parent / (server.cwd or ".")
    if not cwd.is_dir():
        raise BadConfiguration(f"{where}.cwd: no such folder: {str(cwd)!r}; create or correct it")
    if server.sandbox is None:
        return server.model_copy(update={"cwd": cwd})
    sandbox = server.sandbox.below(path.resolve().parent)
    check_granted_paths(where, sandbox)
    return server.model_copy(update={"cwd": cwd, "sandbox": sandbox})
