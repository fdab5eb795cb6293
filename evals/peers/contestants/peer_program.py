"""Answer with a program of another project, in the peers' own environment."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.evals.peers.contestants.bracket_citations import check_plain_answer
from holdfast.evals.peers.contestants.contestant_interface import (
    CITE_AND_SAY,
    Delivered,
    RunOrder,
)
from holdfast.models.errors import BadInput

PEERS_PYTHON = Path(sys.prefix) / "peer-agents" / "bin" / "python"
PROGRAMS: Mapping[str, str] = {
    "pydantic-ai": "react_agent.py",
    "gpt-researcher": "local_researcher.py",
}
_FOLDER = Path(__file__).resolve().parents[1] / "programs"
_SHOWN_ERROR = 600
_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "SSL_CERT_FILE")
"""Of the environment; the peers are given no key."""


def check_peers_installed() -> None:
    """Check that the peers' environment is there.

    Raises:
        BadInput: it is not.
    """
    if not PEERS_PYTHON.exists():
        raise BadInput(f"there is no {PEERS_PYTHON}: `make peers` installs the peers")


@dataclass(frozen=True)
class PeerProgram:
    """One program of `programs/`."""

    name: str

    async def answer(self, order: RunOrder) -> Delivered:
        """Return what the program prints."""
        process = await asyncio.create_subprocess_exec(
            str(PEERS_PYTHON),
            str(_FOLDER / PROGRAMS[self.name]),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
        )
        try:
            said, errors = await process.communicate(json.dumps(_as_json(order)).encode())
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            return Delivered(text="", failure=errors.decode(errors="replace")[-_SHOWN_ERROR:])
        told = json.loads(said.decode().splitlines()[-1])
        return check_plain_answer(told["text"], order.given, told["searches"])


def _as_json(order: RunOrder) -> dict[str, object]:
    return {
        "run": order.run,
        "address": order.address,
        "collection": order.given.collection,
        "question": order.question.text,
        "cite": CITE_AND_SAY,
        "documents": [(each.address, each.title, each.text) for each in order.given.documents],
    }
