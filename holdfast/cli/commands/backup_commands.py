"""Implement `holdfast backup` and `restore`."""

import asyncio
from pathlib import Path

from holdfast.cli.render.terminal_output import print_json, print_progress, print_text
from holdfast.services.database_backup import write_backup
from holdfast.services.database_restore import restore_backup
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.settings import load_settings


def backup_command(file: Path, *, json_output: bool) -> None:
    """Write the backup, and print its size."""
    endpoints = asyncio.run(attach_to_services(load_settings(), needs_temporal=False))
    write_backup(endpoints.database_url, file)
    size = file.stat().st_size
    if json_output:
        print_json({"file": str(file.absolute()), "size_bytes": size})
    else:
        print_text(f"wrote {file} ({size / 1_000_000:.1f} MB)")


def restore_command(file: Path, *, replaces: bool, json_output: bool) -> None:
    """Restore the backup, and print what it has."""
    settings = load_settings()
    restored = asyncio.run(restore_backup(settings, file, print_progress, replaces=replaces))
    if json_output:
        print_json(restored)
        return
    print_text(f"restored {restored.jobs} jobs, {restored.open_jobs} of which have not ended")
    continues = ", which continues them" if restored.open_jobs else ""
    print_text(f"`holdfast up` starts the worker{continues}")
