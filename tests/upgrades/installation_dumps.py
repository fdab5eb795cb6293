"""Write a database to a small file, and restore it, with PostgreSQL's own programs.

The file holds the schema and the rows of that commit; the migrations of today follow. Temporal's
file is not recorded: jobs begin again from PostgreSQL alone, and `tests/replay` has the histories.
"""

import lzma
import subprocess
from pathlib import Path

from holdfast.services.servers.postgres_account import postgres_program
from holdfast.storage.core.schema_migration import migrate_schema

INSTALLATIONS = Path(__file__).parent / "installations"
_WITHIN_S = 60


def recorded_installations() -> list[Path]:
    return sorted(INSTALLATIONS.glob("*.sql.xz"))


def dump_database(database_url: str, file: Path) -> None:
    """Write schema and rows of the database as compressed SQL."""
    command = [postgres_program("pg_dump"), "--no-owner", "--no-privileges", _plain(database_url)]
    done = subprocess.run(command, check=True, capture_output=True, timeout=_WITHIN_S)
    file.write_bytes(lzma.compress(done.stdout, preset=9))


def restore_database(file: Path, database_url: str) -> None:
    """Replace the content of the database by the dump, and migrate it to the schema of today."""
    words = b"set client_min_messages = warning; drop schema public cascade; create schema public;"
    command = [
        postgres_program("psql"),
        "--quiet",
        "--no-psqlrc",
        "--set=ON_ERROR_STOP=1",
        _plain(database_url),
    ]
    subprocess.run(
        command,
        input=words + lzma.decompress(file.read_bytes()),
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=_WITHIN_S,
    )
    migrate_schema(database_url)


def _plain(database_url: str) -> str:
    return database_url.replace("+psycopg", "")
