"""Log the tools and tool servers that a job cannot use, with the reason."""

from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import JobTransaction
from holdfast.tools.mcp.tool_hub import Hub


def log_left_out_tools(tx: JobTransaction, hub: Hub) -> None:
    """Log each faulty tool and each missing server of the job's hub."""
    for fault in hub.faults():
        tx.event(EventKind.TOOL_LEFT_OUT, fault=fault)
    for name, server in hub.missing.items():
        tx.event(EventKind.TOOL_LEFT_OUT, fault=server.reason, missing_server=name)
