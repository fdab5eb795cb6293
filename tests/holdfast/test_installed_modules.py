"""Tests that modules of the user that hide needed ones are named, by `doctor` and by any command."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.installed_modules import find_module_faults
from tests.support.services.command_shell import CommandShell, command_shell


@pytest.fixture
def shell() -> Iterator[CommandShell]:
    with command_shell() as shell:
        yield shell


def test_a_sound_installation_has_no_fault() -> None:
    assert find_module_faults() == []


def test_doctor_names_a_module_that_hides_a_needed_one(shell: CommandShell, tmp_path: Path) -> None:
    (tmp_path / "openai.py").touch()

    doctor = shell.program("doctor", PYTHONPATH=str(tmp_path))

    assert doctor.code == 1
    assert f"FAIL packages: Python imports openai from {tmp_path}/openai.py, not fr" in doctor.out
    assert f"-> rename {tmp_path}/openai.py, or remove {tmp_path} from PYTHONPATH\n" in doctor.out
    assert "database" not in doctor.out


def test_doctor_names_a_module_that_hides_one_that_no_command_imports_directly(
    shell: CommandShell, tmp_path: Path
) -> None:
    (tmp_path / "google").mkdir()
    (tmp_path / "google" / "__init__.py").touch()

    doctor = shell.program("doctor", PYTHONPATH=str(tmp_path))

    assert f"Python imports google from {tmp_path}/google, not from protobuf" in doctor.out


def test_a_command_that_cannot_start_names_the_module_that_is_in_its_way(
    shell: CommandShell,
) -> None:
    (shell.folder / "typer.py").touch()

    listed = shell.program("list")

    assert listed.code == 1
    assert "Traceback" not in listed.err
    assert f"Python imports typer from {shell.folder}/typer.py, not from typer" in listed.err
    assert "or run `holdfast` instead of `python -m holdfast`\n" in listed.err


def test_a_folder_of_data_named_like_a_needed_module_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "openai").mkdir()
    (tmp_path / "openai" / "answers.json").touch()
    code = "from holdfast.installed_modules import find_module_faults as f; print(f())"

    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "[]\n"
