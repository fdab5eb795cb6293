"""A disk of an installation's own that can be full: a tmpfs whose size shrinks to what is used.

Only root can mount one.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_WHOLE_KB = 6_000_000
_GROWTH_KB = (4, 64, 512, 4096)
"""Files grow between the look and the mount."""
_MOUNT, _UNMOUNT = shutil.which("mount") or "", shutil.which("umount") or ""


@contextmanager
def disk_of_its_own(folder: Path) -> Iterator[bool]:
    """A tmpfs on this folder while in it, if one can be mounted; True if there is one."""
    is_mounted = os.geteuid() == 0 and bool(_MOUNT) and _mount(folder, f"size={_WHOLE_KB}k")
    if is_mounted:
        folder.chmod(0o755)
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run([_UNMOUNT, "--lazy", str(folder)], check=False)


def fill(folder: Path) -> None:
    """Leave no free block on the disk."""
    used_kb = shutil.disk_usage(folder).used // 1024
    fits = any(_mount(folder, f"remount,size={used_kb + more}k") for more in _GROWTH_KB)
    assert fits, f"{folder} cannot be made smaller"


def free(folder: Path) -> None:
    """Give the disk its size again."""
    assert _mount(folder, f"remount,size={_WHOLE_KB}k"), f"{folder} cannot be enlarged"


def _mount(folder: Path, options: str) -> bool:
    words = [_MOUNT, "-t", "tmpfs", "-o", options, "holdfast-chaos", str(folder)]
    return subprocess.run(words, check=False, capture_output=True).returncode == 0
