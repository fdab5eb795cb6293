"""Tests that run the commands of the documentation in one real installation."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import holdfast
from tests.support.documentation.pages import DocumentedCommand, shell_commands
from tests.support.services.command_shell import CommandShell, command_shell

pytestmark = pytest.mark.slow

DOCS = str(Path(holdfast.__file__).parent / "demo" / "collection")
QUESTION = "Who designed the Gannet Stair Light?"

NOT_RUN = {
    "run": "takes a while, or needs a model; test_commands_end_to_end.py runs it",
    "submit": "starts another job; test_commands_end_to_end.py runs it",
    "eval": "takes minutes; tests/evals/ runs it",
    "serve": "runs until Ctrl-C; test_serve_command.py runs it",
    "up": "the installation is up; tests/holdfast/test_embedded_services.py runs it",
    "down": "stops the installation, as the end of this module does",
    "pause": "needs a running job; test_job_control_commands.py runs it",
    "resume": "needs a job that is not done; test_job_control_commands.py runs it",
    "retry": "runs tasks again; test_job_control_commands.py runs it",
    "steer": "needs a running job; test_job_control_commands.py runs it",
    "answer": "needs an open question; test_answer_commands.py runs it",
    "replay": "runs jobs again; tests/engine/records/test_replayed_bundles.py runs it",
    "verify": "needs the file of `export`; tests/holdfast/bundles/ checks bundles",
    "import": "the job is here already; tests/holdfast/bundles/ imports it elsewhere",
    "restore": "replaces all jobs; tests/holdfast/test_backup_commands.py runs it",
    "erase": "takes the job from the other commands; tests/engine/control/test_erasure.py runs it",
    "fork": "runs the job again; test_commands_end_to_end.py and tests/engine/records/ run it",
    "compare": "needs two jobs; tests/engine/records/ compares them",
    "update": "reads every source again; tests/engine/records/ updates a job",
    "figure": "needs a chart; tests/engine/tools/test_computed_figures.py runs it",
}
DONE = {0}
DONE_OR_EMPTY = {0, 2}
"""The job of this installation does not verify, so that there is no round to show."""


class FinishedJob(NamedTuple):
    """An installation with a finished job, and words to put in the place of the documented ones."""

    shell: CommandShell
    words: dict[str, str]


@pytest.fixture(scope="module")
def finished() -> Iterator[FinishedJob]:
    with command_shell() as shell:
        ran = shell.holdfast("run", QUESTION, "--docs", DOCS, "--collection", "lights", "--json")
        assert ran.code == 0, ran.err
        [job] = json.loads(shell.holdfast("list", "--json").out)
        report = json.loads(shell.holdfast("report", job["job_id"], "--format", "json").out)
        citation = report["citations"][0]
        # Another documented command checks it.
        written = shell.holdfast("report", job["job_id"], "--format", "docx", "-o", "report.docx")
        assert written.code == 0, written.err
        yield FinishedJob(
            shell,
            {
                "JOB": job["job_id"],
                "FOLDER": "exported",
                "papers/": DOCS,
                "17": str(citation["source_id"]),
                "3": str(citation["mark"]),
            },
        )


def documented() -> list[DocumentedCommand]:
    commands = {c.words: c for c in shell_commands() if c.words[0] == "holdfast"}
    return [command for words, command in commands.items() if words[1] not in NOT_RUN]


@pytest.mark.parametrize("command", documented(), ids=str)
def test_a_documented_command_runs(finished: FinishedJob, command: DocumentedCommand) -> None:
    words = [finished.words.get(word, word) for word in command.words[1:]]

    ran = finished.shell.holdfast(*words)

    assert ran.code in (DONE_OR_EMPTY if "verification" in words else DONE), ran.err
    assert "Traceback" not in ran.err


def test_the_documentation_shows_enough_commands_that_can_be_run() -> None:
    assert len(documented()) > 8
