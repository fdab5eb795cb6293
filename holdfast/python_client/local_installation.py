"""Start the embedded services of this computer as processes, and say where their server is."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.python_client.api_errors import ServerUnreachable

_START_TIMEOUT_S = 300
# -P: a folder `holdfast` of the user must not hide ours.
_COMMAND = ("-P", "-m", "holdfast", "up", "--json")


@dataclass(frozen=True)
class LocalServer:
    """The server of an installation on this computer."""

    url: str
    key: str


def start_local_installation(home: Path | str | None = None) -> LocalServer:
    """Start what does not run yet, as `holdfast up` does, and return the server.

    Raises:
        ServerUnreachable: a service does not start; the message says why.
    """
    environment: Mapping[str, str] = os.environ
    if home is not None:
        environment = {**os.environ, "HOLDFAST_HOME": str(Path(home).expanduser().resolve())}
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, *_COMMAND],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_START_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ServerUnreachable(
            f"the services did not start within {_START_TIMEOUT_S} s; run `holdfast up` to see why"
        ) from error
    if done.returncode != 0:
        raise ServerUnreachable(f"`holdfast up` failed: {_reason(done)}")
    said = json.loads(done.stdout)
    return LocalServer(said["api"], Path(said["token_file"]).read_text("ascii").strip())


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    """The error that the command printed after what it had started."""
    # PostgreSQL's tools begin lines with their name: `initdb: error: `.
    error = re.search(r"^error: (.*)", done.stderr, re.MULTILINE | re.DOTALL)
    return (error and error[1].strip()) or f"exit code {done.returncode}"
