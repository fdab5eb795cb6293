"""Start the tool servers of an installation, and list their tools."""

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.configuration.builtin_tool_servers import open_builtin_servers, unconnected_corpus
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.settings import Settings
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import MissingServer


class LoadedTools(NamedTuple):
    """The available tools, and why other tools are missing."""

    signatures: tuple[ToolSignature, ...]
    faults: tuple[str, ...]
    missing: Mapping[str, MissingServer]


async def load_tools(settings: Settings) -> LoadedTools:
    """Return the available tools; the tool servers are started for this, and stopped again.

    Raises:
        BadConfiguration: `holdfast.toml` has a fault.
    """
    servers = read_servers(settings.config_file) if settings.config_file else {}
    async with (
        open_builtin_servers(settings, unconnected_corpus()) as builtin,
        Hub(servers, builtin) as hub,
    ):
        return LoadedTools(await hub.signatures(), hub.faults(), hub.missing)
