"""Back up a test's database with pg_dump, and restore it under the connections of a worker."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from holdfast.services.servers.postgres_account import postgres_program


@dataclass
class DatabaseBackup:
    """A backup of a database."""

    url: str
    file: Path

    @classmethod
    def of(cls, database_url: str, folder: Path) -> "DatabaseBackup":
        """A backup of the database as it is now."""
        url = database_url.replace("+psycopg", "", 1)
        backup = cls(url, folder / "backup.dump")
        _run("pg_dump", "--format=custom", f"--file={backup.file}", f"--dbname={url}")
        return backup

    def restore(self) -> None:
        """Put the database back to the time of the backup, in one transaction."""
        _run(
            "pg_restore",
            "--clean",
            "--if-exists",
            "--single-transaction",
            f"--dbname={self.url}",
            str(self.file),
        )


def _run(program: str, *words: str) -> None:
    subprocess.run([str(postgres_program(program)), *words], check=True, timeout=60)
