"""Build the sandbox of an MCP command whose table says `sandbox`."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from holdfast.models.errors import BadConfiguration
from holdfast.models.frozen_model import Frozen
from holdfast.tools.sandbox.bubblewrap_command import SCRATCH, Grants, Launch, bubblewrap_launch
from holdfast.tools.sandbox.process_tree_watch import TreeLimits
from holdfast.tools.sandbox.sandbox_support import find_sandbox

_SYSTEM_FOLDERS = "/usr/local/bin:/usr/bin:/bin"
_SCRATCH_BYTES = 256 * 2**20


class ServerGrants(Frozen):
    """What a sandboxed command gets in addition to its program, its `cwd` and its `env`."""

    network: bool = False
    read: tuple[Path, ...] = ()
    """Files and folders that it reads; relative to `holdfast.toml`."""
    write: tuple[Path, ...] = ()
    """Files and folders that it reads and changes."""
    memory_mb: int = Field(default=2_048, ge=64)
    """Memory of all its processes together."""
    processes: int = Field(default=64, ge=1)

    @property
    def limits(self) -> TreeLimits:
        return TreeLimits(self.memory_mb * 2**20, self.processes)

    def below(self, folder: Path) -> "ServerGrants":
        """Return the grants with whole paths; relative ones start at the folder."""
        read, write = (
            tuple(folder / path.expanduser() for path in paths) for paths in (self.read, self.write)
        )
        return self.model_copy(update={"read": read, "write": write})


def _as_grants(value: object) -> object:
    return {} if value is True else None if value is False else value


SandboxSetting = Annotated[ServerGrants | None, BeforeValidator(_as_grants)]
"""`true`, or a table with grants; `false` for no sandbox."""


def check_granted_paths(where: str, grants: ServerGrants) -> None:
    """Check that all granted files and folders exist.

    Raises:
        BadConfiguration: one does not.
    """
    for key, paths in {"read": grants.read, "write": grants.write}.items():
        for path in paths:
            if not path.exists():
                raise BadConfiguration(
                    f"{where}.sandbox.{key}: no such file or folder: {str(path)!r}; create or "
                    "correct it"
                )


async def find_server_sandbox(name: str) -> str:
    """Return the bubblewrap for a command that must be confined.

    Raises:
        BadConfiguration: there is none; the command does not run without it.
    """
    support = await find_sandbox()
    if support.bubblewrap is None:
        raise BadConfiguration(
            f"server {name!r} has sandbox = true, and {support.reason}; make bubblewrap work, or"
            " take the key out: its command then runs with the files and the network of the worker"
        )
    return support.bubblewrap


def sandboxed_environment(env: Mapping[str, str], command: Sequence[str]) -> dict[str, str]:
    """Return the whole environment of the command."""
    folder = Path(shutil.which(command[0]) or command[0]).parent
    path = f"{folder}:{_SYSTEM_FOLDERS}" if folder.is_absolute() else _SYSTEM_FOLDERS
    return {"PATH": path, "HOME": str(SCRATCH), "LANG": "C.UTF-8", **env}


@contextmanager
def sandboxed_launch(
    bubblewrap: str, command: Sequence[str], cwd: Path, sandbox: ServerGrants
) -> Iterator[Launch]:
    """Yield how to start the command of a server in its sandbox.

    Raises:
        FileNotFoundError: there is no such program.
    """
    program = shutil.which(command[0]) or str(cwd / command[0])
    path = Path(program).absolute()
    if not path.exists():
        raise FileNotFoundError(f"no such program: {command[0]!r}")
    grants = Grants(
        read=(*_program_files(path), cwd, *sandbox.read),
        write=sandbox.write,
        scratch_bytes=_SCRATCH_BYTES,
        cwd=cwd,
        has_network=sandbox.network,
        may_fork=True,
    )
    with bubblewrap_launch(bubblewrap, (str(path), *command[1:]), grants) as launch:
        yield launch


def _program_files(program: Path) -> tuple[Path, ...]:
    """Return the program with what it is a link to, and the Python that it needs."""
    steps = _links(program)
    environments = [step.parent.parent for step in steps if _is_environment(step.parent.parent)]
    pythons = [step for each in environments for step in _links(each / "bin/python")]
    prefixes = [step.parent.parent for step in (*steps, *pythons) if _is_of_python(step)]
    return (*steps, *environments, *prefixes)


def _links(path: Path) -> list[Path]:
    """Return the path, and each path that a link on the way leads to."""
    steps = [path]
    while steps[-1].is_symlink():
        steps.append(Path(os.path.normpath(steps[-1].parent / steps[-1].readlink())))
    return steps


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").exists()


def _is_of_python(program: Path) -> bool:
    """Return True if the program is in the `bin` of an installed Python."""
    return program.name.startswith("python") and any(program.parent.parent.glob("lib/*/os.py"))
