"""Define the table `[private_jobs]`: what jobs that may read private documents may reach."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from pydantic import Field

from holdfast.models.errors import BadConfiguration
from holdfast.models.frozen_model import Frozen
from holdfast.tools.holdfast_toml import read_toml_table

TABLE = "private_jobs"
HostPattern = Annotated[
    str, Field(pattern=r"^(\*|(\*\.)?[A-Za-z0-9_\[][A-Za-z0-9._\[\]:-]*)$", max_length=260)
]


class PrivateJobSettings(Frozen):
    """`[private_jobs]`; without the table, such a job sends nothing out."""

    allowed_hosts: tuple[HostPattern, ...] = ()
    """Hosts that the servers `web` and `wikipedia` may reach, search services included."""
    allowed_servers: tuple[str, ...] = ()
    """Tool servers of `[servers]` that may get text of the job, whatever they declare."""
    private_servers: tuple[str, ...] = ()
    """Tool servers of `[servers]` whose answers are private: they make a job private."""


_EXAMPLES = {
    "allowed_hosts": 'allowed_hosts = ["en.wikipedia.org", "*.who.int"] (no https://, no path)',
    "allowed_servers": 'allowed_servers = ["library"]',
    "private_servers": 'private_servers = ["crm"]',
}


def read_private_job_settings(path: Path | None, servers: Collection[str]) -> PrivateJobSettings:
    """Return the table `[private_jobs]`; `servers` are the names under `[servers]`.

    Raises:
        BadConfiguration: a key is wrong, or names a server that does not exist: a misspelt private
            server would be public.
    """
    table = read_toml_table(path, TABLE, PrivateJobSettings, _EXAMPLES) or PrivateJobSettings()
    for key in ("allowed_servers", "private_servers"):
        for name in getattr(table, key):
            if name not in servers:
                there = ", ".join(sorted(servers)) or "none"
                raise BadConfiguration(
                    f"{path}: {TABLE}.{key} names {name!r}, which is no table under [servers]; "
                    f"there are: {there}"
                )
    return table
