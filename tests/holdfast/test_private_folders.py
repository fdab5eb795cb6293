"""Tests that the embedded PostgreSQL's folders are private, and that no link is followed."""

import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.models.errors import BadConfiguration
from holdfast.services.detached_processes import start_detached
from holdfast.services.private_files import create_private_file, write_private_file
from holdfast.services.servers import postgres_files
from holdfast.services.service_state import ServiceState, make_home, save_state
from holdfast.services.supervisor import worker_files

pytestmark = pytest.mark.conformance("SAF-07")

_USER = "nobody" if os.geteuid() == 0 else None


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_link_in_the_place_of_a_private_folder_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o755)
    owner = target.stat().st_uid
    link = tmp_path / "holdfast-0123456789ab"
    link.symlink_to(target)

    with pytest.raises(BadConfiguration, match="belongs to another user; remove it"):
        postgres_files._make_private(link, _USER)

    assert (mode(target), target.stat().st_uid) == (0o755, owner)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o755)
    os.chown(folder, 1, 1)

    with pytest.raises(BadConfiguration, match="belongs to another user"):
        postgres_files._make_private(folder, _USER)

    assert (mode(folder), folder.stat().st_uid) == (0o755, 1)


def test_a_folder_that_exists_becomes_private(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o755)

    postgres_files._make_private(folder, _USER)

    assert mode(folder) == 0o700


def test_a_new_home_is_private_and_one_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)

    make_home(tmp_path / "a" / "new")
    make_home(there)

    assert mode(tmp_path / "a" / "new") == 0o700
    assert mode(there) == 0o755


@pytest.fixture
def open_umask() -> Iterator[None]:
    usual = os.umask(0)
    yield
    os.umask(usual)


def test_no_file_that_a_command_writes_is_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_umask: None
) -> None:
    tmp_path.chmod(0o755)
    make_home(tmp_path)
    monkeypatch.setenv(worker_files.READY_FILE_VARIABLE, str(tmp_path / "worker.ready"))

    save_state(tmp_path, ServiceState())
    worker_files.write_pid_file(os.getpid())
    start_detached(["true"], log=tmp_path / "logs" / "a.log")

    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in written} >= {"services.json", "worker.pid", "a.log"}
    assert {mode(path) for path in written} == {0o600}


def test_a_service_writes_files_for_its_owner_only(tmp_path: Path, open_umask: None) -> None:
    made = tmp_path / "made"
    os.mkfifo(tmp_path / "done")
    script = f'touch "{made}"; echo > "{tmp_path / "done"}"'

    start_detached(["sh", "-c", script], log=tmp_path / "a.log")
    (tmp_path / "done").read_text()

    assert mode(made) == 0o600


def test_no_file_is_written_through_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, target = tmp_path / "home", tmp_path / "target"
    make_home(home)
    target.write_text("kept")
    names = ("services.json", "services.json.new", "worker.pid", "worker.pid.new", "logs/a.log")
    for name in names:
        (home / name).symlink_to(target)
    (home / "services.lock").unlink()
    (home / "services.lock").symlink_to(target)
    monkeypatch.setenv(worker_files.READY_FILE_VARIABLE, str(home / "worker.ready"))

    save_state(home, ServiceState())
    worker_files.write_pid_file(os.getpid())
    with pytest.raises(OSError, match="symbolic link"):
        start_detached(["true"], log=home / "logs" / "a.log")

    with pytest.raises(BadConfiguration, match="cannot be written"):
        make_home(home)
    create_private_file(home / "worker.ready")

    assert target.read_text() == "kept"
    assert not (home / "services.json").is_symlink()


def test_processes_that_write_one_file_at_once_do_not_take_each_others_new_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state.json"

    def write(number: int) -> None:
        for _ in range(100):
            write_private_file(path, f"{number}" * 1_000)

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(write, range(8)))

    assert len(set(path.read_text())) == 1
    assert list(tmp_path.iterdir()) == [path]
