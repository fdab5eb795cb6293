"""Check whether the tool servers that `holdfast.toml` names start and offer their tools."""

from holdfast.services.checks.check_outcome import CheckOutcome
from holdfast.settings import Endpoints, Settings

_REMEDY = "correct the table [servers.NAME] in holdfast.toml"


async def check_named_servers(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    """Start each server, and say how many tools it offers, or why it offers none."""
    from holdfast.tools.mcp.server_config import read_servers
    from holdfast.tools.mcp.tool_hub import Hub

    named = read_servers(settings.config_file) if settings.config_file else {}
    if not named:
        return CheckOutcome(None, "holdfast.toml names none, and none is needed")
    async with Hub(named, {}) as hub:
        signatures = await hub.signatures()
        faults = hub.faults()
    if faults:
        return CheckOutcome(False, "; ".join(faults), _REMEDY)
    tools = [each.name.partition(".")[0] for each in signatures]
    return CheckOutcome(True, ", ".join(f"{name} ({tools.count(name)} tools)" for name in named))
