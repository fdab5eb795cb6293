"""Find out whether bubblewrap can confine programs on this machine."""

import asyncio
import os
import shutil
import subprocess
import sys
from functools import cache
from typing import NamedTuple

import structlog

from holdfast.tools.sandbox.bubblewrap_command import Grants, bubblewrap_launch
from holdfast.tools.sandbox.own_python import OWN_ENVIRONMENT, own_program

log = structlog.get_logger(__name__)

BUBBLEWRAP_PROGRAM = "bwrap"
NOT_INSTALLED = "bubblewrap is not installed (Debian: apt install bubblewrap)"
_PROBE_S = 60.0
_FAULT_CHARS = 300


class SandboxSupport(NamedTuple):
    """The path of a bubblewrap that works here; None with the reason if there is none."""

    bubblewrap: str | None
    reason: str = ""


async def find_sandbox() -> SandboxSupport:
    """Return the bubblewrap of this machine, tried once per process."""
    return await asyncio.to_thread(_support)


def _support() -> SandboxSupport:
    if sys.platform != "linux":
        return SandboxSupport(None, "bubblewrap needs Linux")
    program = shutil.which(BUBBLEWRAP_PROGRAM)
    if program is None:
        return SandboxSupport(None, NOT_INSTALLED)
    try:
        fault = _fault_of_probe(program)
    except (OSError, subprocess.TimeoutExpired) as error:  # not kept: the machine may be busy
        fault = str(error)[:_FAULT_CHARS]
    return SandboxSupport(None, fault) if fault else SandboxSupport(program)


@cache
def _fault_of_probe(bubblewrap: str) -> str:
    """Return why our own Python does not run in the sandbox; empty if it runs."""
    own = own_program(f"{__package__}.sandbox_probe")
    with bubblewrap_launch(bubblewrap, own.command, Grants(read=own.read)) as launch:
        done = subprocess.run(  # noqa: S603 - the program found by name, and our own module
            launch.command,
            env=OWN_ENVIRONMENT,
            cwd="/",
            pass_fds=launch.descriptors,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_S,
            check=False,
        )
    if done.returncode == 0:
        return ""
    last_lines = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    fault = last_lines[0][:_FAULT_CHARS] if last_lines else f"status {done.returncode}"
    log.warning("sandbox.unavailable", program=bubblewrap, fault=fault, user=os.geteuid())
    return f"bubblewrap can confine nothing here ({fault}): allow user namespaces"
