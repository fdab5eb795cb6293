"""Disks of an installation's own: a tmpfs that can be full, and an ext4 that can turn read-only.

The tmpfs shrinks to what is used. The ext4 lies in a file behind a loop device; told of an error,
the kernel makes it read-only under all open files, as after a fault of the hardware
(`errors=remount-ro`). Only root can mount them.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path

OwnDisk = Callable[[Path], AbstractContextManager[bool]]
"""Puts a disk on a folder while in it; True if there is one."""

_WHOLE_KB = 6_000_000
_GROWTH_KB = (4, 64, 512, 4096)
"""Files grow between the look and the mount."""
_IMAGE_BYTES, _SMALL_IMAGE_BYTES = 4 << 30, 8 << 20
"""Of files with holes: only what is written takes room."""
_MOUNT, _UNMOUNT = shutil.which("mount") or "", shutil.which("umount") or ""
_MAKE_EXT4 = shutil.which("mkfs.ext4") or ""
_FREED_WITHIN_S = 20.0


@contextmanager
def disk_of_its_own(folder: Path) -> Iterator[bool]:
    """A tmpfs on this folder while in it, if one can be mounted; True if there is one."""
    is_mounted = _is_root() and bool(_MOUNT) and _mount_tmpfs(folder, f"size={_WHOLE_KB}k")
    if is_mounted:
        folder.chmod(0o755)
    try:
        yield is_mounted
    finally:
        if is_mounted:
            _run(_UNMOUNT, "--lazy", str(folder))


def fill(folder: Path) -> None:
    """Leave no free block on the disk."""
    used_kb = shutil.disk_usage(folder).used // 1024
    fits = any(_mount_tmpfs(folder, f"remount,size={used_kb + more}k") for more in _GROWTH_KB)
    assert fits, f"{folder} cannot be made smaller"


def free(folder: Path) -> None:
    """Give the disk its size again."""
    assert _mount_tmpfs(folder, f"remount,size={_WHOLE_KB}k"), f"{folder} cannot be enlarged"


def _mount_tmpfs(folder: Path, options: str) -> bool:
    return _run(_MOUNT, "-t", "tmpfs", "-o", options, "holdfast-chaos", str(folder))


@cache
def can_turn_read_only() -> bool:
    """True if this machine has file systems that can be told of an error."""
    if not (_is_root() and _MOUNT and _MAKE_EXT4):
        return False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with _mounted_image(path, _SMALL_IMAGE_BYTES) as is_mounted:
            return is_mounted and _error_trigger(path).exists()


@contextmanager
def failing_disk(folder: Path) -> Iterator[bool]:
    """An ext4 on this folder while in it; True if there is one."""
    with _mounted_image(folder, _IMAGE_BYTES) as is_mounted:
        yield is_mounted


def turn_read_only(folder: Path) -> None:
    """Tell the disk's file system of an error: from now on, nothing can be written."""
    _error_trigger(folder).write_text("1")


def mount_again(folder: Path) -> None:
    """Mount the disk as after a start of the machine; no process may have a file open on it."""
    image = _image_of(folder)
    given_up = time.monotonic() + _FREED_WITHIN_S
    while not _run(_UNMOUNT, str(folder)):  # a killed process is gone a moment later
        assert time.monotonic() < given_up, f"{folder} is in use"
        time.sleep(0.1)
    assert _mount_image(image, folder), f"{image} cannot be mounted again"


@contextmanager
def _mounted_image(folder: Path, size_bytes: int) -> Iterator[bool]:
    image = _image_of(folder)
    image.touch()
    os.truncate(image, size_bytes)
    is_mounted = _run(_MAKE_EXT4, "-q", "-F", str(image)) and _mount_image(image, folder)
    if is_mounted:
        folder.chmod(0o755)
    try:
        yield is_mounted
    finally:
        if is_mounted:
            _run(_UNMOUNT, "--lazy", str(folder))
        image.unlink()


def _image_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.ext4")


def _mount_image(image: Path, folder: Path) -> bool:
    return _run(_MOUNT, "-o", "loop,errors=remount-ro", str(image), str(folder))


def _error_trigger(folder: Path) -> Path:
    """The file of the kernel that tells the file system of an error."""
    device = folder.stat().st_dev
    link = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    return Path("/sys/fs/ext4", link.resolve().name, "trigger_fs_error")


def _is_root() -> bool:
    return os.geteuid() == 0


def _run(*words: str) -> bool:
    """True if the command succeeded."""
    return subprocess.run(words, check=False, capture_output=True).returncode == 0
