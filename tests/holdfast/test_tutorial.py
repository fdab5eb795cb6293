"""Tests that a reader who follows docs/tutorial.md gets what the page says."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.documentation.page_steps import (
    CommandStep,
    FileStep,
    OutputStep,
    page_steps,
)
from tests.support.documentation.pages import ROOT
from tests.support.endpoints.loop_script import LoopScript, answer, sentence
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.services.command_shell import CommandResult, CommandShell, command_shell

PAGE = ROOT / "docs/tutorial.md"
# What the makefile runs, without the installation; packaging tests install.
TARGETS = {"demo": ("demo",), "crash": ("demo", "--crash")}
BY_THE_READER = {"source"}
ENDS_WITH = {("wait", "60"): 3}
"""The exit code of a command by its name and its last word, where it is not 0."""
TOO_LATE = "the job was over before its worker could be killed"
DECLINED = "How many days"
"""The question that the built-in model declines: exit code 1, unless it found something next to it."""
JOB_ID = re.compile(r"job-\d{6}-\d{4}-[0-9a-f]{6}")
ANSWERS = {
    "Who supplies": (
        "Kaltwerk AG; 30 June 2027",
        "Kaltwerk AG supplies the cooling plates of Project Heron.",
    ),
    "Who is the sponsor": (
        "Meridian Logistics",
        "The sponsor of Project Heron is Meridian Logistics.",
    ),
}


def reply(request: ReceivedRequest) -> ScriptedReply:
    """What the real model of the tutorial says: the quote that answers, from the passage shown."""
    for question, (short, quote) in ANSWERS.items():
        if request.task["question"].startswith(question):
            at = next(p["n"] for p in _passages(request) if quote in json.dumps(p))
            script = LoopScript([[answer(short, sentence(quote, at, quote))]])
            return script(request)
    raise AssertionError(request.task)


def _passages(request: ReceivedRequest) -> Iterator[dict[str, object]]:
    for search in request.task["first_search"]:
        yield from search["passages"]


@pytest.fixture
def model(players: ScriptedRoles) -> Iterator[ScriptedModel]:
    loop = LoopScript()
    with ScriptedModel(lambda r: reply(r) if r.rung == "tools" else loop(r)) as model:
        yield model


@pytest.fixture
def shell() -> Iterator[CommandShell]:
    with command_shell() as shell:
        yield shell


@dataclass
class Reader:
    """Somebody who follows the page word by word."""

    shell: CommandShell
    endpoint: str
    variables: dict[str, str] = field(default_factory=lambda: {"HOLDFAST_PRESET": "research"})
    job: str = ""

    def write(self, step: FileStep) -> None:
        file = self.shell.folder / step.name
        file.parent.mkdir(exist_ok=True)
        file.write_text(step.text)

    def run(self, words: tuple[str, ...]) -> CommandResult:
        named = [word.replace("JOB", self.job) for word in words]
        result = self.shell.holdfast(*named, **self.variables)
        expected = {ENDS_WITH.get((words[0], words[-1]), 0)}
        if any(word.startswith(DECLINED) for word in words):
            expected = {0, 1}
        assert result.code in expected, f"{words}: {result.out}{result.err}"
        if found := JOB_ID.search(result.err + result.out):
            self.job = found.group()
        return result

    def follow(self, command: CommandStep) -> str:
        """Do what the command says, and return what it prints."""
        match command.words:
            case ("holdfast", *words):
                result = self.run(tuple(words))
            case ("make", target):
                result = self.run(TARGETS[target])
                while TOO_LATE in result.err:  # and the message says: try again
                    result = self.run(TARGETS[target])
            case ("export", assignment):
                return self.export(assignment)
            case (word, *_):
                assert word in BY_THE_READER
                return ""
        return result.out + result.err

    def export(self, assignment: str) -> str:
        name, _, _ = assignment.partition("=")
        assert name == "OPENAI_API_KEY"
        self.variables |= {name: "sk-tutorial", "OPENAI_BASE_URL": self.endpoint}
        return ""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.conformance("PUB-03")
def test_the_commands_of_the_tutorial_print_what_it_says(
    shell: CommandShell, model: ScriptedModel
) -> None:
    reader, printed, compared = Reader(shell, model.url), "", 0
    for step in page_steps(PAGE):
        match step:
            case FileStep():
                reader.write(step)
            case CommandStep():
                printed = reader.follow(step)
            case OutputStep():
                assert step.is_printed_in(printed, reader.job), f"{step.text}\n---\n{printed}"
                compared += 1

    assert compared > 6
    assert {file.name for file in (shell.folder / "report").iterdir()} >= {
        "report.md",
        "report.html",
    }


def test_the_makefile_runs_what_the_tutorial_test_runs() -> None:
    makefile = (ROOT / "Makefile").read_text()

    for target, words in TARGETS.items():
        assert re.search(
            rf"^{target}: .*\n\t@\$\(BIN\)/holdfast {' '.join(words)}$", makefile, re.MULTILINE
        )


def test_every_picture_of_the_tutorial_is_made_by_the_script() -> None:
    script = (ROOT / "tests/support/documentation/tutorial_picture.py").read_text()
    pictures = [Path(name).stem for name in re.findall(r"\((pictures/\S+)\)", PAGE.read_text())]

    assert pictures
    assert [name for name in pictures if f'"{name}"' not in script] == []
