"""Check whether programs that read foreign bytes are confined, and say which are not."""

from collections.abc import Sequence

from holdfast.services.checks.check_outcome import CheckOutcome
from holdfast.settings import Endpoints, Settings

_BARE = (
    "parsers of pages and documents and DuckDB run with the files and the network of the worker, "
    "bounded in time and memory alone"
)


async def check_sandbox(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    """Say what bubblewrap confines here, and what runs without it."""
    from holdfast.tools.mcp.server_config import StdioServer, read_servers
    from holdfast.tools.sandbox.sandbox_support import find_sandbox

    servers = read_servers(settings.config_file) if settings.config_file else {}
    commands = {name: each for name, each in servers.items() if isinstance(each, StdioServer)}
    confined = sorted(name for name, each in commands.items() if each.sandbox)
    bare = sorted(commands.keys() - set(confined))
    support = await find_sandbox()
    if support.bubblewrap is not None:
        return CheckOutcome(True, _confined_text(confined, bare))
    if confined:
        why = f"{support.reason}, so {', '.join(confined)} (sandbox = true) cannot start; {_BARE}"
        return CheckOutcome(False, why, "make bubblewrap work, or take `sandbox` out of the table")
    return CheckOutcome(None, f"{support.reason}: {_BARE}")


def _confined_text(confined: Sequence[str], bare: Sequence[str]) -> str:
    from holdfast.tools.sandbox.syscall_filter import has_syscall_filter

    text = "bubblewrap confines parsers of pages and documents, DuckDB"
    text += f" and the commands of {', '.join(confined)}" if confined else ""
    if bare:
        text += f"; the commands of {', '.join(bare)} run as the worker does, without `sandbox`"
    if not has_syscall_filter():
        text += "; this processor has no system call filter, so they may start processes"
    return text
