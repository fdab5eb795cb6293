"""Check that the tool servers that a job names exist."""

from collections.abc import Sequence

from holdfast.configuration.builtin_tool_servers import open_builtin_servers, unconnected_corpus
from holdfast.models.errors import BadInput, PartMissing
from holdfast.settings import Settings
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.tool_server import MissingServer


async def check_server_names(names: Sequence[str], settings: Settings) -> None:
    """Refuse names of tool servers that do not exist; no server is started for this.

    Workers elsewhere have their own `holdfast.toml`: a worker refuses a job that names a tool
    server which the worker does not have.

    Raises:
        BadInput: there is no tool server of such a name.
        PartMissing: a server needs an optional part that is not installed.
        BadConfiguration: `holdfast.toml` has a fault.
    """
    if not names or not settings.uses_embedded_temporal:
        return
    own = read_servers(settings.config_file) if settings.config_file else {}
    async with open_builtin_servers(settings, unconnected_corpus()) as builtin:
        missing = {n: each for n, each in builtin.items() if isinstance(each, MissingServer)}
        servers = sorted({*builtin, *own} - missing.keys())
    for name in names:
        if name in missing:
            raise PartMissing(missing[name].reason)
        if name not in servers:
            raise BadInput(f"there is no server {name!r}; there are: {', '.join(servers)}")
