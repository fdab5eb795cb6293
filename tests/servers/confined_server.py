"""MCP server over stdio that tries what its sandbox should refuse, and takes memory."""

import os
import time

from mcp.server import MCPServer

confined = MCPServer("confined")


@confined.tool()
def attempt(code: str) -> str:
    """Return the value of the expression, or the error."""
    try:
        return str(eval(code))
    except OSError as error:
        return f"refused: {error.strerror}"


@confined.tool()
def grow(megabytes: int, processes: int) -> str:
    """Take so much memory in each of so many processes, and wait."""
    for _ in range(processes):
        if os.fork() == 0:
            break
    kept = bytearray(os.urandom(2**20)) * megabytes
    time.sleep(600)
    return str(len(kept))


if __name__ == "__main__":
    confined.run()
