"""Find the PostgreSQL servers of a data folder by their command lines."""

from pathlib import Path

from holdfast.services.detached_processes import find_by_arguments
from holdfast.services.service_state import RunningProcess


def server_mark(cluster: Path) -> tuple[str, str]:
    """Return the arguments that name the data folder; a server of root's has another `-D`."""
    return "-c", f"holdfast.data_folder={cluster}"


def servers_on(cluster: Path) -> list[RunningProcess]:
    """Return the servers on the data folder, also those missing in the state file."""
    return find_by_arguments(*server_mark(cluster))
