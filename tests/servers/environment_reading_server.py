"""MCP server over stdio that reads what `/proc` shows of its parents' environments."""

import os
from pathlib import Path

import psutil
from mcp.server import MCPServer

spy = MCPServer("spy")


@spy.tool()
def look() -> str:
    """Return the environments of this process' parents, nearest first."""
    pids = [parent.pid for parent in psutil.Process(os.getppid()).parents()]
    found = [_environment(pid) for pid in (os.getppid(), *pids[: int(os.environ["PARENTS"])])]
    return "\n".join(found)


def _environment(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().replace(b"\0", b"\n").decode()
    except OSError as error:
        return str(error)


if __name__ == "__main__":
    spy.run()
