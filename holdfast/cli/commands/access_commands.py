"""Implement `holdfast keys` and `holdfast audit`."""

from collections.abc import Sequence
from datetime import UTC, datetime

from holdfast.access.api_keys import create_key, revoke_key, rotate_key
from holdfast.cli.installation_access import run_with_client
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import console, print_json, print_progress, print_text
from holdfast.jobs.current_user import current_user
from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.api_keys import CreatedKey
from holdfast.models.access.audit_entries import AuditFilter
from holdfast.storage.access.api_key_rows import load_keys
from holdfast.storage.access.audit_rows import load_audit_entries

_DEFAULT_SCOPES = (Scope.READ, Scope.ASK, Scope.STEER)


def create_key_command(
    name: str, owner: str | None, scopes: Sequence[Scope], days: int, *, json_output: bool
) -> None:
    """Make a key and print it."""
    by = current_user()
    created = run_with_client(
        lambda holdfast: create_key(
            holdfast.db,
            name=name,
            owner=owner or by,
            scopes=scopes or _DEFAULT_SCOPES,
            days=days,
            by=by,
        )
    )
    _print_created(created, json_output=json_output)


def rotate_key_command(key_id: str, overlap_hours: int, *, json_output: bool) -> None:
    """Make another key for the same use and print it."""
    created = run_with_client(
        lambda holdfast: rotate_key(
            holdfast.db, key_id, overlap_hours=overlap_hours, by=current_user()
        )
    )
    _print_created(created, json_output=json_output)
    print_progress(f"key {key_id} is valid for another {overlap_hours} hours at most")


def _print_created(created: CreatedKey, *, json_output: bool) -> None:
    if json_output:
        print_json(created)
    else:
        print_text(created.key)
    made = created.details
    print_progress(
        f"key {made.id} of {made.owner} with {', '.join(made.scopes)}, valid until "
        f"{made.expires_at:%Y-%m-%d}; store it now, because it is not shown again"
    )


def list_keys_command(*, json_output: bool) -> None:
    """Print the keys."""
    keys = run_with_client(lambda holdfast: load_keys(holdfast.db))
    if json_output:
        print_json(keys)
        return
    now = datetime.now(UTC)
    rows = [
        (
            key.id,
            key.name,
            key.owner,
            ", ".join(key.scopes),
            key.state_at(now),
            f"{key.expires_at:%Y-%m-%d %H:%M}",
            f"{key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never",
        )
        for key in keys
    ]
    columns = ("id", "name", "owner", "scopes", "state", "expires", "last used")
    console().print(plain_table(columns, rows))


def revoke_key_command(key_id: str, *, json_output: bool) -> None:
    """Revoke a key."""
    key = run_with_client(lambda holdfast: revoke_key(holdfast.db, key_id, by=current_user()))
    if json_output:
        print_json(key)
    else:
        print_text(f"key {key.id} ({key.name}) of {key.owner} is revoked")


def audit_command(
    limit: int, actor: str | None, resource: str | None, *, json_output: bool
) -> None:
    """Print the newest entries of the audit."""
    which = AuditFilter(limit=limit, actor=actor, resource=resource)
    entries = run_with_client(lambda holdfast: load_audit_entries(holdfast.db, which))
    if json_output:
        print_json(entries)
        return
    rows = [
        (
            entry.id,
            f"{entry.at:%Y-%m-%d %H:%M:%S}",
            entry.actor,
            entry.action,
            entry.resource,
            "" if entry.refused is None else f"refused ({entry.refused})",
        )
        for entry in entries
    ]
    columns = ("entry", "at", "actor", "action", "resource", "")
    console().print(plain_table(columns, rows))
