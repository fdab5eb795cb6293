"""Tests that whole commands change nothing outside of their home, and share nothing in it."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from holdfast.models.errors import BadConfiguration
from holdfast.services.servers import postgres_account, postgres_server
from holdfast.services.service_state import make_home
from tests.support.services.command_shell import CommandShell

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.conformance("SAF-07")]

_DOCUMENT = "The light of Ouzel Stack was first lit in 1932. It stands 49 metres high.\n"
_QUESTION = "When was the light of Ouzel Stack first lit?"
_as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root's PostgreSQL is another user's")


@pytest.fixture
def open_umask() -> Iterator[None]:
    """Let every file be for everybody that does not ask for another mode."""
    usual = os.umask(0)
    yield
    os.umask(usual)


@contextmanager
def closed_folder() -> Iterator[Path]:
    """A short path, of which every part below /tmp is closed to other users."""
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        Path(folder).chmod(0o700)
        for name in (".", "home", "work", "user", "tmp"):
            Path(folder, "closed", name).mkdir(mode=0o700)
        yield Path(folder, "closed")


def state(path: Path) -> tuple[int, int, int, bytes]:
    """The mode and owner of what is there, and a file's content."""
    there = path.lstat()
    content = path.read_bytes() if stat.S_ISREG(there.st_mode) else b""
    return there.st_mode, there.st_uid, there.st_gid, content


def surroundings(folder: Path) -> dict[Path, tuple[int, int, int, bytes]]:
    """All that is outside of the home: in its surroundings, above it, and above the programs."""
    home = folder / "home"
    around = [path for path in folder.rglob("*") if path != home and home not in path.parents]
    programs = postgres_account.postgres_program("postgres")
    above = [*home.parents, *programs.parents, postgres_account.SHARED_PROGRAMS]
    return {path: state(path) for path in [*around, *above] if path.exists()}


def open_to_others(home: Path) -> set[Path]:
    """The files that other users could read, write or run if the folders above let them pass."""
    files = [path for path in home.rglob("*") if path.is_file() and not path.is_symlink()]
    assert files
    return {path for path in files if path.stat().st_mode & stat.S_IRWXO}


@pytest.mark.usefixtures("open_umask")
def test_postgresql_works_in_a_closed_home_and_opens_no_folder_above_it() -> None:
    with closed_folder() as folder:
        home = folder / "home"
        make_home(home)
        before = surroundings(folder)
        server = postgres_server.start(home)
        try:
            with psycopg.connect(postgres_server.plain_url(home)) as connection:
                assert connection.execute("select 1932").fetchone() == (1932,)
            assert postgres_server.strays(home) == [server]
        finally:
            postgres_server.stop(server)

        assert surroundings(folder) == before
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert open_to_others(home) == set()


@pytest.mark.usefixtures("open_umask")
def test_a_job_changes_nothing_outside_of_the_home_and_shares_no_file() -> None:
    with closed_folder() as folder:
        home, work = folder / "home", folder / "work"
        (work / "light.md").write_text(_DOCUMENT)
        shell = CommandShell(home, work)
        ours = {"HOME": str(folder / "user"), "TMPDIR": str(folder / "tmp")}
        before = surroundings(folder)
        try:
            ran = shell.holdfast("run", _QUESTION, "--docs", ".", **ours)
            assert ran.code == 0, ran.err
            assert "1932" in ran.out
            at_work = open_to_others(home)
            backup = shell.holdfast("backup", str(home / "copy.backup"), **ours)
            assert backup.code == 0, backup.err
        finally:
            shell.holdfast("down", **ours)

        assert surroundings(folder) == before
        assert at_work | open_to_others(home) == set()


@_as_root
def test_a_private_installations_programs_are_copied_to_where_every_user_can_run_them() -> None:
    user = postgres_account.server_user()
    assert user
    programs = postgres_account.postgres_program("initdb").parents[1]
    with tempfile.TemporaryDirectory() as private, tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        shared, package = Path(place, "shared"), Path(private, programs.parent.name)
        libraries = programs.parent.with_name(f"{programs.parent.name}.libs")
        for folder in (programs, libraries):
            copied = package.parent / folder.relative_to(programs.parents[1])
            copied.parent.mkdir(exist_ok=True)
            subprocess.run(["cp", "-r", folder, copied], check=True)

        copy = postgres_account.shared_copy(package, shared)
        again = postgres_account.shared_copy(package, shared)

        assert again == copy
        assert list(shared.iterdir()) == [copy]
        assert not (copy / package.name / programs.name / "include").exists()
        initdb = copy / package.name / programs.name / "bin" / "initdb"
        data = Path(place, "data")
        data.mkdir()
        shutil.chown(data, user, user)
        subprocess.run([initdb, "-D", data], check=True, capture_output=True, user=user, group=user)
        assert (data / "PG_VERSION").exists()


@_as_root
@pytest.mark.parametrize("what", ["a link", "open to others"])
def test_a_shared_place_that_is_not_roots_own_is_refused(tmp_path: Path, what: str) -> None:
    shared, target = tmp_path / "shared", tmp_path / "target"
    target.mkdir(mode=0o755)
    if what == "a link":
        shared.symlink_to(target)
    else:
        shared.mkdir()
        shared.chmod(0o777)

    with pytest.raises(BadConfiguration, match="must be a folder that only root may write to"):
        postgres_account.shared_copy(tmp_path, shared)

    assert list(target.iterdir()) == []
