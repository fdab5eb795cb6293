"""Repair the data folder of a PostgreSQL that ended, or never began, without order."""

import os
from datetime import UTC, datetime
from pathlib import Path

from holdfast.services.private_files import write_private_file
from holdfast.services.servers.postgres_processes import servers_on


def is_complete(cluster: Path) -> bool:
    """True if PostgreSQL has finished making the folder; only then can it hold data."""
    control = cluster / "global" / "pg_control"
    return control.is_file() and control.stat().st_size > 0 and _has_version(cluster)


def set_aside_incomplete(cluster: Path) -> Path | None:
    """Rename a folder in which no server can start; return its new name, or None if all is well."""
    if not cluster.exists() or is_complete(cluster) or not any(cluster.iterdir()):
        return None
    kept = cluster.with_name(f"{cluster.name}.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    cluster.rename(kept)
    return kept


def remove_stale_lock_files(cluster: Path, sockets: Path) -> None:
    """Remove lock files of servers that do not run any more; no server of ours may be starting.

    After a reboot another process may have the pid in the file, and PostgreSQL refuses to start;
    so it does for an empty file. It handles a pid without a process by itself.
    """
    servers = {str(process.pid) for process in servers_on(cluster)}
    for file in (cluster / "postmaster.pid", *sockets.glob(".s.PGSQL.*.lock")):
        if file.exists():
            pid = file.read_text(errors="replace").partition("\n")[0].strip()
            if pid.removeprefix("-") not in servers:
                file.unlink()


def _has_version(cluster: Path) -> bool:
    """True if the folder names PostgreSQL's version; a name that was lost is restored.

    Each database of the cluster names it, too.
    """
    file, copy = cluster / "PG_VERSION", cluster / "base" / "1" / "PG_VERSION"
    if not _text(file) and _text(copy):
        write_private_file(file, copy.read_text())
        owner = copy.stat()
        os.chown(file, owner.st_uid, owner.st_gid, follow_symlinks=False)
    return bool(_text(file))


def _text(file: Path) -> str:
    return file.read_text(errors="replace").strip("\0 \n") if file.is_file() else ""
