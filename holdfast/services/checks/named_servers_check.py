"""Check whether the tool servers that `holdfast.toml` names start and offer their tools."""

from collections import Counter

from holdfast.services.checks.check_outcome import CheckOutcome
from holdfast.settings import Endpoints, Settings

_REMEDY = "correct the table [servers.NAME] in holdfast.toml"


async def check_named_servers(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    """Start each server, and say how many tools it offers, or why it offers none.

    A server that has not started after `CONNECT_TIMEOUT` is named as one that does not answer.
    """
    from holdfast.tools.mcp.server_config import read_servers
    from holdfast.tools.mcp.tool_hub import Hub
    from holdfast.tools.mcp.transports.server_log import server_log_folder

    named = read_servers(settings.config_file) if settings.config_file else {}
    if not named:
        return CheckOutcome(None, "holdfast.toml names none, and none is needed")
    async with Hub(named, {}, log_folder=server_log_folder(settings.home)) as hub:
        tools = Counter(each.name.partition(".")[0] for each in await hub.signatures())
        faults = hub.faults()
    offered = ", ".join(f"{name} ({_counted(tools[name])})" for name in named if tools[name])
    detail = "; ".join(each for each in (offered, *faults) if each)
    is_good = all(tools[name] for name in named)
    return CheckOutcome(is_good, detail, "" if is_good else _REMEDY)


def _counted(tools: int) -> str:
    return "1 tool" if tools == 1 else f"{tools} tools"
