"""Tests for evaluations that are stopped or refused: nothing of theirs goes on running."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from holdfast.evals.command_exit import command_exit
from holdfast.evals.papers import __main__ as papers
from holdfast.models.errors import BadInput

QUESTION = (
    '{"id": "a", "question": "Who keeps it?", "answer": "Dahl", "type": "bridge", '
    '"supporting_facts": [["Pell", 0]], "context": [["Pell", ["Dahl keeps it."]]]}'
)


@contextmanager
def started(*command: str, temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a command whose temporary files are in this folder; kill it at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, *command],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
        for each in processes_of(temporary):
            each.kill()


def wait_until(holds: Callable[[], object], *, within_s: float) -> None:
    """Wait until the condition holds.

    Raises:
        TimeoutError: it does not hold in time.
    """
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {within_s} s in vain")
        time.sleep(0.02)


def processes_of(folder: Path) -> list[psutil.Process]:
    """The processes that name the folder in their command."""
    return [
        each
        for each in psutil.process_iter(["cmdline"])
        if any(str(folder) in part for part in each.info["cmdline"] or ())
    ]


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.long
def test_an_evaluation_that_is_killed_while_its_servers_start_leaves_none(tmp_path: Path):
    file = tmp_path / "questions.jsonl"
    file.write_text(QUESTION)
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    with started(
        "-m", "holdfast.evals.recall", str(file), "--words", temporary=temporary
    ) as process:
        wait_until(lambda: processes_of(temporary), within_s=120)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=120)

        assert (process.returncode, said) == (130, "stopped\n")
        assert not processes_of(temporary)
        assert not list(temporary.glob("holdfast-bench-*"))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(400)
def test_an_evaluation_that_is_killed_in_the_middle_of_its_jobs_leaves_none(tmp_path: Path):
    command = ("-m", "holdfast.evals.coordination", "--jobs", "1")

    with started(*command, temporary=tmp_path) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=120)

        assert first
        assert (process.returncode, said.splitlines()[-1]) == (130, "stopped")
        assert not processes_of(tmp_path)


@pytest.mark.slow
@pytest.mark.long
def test_a_child_ends_in_order_when_its_parent_is_killed(tmp_path: Path):
    child = (
        "import signal, sys; from holdfast.services.termination_signal import termination_as_interrupt\n"
        "with termination_as_interrupt():\n"
        "    try:\n"
        "        open(sys.argv[1], 'w').close()\n"
        "        signal.pause()\n"
        "    finally:\n"
        "        open(sys.argv[2], 'w').close()\n"
    )
    parent = (
        "import sys; from holdfast.evals.child_command import run_child\n"
        "run_child([sys.executable, '-c', *sys.argv[1:]])"
    )
    began, ended = tmp_path / "began", tmp_path / "ended"

    with started("-c", parent, child, str(began), str(ended), temporary=tmp_path) as process:
        wait_until(began.exists, within_s=120)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)

        assert ended.exists()
        assert not processes_of(tmp_path)


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [(BadInput("no such case"), 2, "no such case\n"), (KeyboardInterrupt(), 130, "stopped\n")],
)
def test_a_command_that_is_refused_or_stopped_says_so_in_one_line(
    raised: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
):
    def body() -> int:
        raise raised

    assert command_exit(body) == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("paper", "file"),
    [("kpi-chain", "fanoutqa/dev310.jsonl"), ("tdp", "kopl_mini/lab_questions.jsonl")],
)
def test_gold_programs_that_are_missing_are_named(
    paper: str, file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert papers.main([paper, "--data", str(tmp_path)]) == 2

    said = capsys.readouterr().err
    assert f"there is no file '{tmp_path / file}'; --data takes the folder" in said
