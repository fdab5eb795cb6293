"""Tests for the commands that change a job, on a real installation with a slow model."""

import json
import os
import signal
import time
from collections.abc import Iterator

import pytest

from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.services.service_state import home_lock
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, plan
from tests.support.jobs.plan_builders import lookup_task as lab_tool
from tests.support.services.command_shell import CommandResult, CommandShell, command_shell
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


class CommandInstallation:
    """A home with a worker whose model and tools answer as the test says."""

    def __init__(self, here: CommandShell, players: ScriptedRoles, model: ScriptedModel) -> None:
        self.here, self.players, self.model = here, players, model

    def holdfast(self, *words: str) -> CommandResult:
        variables = {"OPENAI_BASE_URL": self.model.url, "OPENAI_API_KEY": "sk-test"}
        return self.here.holdfast(*words, **variables)

    def submitted(self, *words: str) -> str:
        ran = self.holdfast("submit", "Who?", "--model", "scripted", *words)
        assert ran.code == 0, ran.err
        return ran.out.strip()

    def slow(self, seconds: float) -> None:
        def part(asked: ReceivedRequest) -> ScriptedReply:
            return ScriptedReply.of(extractor_script("found", 0.9)(asked), delay=seconds)

        self.players.parts["extractor"] = part

    def until(self, job: str, status: str) -> dict[str, object]:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            shown: dict[str, object] = json.loads(self.holdfast("show", job, "--json").out)
            if shown["status"] == status:
                return shown
        raise AssertionError(f"{job} is {shown['status']}, not {status}")


@pytest.fixture(scope="module")
def installation() -> Iterator[CommandInstallation]:
    players = ScriptedRoles(
        plan=plan(lab_tool("T1", query="a"), lab_tool("T2", "T1"), final_task("T3", "T2"))
    )
    with ScriptedModel(players) as model, ScriptedTools() as tools, command_shell() as here:
        tools.answers = lambda argument: f"found {argument}"
        (here.folder / "holdfast.toml").write_text(f'[servers.lab]\nurl = "{tools.url}"\n')
        installation = CommandInstallation(here, players, model)
        assert installation.holdfast("up").code == 0
        yield installation


def test_a_job_is_paused_steered_and_resumed(installation: CommandInstallation) -> None:
    installation.slow(60)  # held until it is released below
    job = installation.submitted()
    installation.until(job, "running")
    installation.model.wait_for(2)

    paused = installation.holdfast("pause", job)
    status = installation.holdfast("status", job)
    document = json.loads(installation.holdfast("status", job, "--json").out)
    steered = installation.holdfast("steer", job, "Look at the log books.")
    again = installation.holdfast("pause", job)
    waited = installation.holdfast("wait", job, "--timeout", "0.2")
    installation.slow(0)
    installation.model.release()
    resumed = installation.holdfast("resume", job, "--json")

    assert paused.code == steered.code == resumed.code == 0, paused.err + steered.err + resumed.err
    assert f"continue with `holdfast resume {job}`" in paused.out
    assert "blocked:  the job is paused" in status.out
    assert document["blocked_by"]
    assert {"doing", "waiting", "next", "allowances"} <= set(document)
    assert (waited.code, f"is paused; continue with `holdfast resume {job}`" in waited.err) == (
        3,
        True,
    )
    assert (again.code, "paused already" in again.refused()) == (2, True)
    assert json.loads(resumed.out) == {"job_id": job, "did": "resumed"}
    assert installation.holdfast("wait", job).code == 0
    log = installation.holdfast("events", job).out
    assert "job.paused" in log
    assert "job.steered" in log
    assert "log books" not in log


@pytest.mark.long
def test_run_says_why_a_call_is_tried_again(installation: CommandInstallation) -> None:
    away: list[float] = []

    def part(asked: ReceivedRequest) -> ScriptedReply:
        away.append(time.monotonic())
        is_back = away[-1] - away[0] > 10
        return extractor_script("found", 0.9)(asked) if is_back else ScriptedReply(drop=True)

    installation.players.parts["extractor"] = part

    ran = installation.holdfast("run", "Who?", "--model", "scripted")

    assert ran.code == 0, ran.err
    (line,) = (line for line in ran.err.splitlines() if " waits  " in line)
    assert line.startswith("  T1 ")
    assert installation.model.url in line
    assert line.endswith("it is tried again")


@pytest.mark.long
def test_a_job_is_cancelled_written_up_and_resumed(installation: CommandInstallation) -> None:
    installation.slow(0)

    def part(asked: ReceivedRequest) -> ScriptedReply:
        delay = 0 if "T1" in asked.task["description"] else 30
        return ScriptedReply.of(extractor_script("found", 0.9)(asked), delay=delay)

    installation.players.parts["extractor"] = part
    before = installation.players.count(EXTRACTOR)
    job = installation.submitted()
    while installation.players.count(EXTRACTOR) < before + 2:
        time.sleep(0.05)

    cancelled = installation.holdfast("cancel", job)
    waited = installation.holdfast("wait", job)
    missing = installation.holdfast("report", job)
    partial = installation.holdfast("report", job, "--partial")
    installation.slow(0)
    resumed = installation.holdfast("resume", job)

    assert cancelled.code == 0, cancelled.err
    assert waited.code == 1
    assert missing.code == 2
    assert f"(cancelled); `holdfast report {job} --partial` writes one" in missing.err
    assert partial.code == 0, partial.err
    assert "## Sources" in partial.out
    assert resumed.code == 0, resumed.err
    assert installation.holdfast("wait", job).code == 0


def test_tasks_are_retried_after_showing_what_that_means(installation: CommandInstallation) -> None:
    installation.slow(0)
    job = installation.submitted()
    assert installation.holdfast("wait", job).code == 0

    shown = installation.holdfast("retry", job, "T2", "--dry-run")
    unknown = installation.holdfast("retry", job, "T7")
    before = json.loads(installation.holdfast("show", job, "--json").out)
    retried = installation.holdfast("retry", job, "T2")
    assert installation.holdfast("wait", job).code == 0
    after = json.loads(installation.holdfast("show", job, "--json").out)

    assert shown.out.splitlines() == ["runs again: T2, T3", "is kept:    T1"]
    assert (unknown.code, "no task 'T7'" in unknown.refused()) == (2, True)
    assert [task["attempt"] for task in before["tasks"]] == [1, 1, 1]
    assert [task["attempt"] for task in after["tasks"]] == [1, 2, 2]
    assert retried.out.splitlines()[:2] == shown.out.splitlines()
    assert installation.holdfast("resume", job).code == 2


@pytest.mark.long
def test_without_temporal_a_job_can_be_looked_at_and_goes_on_once_it_is_back(
    installation: CommandInstallation,
) -> None:
    installation.slow(3)
    job = installation.submitted()
    installation.model.wait_for(installation.model.count + 1)
    state = json.loads((installation.here.home / "services.json").read_text())
    # The lock keeps the supervisor from starting Temporal again before it was looked at.
    with home_lock(installation.here.home):
        os.kill(state["temporal"]["pid"], signal.SIGKILL)
        shown = installation.holdfast("show", job)
        status = installation.holdfast("status", job)
        paused = installation.holdfast("pause", job)
    installation.slow(0)
    up = installation.holdfast("up")

    assert shown.code == status.code == up.code == 0, shown.err + status.err + up.err
    for looked in (shown, status):
        assert "blocked:  Temporal at" in looked.out
        assert "start it with `holdfast up`" in looked.out
    assert "embedded Temporal" in paused.refused()
    assert installation.holdfast("wait", job).code == 0


@pytest.mark.long
def test_a_run_whose_database_dies_says_that_the_job_goes_on(
    installation: CommandInstallation,
) -> None:
    installation.slow(60)  # held until it is released below
    before = installation.players.count(EXTRACTOR)
    environment = {"OPENAI_BASE_URL": installation.model.url, "OPENAI_API_KEY": "sk-test"}
    running = installation.here.started("run", "Who?", "--model", "scripted", **environment)
    while installation.players.count(EXTRACTOR) == before:
        time.sleep(0.05)
    state = json.loads((installation.here.home / "services.json").read_text())

    os.kill(state["postgres"]["pid"], signal.SIGKILL)
    _, err = running.communicate(timeout=60)
    installation.slow(0)
    installation.model.release()

    said = err.decode()
    assert running.returncode == 3, said
    job = said.partition("job ")[2].split()[0]
    assert f"job {job} goes on" in said
    assert "holdfast up" in said
    assert "Traceback" not in said
    assert installation.holdfast("up").code == 0
    assert installation.holdfast("wait", job).code == 0


@pytest.mark.conformance("BEY-01")
@pytest.mark.long
def test_the_demonstration_of_a_crash_prints_its_receipt(installation: CommandInstallation) -> None:
    ran = installation.holdfast("demo", "--crash")

    assert ran.code == 0, ran.err
    assert "with SIGKILL" in ran.err
    assert "Captain Halvar Quist" in ran.out
    lines = ran.err.splitlines()
    [receipt] = [number for number, line in enumerate(lines) if "died at" in line]
    assert "reused, not paid again" in lines[receipt + 1]
