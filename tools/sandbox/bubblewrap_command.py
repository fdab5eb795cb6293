"""Build the bubblewrap command that starts a program in namespaces of its own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from holdfast.tools.sandbox.syscall_filter import open_syscall_filter

NOBODY_UID = 65534
SCRATCH = Path("/tmp")  # noqa: S108 - the sandbox's own, in memory
_NAMESPACES = (
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--uid",
    str(NOBODY_UID),
    "--gid",
    str(NOBODY_UID),
    "--hostname",
    "sandbox",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
)
_SYSTEM = ("/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
_SYSTEM_IF_THERE = (
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/localtime",
)
_NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/pki")


@dataclass(frozen=True)
class Grants:
    """What a sandboxed program gets of the machine, in addition to the system's programs."""

    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    scratch_bytes: int = 16 * 2**20
    """Size of /tmp, which is in memory and lasts as long as the program."""
    cwd: Path = SCRATCH
    has_network: bool = False
    may_fork: bool = False


class Launch(NamedTuple):
    """A command, and the descriptors that it inherits."""

    command: tuple[str, ...]
    descriptors: tuple[int, ...] = ()


@contextmanager
def bubblewrap_launch(
    bubblewrap: str | None, command: Sequence[str], grants: Grants
) -> Iterator[Launch]:
    """Yield how to start the command in the sandbox; the bare command if `bubblewrap` is None.

    The program's environment is that of bubblewrap, so that no secret is in a command line.
    """
    if bubblewrap is None:
        yield Launch(tuple(command))
        return
    with open_syscall_filter(may_fork=grants.may_fork) as filter_from:
        options = [*_NAMESPACES, *_network(grants), *_files(grants)]
        if filter_from is not None:
            options += ["--seccomp", str(filter_from)]
        descriptors = () if filter_from is None else (filter_from,)
        yield Launch((bubblewrap, *options, "--", *command), descriptors)


def _network(grants: Grants) -> list[str]:
    if not grants.has_network:
        return []
    options = ["--share-net"]
    for name in _NETWORK_FILES:
        # The name server's file is often a link to a folder that is not in the sandbox.
        options += ["--ro-bind-try", str(Path(name).resolve()), name]
    return options


def _files(grants: Grants) -> list[str]:
    # Before the rest: later mounts below /tmp are mounted into it.
    options = ["--size", str(grants.scratch_bytes), "--tmpfs", str(SCRATCH)]
    options += ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        options += _system(Path(name))
    for name in (*_SYSTEM_IF_THERE, *map(str, dict.fromkeys(grants.read))):
        options += ["--ro-bind-try", name, name]
    for path in grants.write:
        options += ["--bind-try", str(path), str(path)]
    # Both are in memory and have no size limit: only /tmp may be written to.
    options += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*options, "--chdir", str(grants.cwd)]


def _system(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.exists() else []
