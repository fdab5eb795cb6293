"""The MCP servers that a user names in `holdfast.toml`, checked before anything is started."""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from models.base import Frozen
from models.errors import BadConfiguration
from tools.toml import read_toml
from tools.vocabulary_sources import Source, without_files

Word = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]+$")]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""No dot: the first dot of `server.tool` ends the server's name."""

_EXAMPLES = {
    "command": 'command = ["python", "server.py"]',
    "env": 'env = ["MY_TOKEN"] (names only; the values stay in the environment)',
    "cwd": 'cwd = "servers/mine"',
    "url": 'url = "https://example.org/mcp"',
    "headers_env": 'headers_env = {Authorization = "MY_TOKEN_VAR"}',
    "timeout_s": "timeout_s = 60",
    "concurrency": "concurrency = 8",
    "max_bytes": "max_bytes = 1000000",
    "vocabulary": 'vocabulary = {relation = ["capital of", "born in"]}, {file = "terms.txt"} or '
    '{tool = "list_terms"} in the place of the list',
    "bind": 'bind = {collection = "collection"}',
}


class _Server(Frozen):
    timeout_s: float = Field(default=60, gt=0, le=86_400, allow_inf_nan=False)
    """How long a call may take."""
    concurrency: int = Field(default=8, ge=1, le=1_000)
    """How many calls may be with the server at once."""
    max_bytes: int = Field(default=1_000_000, ge=1)
    """How many characters of an answer are kept."""
    bind: Mapping[Word, Word] = Field(default_factory=dict)
    """Tool parameter to fact of the job: Holdfast fills these in, and planners never see them."""
    vocabulary: Mapping[Word, Source] = Field(default_factory=dict)
    """The values that a parameter may have, by `parameter` or `tool.parameter`."""


class StdioServer(_Server):
    """A server that Holdfast starts itself and talks to over stdin and stdout."""

    command: tuple[Word, ...] = Field(min_length=1)
    env: tuple[Word, ...] = ()
    """Names of environment variables handed on from the worker's environment."""
    cwd: Path | None = None


class HttpServer(_Server):
    """A server that is already running, reached over streamable HTTP."""

    url: str = Field(pattern=r"^https?://[^\s/]+\S*$")
    headers_env: Mapping[Word, Word] = Field(default_factory=dict)
    """Header to the environment variable that holds its whole value."""


ServerConfig: TypeAlias = StdioServer | HttpServer


def read_servers(path: Path) -> dict[str, ServerConfig]:
    """The servers named in the file at `path`, by name; none if there is no such file.

    A relative `cwd` counts from the file's folder, which is also the default.

    Raises:
        BadConfiguration: names file, server and key, and says what to write.
    """
    if not path.exists():
        return {}
    tables = _tables(path)
    return {name: _server(path, name, entry) for name, entry in tables.items()}


def _tables(path: Path) -> dict[str, Any]:
    content = read_toml(path)
    for key in content:
        if key != "servers" and difflib.get_close_matches(key.lower(), ["servers", "mcpservers"]):
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
    try:
        server = shape.model_validate(entry)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        raise BadConfiguration(_complaint(where, shape, details[0])) from None
    known = without_files(where, path.resolve().parent, server.vocabulary)
    server = server.model_copy(update={"vocabulary": known})
    return _placed(where, path, server) if isinstance(server, StdioServer) else server


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


def _complaint(where: str, shape: type[_Server], detail: ErrorDetails) -> str:
    key = str(detail["loc"][0])
    if detail["type"] == "extra_forbidden":
        known = ", ".join(sorted(shape.model_fields))
        return f"{where}.{key} is not a known key; known here: {known}"
    return f"{where}.{key}: {detail['msg']}; write for example {_EXAMPLES[key]}"


def _placed(where: str, path: Path, server: StdioServer) -> StdioServer:
    cwd = path.resolve().parent / (server.cwd or ".")
    if not cwd.is_dir():
        raise BadConfiguration(f"{where}.cwd: no such folder: {str(cwd)!r}; create or correct it")
    return server.model_copy(update={"cwd": cwd})
