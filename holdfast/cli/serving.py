"""`holdfast serve`: the jobs over HTTP, until it is interrupted."""

import asyncio
import socket
import sys

from holdfast.api.server import address_of, bound, is_loopback, server
from holdfast.cli.installation import attached
from holdfast.cli.output import print_json, print_text, say


def serve_command(host: str, port: int, *, json_output: bool) -> None:
    listening = bound(host, port)
    try:
        asyncio.run(_served(listening, json_output=json_output))
    finally:
        listening.close()


async def _served(listening: socket.socket, *, json_output: bool) -> None:
    async with attached(needs_temporal=False) as holdfast:
        _say_where(listening, json_output=json_output)
        serving, _ = server(holdfast, listening)
        await serving.serve(sockets=[listening])


def _say_where(listening: socket.socket, *, json_output: bool) -> None:
    address = address_of(listening)
    if not is_loopback(listening):
        say(
            "warning: other computers can reach this address, and whoever reaches it can read "
            "every job; nobody is asked who they are"
        )
    if json_output:
        print_json({"url": address})
    else:
        print_text(address)
    # Who started this in a pipe waits for the address, and no more is printed that would fill it.
    sys.stdout.flush()
    say("Ctrl-C ends it; jobs go on")
