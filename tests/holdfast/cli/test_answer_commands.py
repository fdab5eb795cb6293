"""Tests for reviewing a plan and answering questions from a shell, on a real installation."""

import json
import time
from collections.abc import Iterator

import pytest

from tests.holdfast.cli.test_job_control_commands import CommandInstallation
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, plan
from tests.support.jobs.plan_builders import lookup_task as lab_tool
from tests.support.services.command_shell import command_shell
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installation() -> Iterator[CommandInstallation]:
    players = ScriptedRoles(
        plan=plan(lab_tool("T1", query="a"), lab_tool("T2", "T1"), final_task("T3", "T2"))
    )
    with ScriptedModel(players) as model, ScriptedTools() as tools, command_shell() as here:
        tools.answers = lambda argument: f"found {argument}"
        (here.folder / "holdfast.toml").write_text(f'[servers.lab]\nurl = "{tools.url}"\n')
        yield CommandInstallation(here, players, model)


def planned(installation: CommandInstallation) -> str:
    ran = installation.holdfast(
        "run", "Who?", "--model", "scripted", "--review", "--no-wait", "--json"
    )
    assert ran.code == 0, ran.err
    return str(json.loads(ran.out)["job_id"])


@pytest.mark.conformance("WAVE-02")
def test_a_plan_is_shown_edited_in_a_file_and_worked(installation: CommandInstallation) -> None:
    job = planned(installation)

    status = installation.holdfast("status", job)
    document = json.loads(installation.holdfast("status", job, "--json").out)
    listed = installation.holdfast("answer", job)
    draft = installation.holdfast("plan", job, "--yaml")
    file = installation.here.folder / "plan.yaml"
    file.write_text(draft.out.replace("lab.wikipedia_search", "lab.teleport"))
    unclear = installation.holdfast("answer", job, "perhaps")
    nowhere = installation.holdfast("answer", job, "edit", "no-such-file")
    faulty = installation.holdfast("answer", job, "edit", str(file))
    file.write_text(draft.out.replace("value: q", "value: edited"))
    edited = installation.holdfast("answer", job, "edit", str(file))
    waited = installation.holdfast("wait", job)
    asked = json.loads(installation.holdfast("questions", job, "--json").out)
    changes = installation.holdfast("plan", job, "--diff")

    assert f"answer with `holdfast answer {job} approve|refuse|edit|revise`" in status.out
    assert document["questions"][0]["kind"] == "approval"
    assert "Run this plan (3 tasks)?" in listed.out
    assert "answer with `approve`" in unclear.refused()
    assert "cannot be read" in nowhere.refused()
    assert edited.code == waited.code == 0, edited.err + waited.err
    assert [each["answer"] for each in asked] == ["edit"]
    assert asked[0]["origin"] == "user"
    assert "edited" in changes.out
    for name in ("T1", "T2"):
        assert f"task '{name}': unknown tool 'lab.teleport'" in faulty.refused()


def test_a_submitted_job_can_be_reviewed(installation: CommandInstallation) -> None:
    submitted = installation.holdfast("submit", "Who?", "--model", "scripted", "--review")
    job = submitted.out.strip()

    assert submitted.code == 0, submitted.err
    assert f"review its plan with `holdfast answer {job}`" in submitted.err
    while "approval" not in installation.holdfast("questions", job).out:
        time.sleep(0.1)
    assert installation.holdfast("answer", job, "approve").code == 0
    assert installation.holdfast("wait", job).code == 0


@pytest.mark.long
def test_a_plan_is_refused_with_words(installation: CommandInstallation) -> None:
    job = planned(installation)

    refused = installation.holdfast("answer", job, "refuse", "far", "too", "dear", "--json")
    waited = installation.holdfast("wait", job, "--json")
    again = installation.holdfast("answer", job, "approve")
    listed = installation.holdfast("questions", job)

    assert json.loads(refused.out)["did"] == "answered"
    shown = json.loads(waited.out)
    assert (waited.code, shown["stop_reason"]) == (1, "plan_refused")
    assert shown["message"] == "far too dear"
    assert "has no open question" in again.refused()
    assert "refuse: far too dear (from user" in listed.out


@pytest.mark.long
def test_without_a_terminal_the_run_says_how_to_answer_and_waits(
    installation: CommandInstallation,
) -> None:
    running = installation.here.started(
        "run",
        "Who?",
        "--model",
        "scripted",
        "--review",
        "--json",
        OPENAI_BASE_URL=installation.model.url,
        OPENAI_API_KEY="sk-test",
    )
    assert running.stderr is not None
    for line in running.stderr:
        if b"answer with `holdfast answer" in line:
            job = line.decode().split()[4]
            break
    approved = installation.holdfast("answer", job, "approve")
    out, _ = running.communicate(timeout=60)

    assert approved.code == 0, approved.err
    assert running.returncode == 0
    assert b'"status": "done"' in out
