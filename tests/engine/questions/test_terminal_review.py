"""Tests for `run --review` at a terminal: the typed answers and the editor that opens."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.cli.commands.jobs.plan_review_commands import review_plan
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.roles.planning.planner import PLANNER
from holdfast.storage.plans import plan_change_rows
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

WITHIN = timedelta(seconds=30)


@pytest.fixture(autouse=True)
def _two_tasks(players: ScriptedRoles, tools: ScriptedTools) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    tools.answers = lambda argument: f"found {argument}"


class Typist:
    """Types one line after another; then the input has ended."""

    def __init__(self, *lines: str) -> None:
        self.lines: Iterator[str] = iter(lines)

    def __call__(self, _prompt: str) -> str:
        try:
            return next(self.lines)
        except StopIteration:
            raise EOFError from None


async def test_a_mistyped_word_is_asked_for_again(
    engine: RunningEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    job_id = await engine.submit("Who?", review="true")
    question = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)

    assert await review_plan(engine.holdfast, question, Typist("yes", "", "approve"))

    assert "'yes' is no answer" in capsys.readouterr().err
    assert (await engine.holdfast.wait(job_id, WITHIN)).status is JobStatus.DONE


@pytest.mark.long
async def test_an_edit_with_a_fault_is_opened_again_as_it_was_left(
    engine: RunningEngine,
    tools: ScriptedTools,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first edit names an unknown tool; the second mends that, and finds what was typed."""
    editor = tmp_path / "editor"
    editor.write_text(
        "#!/bin/sh\nif grep -q lab.teleport $1; then sed -i s/lab.teleport/lab.wikipedia_search/ $1"
        "\nelse sed -i -e s/lab.wikipedia_search/lab.teleport/ -e 's/value: a$/value: other/' $1; fi\n"
    )
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    job_id = await engine.submit("Who?", review="true")
    question = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)

    assert await review_plan(engine.holdfast, question, Typist("edit", "edit"))

    assert "task 'T1': unknown tool 'lab.teleport'" in capsys.readouterr().err
    assert (await engine.holdfast.wait(job_id, WITHIN)).status is JobStatus.DONE
    assert [argument for _, argument in tools.called] == ["other"]
    assert (await plan_change_rows.load_plan_changes(engine.db, job_id))[-1].cause == "edited"


@pytest.mark.long
async def test_a_revised_plan_is_shown_and_decided_about_anew(
    engine: RunningEngine, players: ScriptedRoles, capsys: pytest.CaptureFixture[str]
) -> None:
    job_id = await engine.submit("Who?", review="true")
    question = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)

    assert await review_plan(engine.holdfast, question, Typist("revise Do better.", "refuse No."))

    job = await engine.holdfast.wait(job_id, WITHIN)
    assert (job.status, job.stop_reason) == (JobStatus.CANCELLED, StopReason.PLAN_REFUSED)
    assert players.count(PLANNER) == 2
    shown = capsys.readouterr().out
    assert "T1a" in shown
    assert "would take:" in shown


@pytest.mark.long
async def test_without_more_input_the_plan_goes_on_waiting(engine: RunningEngine) -> None:
    job_id = await engine.submit("Who?", review="true")
    question = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)

    assert not await review_plan(engine.holdfast, question, Typist())

    assert (await wait_for_question(engine, job_id, QuestionKind.APPROVAL)).id == question.id
    await engine.temporal.get_workflow_handle(job_id).cancel()
    assert (await engine.holdfast.wait(job_id, WITHIN)).status is JobStatus.CANCELLED
