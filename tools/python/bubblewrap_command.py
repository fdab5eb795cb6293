"""Build the bubblewrap command that starts Python in isolated namespaces."""

import shutil
from pathlib import Path

BUBBLEWRAP_PROGRAM = "bwrap"
NOBODY_UID = 65534
_SCRATCH = "/tmp"  # noqa: S108 - the sandbox's own, in memory
_VARIABLES = {
    "PATH": "/usr/bin",
    "HOME": _SCRATCH,
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    # The stacks of one thread per core would not fit into the address space.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": f"{_SCRATCH}/mpl",
}
_NAMESPACES = (
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
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


def bubblewrap_command(venv: Path, source: str, *, scratch_bytes: int) -> list[str]:
    """Return the command that runs `source`: files read-only, no network, an empty /tmp."""
    python = venv / "bin/python"
    command = [shutil.which(BUBBLEWRAP_PROGRAM) or BUBBLEWRAP_PROGRAM, *_NAMESPACES]
    # Before the rest: later mounts below /tmp are mounted into it.
    command += ["--size", str(scratch_bytes), "--tmpfs", _SCRATCH]
    for path in dict.fromkeys((Path("/usr"), python.resolve().parent.parent, venv)):
        command += ["--ro-bind", str(path), str(path)]
    for path in (Path("/lib"), Path("/lib64"), Path("/bin")):
        command += _system(path)
    for name in ("/etc/ld.so.cache", "/etc/fonts"):
        command += ["--ro-bind-try", name, name]
    for name, value in _VARIABLES.items():
        command += ["--setenv", name, value]
    # Both are in memory and have no size limit: only /tmp may be written to.
    command += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*command, "--chdir", _SCRATCH, "--", str(python), "-I", "-c", source]


def _system(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.exists() else []
