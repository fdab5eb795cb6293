"""Tests that the embedded PostgreSQL's folders are private, and that no link is followed."""

import os
import stat
from pathlib import Path

import pytest

from holdfast.models.errors import BadConfiguration
from holdfast.services import postgres_files
from holdfast.services.service_state import make_home

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
