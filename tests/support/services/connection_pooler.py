"""PgBouncer in transaction mode in front of a test's PostgreSQL."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import make_url

_WITHIN_S = 60.0
PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")

_SETTINGS = """
[databases]
* = host={host} port={port} user={user} dbname={database}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
"""


@contextmanager
def pgbouncer(database_url: str, *, connections: int) -> Iterator[str]:
    """The address of this database through a PgBouncer with so many connections to PostgreSQL."""
    assert PROGRAM is not None
    url = make_url(database_url)
    # Not pytest's tmp_path: its user must reach the folder, by a short path.
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        file = Path(folder, "pgbouncer.ini")
        host = url.query.get("host", url.host)
        file.write_text(
            _SETTINGS.format(
                host=host,
                port=url.port or 5432,
                user=url.username,
                database=url.database,
                folder=folder,
                connections=connections,
            )
        )
        Path(folder).chmod(0o777)
        # It refuses to run as root, and PostgreSQL's user reaches PostgreSQL's socket.
        owner = Path(str(host), f".s.PGSQL.{url.port or 5432}").owner()
        account = ["-u", owner] if os.geteuid() == 0 else []
        process = subprocess.Popen(
            [PROGRAM, "-q", *account, str(file)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _await_socket(Path(folder, ".s.PGSQL.6432"), process)
            yield f"postgresql+psycopg://{url.username}@/{url.database}?host={folder}&port=6432"
        finally:
            process.terminate()
            process.wait(_WITHIN_S)


def _await_socket(path: Path, process: subprocess.Popen[bytes]) -> None:
    given_up = time.monotonic() + _WITHIN_S
    while True:
        assert process.poll() is None, "PgBouncer has ended"
        with socket.socket(socket.AF_UNIX) as trying:
            if trying.connect_ex(str(path)) == 0:
                return
        assert time.monotonic() < given_up, "PgBouncer does not listen"
        time.sleep(0.02)
