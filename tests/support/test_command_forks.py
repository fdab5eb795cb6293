"""Tests that a command in a fork does what the program does."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.services.command_forks import CommandForks, ForksGone
from tests.support.services.command_shell import command_shell


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--version",), ("nonsense",), ("show", "job-1")])
def test_a_fork_answers_as_the_program_does(words: tuple[str, ...]) -> None:
    with command_shell() as here:
        assert here.holdfast(*words) == here.program(*words)


def test_a_fork_has_variables_and_a_folder_and_input_of_its_own() -> None:
    with command_shell() as here:
        wrong = here.holdfast("list", HOLDFAST_HOEM="1")
        right = here.holdfast("list")
        asked = here.holdfast("run", "-", stdin=b"\xff")

    assert "HOLDFAST_HOEM" in wrong.err
    assert "HOLDFAST_HOEM" not in right.err
    assert "standard input is not valid UTF-8" in asked.refused()


def test_a_command_whose_forking_process_died_says_so(tmp_path: Path) -> None:
    forks = CommandForks()
    os.kill(forks.pid, signal.SIGKILL)

    with pytest.raises(ForksGone):
        forks.run(["--version"], b"", tmp_path, {}, 60)

    forks.end()
