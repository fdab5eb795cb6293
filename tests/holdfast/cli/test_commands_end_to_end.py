"""Tests of the commands end to end: a real installation, the demonstration documents, real
signals."""

import json
import os
import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import holdfast
from holdfast.services.launch.worker_process import current_worker
from tests.support.services.command_shell import CommandShell, command_shell

pytestmark = pytest.mark.slow

DOCS = str(Path(holdfast.__file__).parent / "demo" / "collection")
QUESTION = "Who designed the Gannet Stair Light?"


@pytest.fixture(scope="module")
def home() -> Iterator[CommandShell]:
    """An installation with one finished job."""
    with command_shell() as here:
        ran = here.holdfast("run", QUESTION, "--docs", DOCS, "--json")
        assert ran.code == 0, ran.err
        yield here


def newest(here: CommandShell, question: str = "") -> str:
    """Return the newest job, or the newest with this question."""
    jobs = json.loads(here.holdfast("list", "--json").out)
    return str(next(job["job_id"] for job in jobs if question in job["question"]))


def worker_of(here: CommandShell) -> psutil.Process:
    worker = current_worker(here.home)
    assert worker
    return psutil.Process(worker.pid)


def test_run_without_a_terminal_prints_plain_lines_and_the_report(home: CommandShell) -> None:
    ran = home.holdfast("run", QUESTION, "--docs", DOCS)

    assert ran.code == 0
    assert ran.out.lstrip().startswith(f"# {QUESTION}")
    assert "Orlan Treave" in ran.out
    assert "## Sources" in ran.out
    assert "(gannet-stair-light.md" in ran.out
    assert "0 read, 37 unchanged" in ran.err
    assert "\x1b[" not in ran.out + ran.err


@pytest.mark.conformance("REP-08")
@pytest.mark.long
def test_a_question_follows_a_job_and_reads_its_collection(home: CommandShell) -> None:
    first = newest(home)

    ran = home.holdfast("run", "When was the Gannet Stair Light lit?", "--follows", first[:-2])

    assert ran.code == 0, ran.err
    assert f"follows job {first}" in ran.err
    assert "(gannet-stair-light.md" in ran.out
    shown = json.loads(home.holdfast("show", newest(home), "--json").out)
    assert shown["follows"] == first
    unknown = home.holdfast("run", QUESTION, "--follows", "nowhere")
    assert "there is no job 'nowhere'" in unknown.err


def test_show_has_the_documented_names_and_the_address_in_the_temporal_ui(
    home: CommandShell,
) -> None:
    shown = json.loads(home.holdfast("show", newest(home, QUESTION), "--json").out)

    assert set(shown) >= {
        "job_id",
        "question",
        "preset",
        "model",
        "status",
        "stop_reason",
        "answer",
        "tasks",
        "replans",
        "tokens",
        "calls",
        "seconds",
        "temporal",
    }
    assert set(shown["tasks"][0]) >= {
        "id",
        "kind",
        "status",
        "depends_on",
        "attempt",
        "confidence",
        "entities",
        "failure",
    }
    assert (set(shown["tokens"]), set(shown["calls"])) == ({"input", "output"}, {"model", "tool"})
    assert shown["temporal"]["url"].endswith(f"/{shown['temporal']['run_id']}/timeline")
    assert "Orlan Treave" in shown["answer"]


def test_every_citation_stands_verbatim_in_its_document(home: CommandShell) -> None:
    report = json.loads(home.holdfast("report", newest(home), "--format", "json").out)

    marks = {mark for each in (*report["summary"], *report["findings"]) for mark in each["marks"]}
    assert marks == {citation["mark"] for citation in report["citations"]} != set()
    for citation in report["citations"]:
        text = Path(DOCS, citation["address"]).read_text()
        assert text[citation["start"] : citation["end"]] == citation["quote"]


@pytest.mark.long
def test_the_other_views_answer_in_words_and_in_json(home: CommandShell) -> None:
    job = newest(home)

    calls = json.loads(home.holdfast("calls", job, "--json").out)
    memory = json.loads(home.holdfast("memory", job).out)
    stats = json.loads(home.holdfast("stats", "--json").out)
    events = [json.loads(line) for line in home.holdfast("events", job, "--json").out.splitlines()]

    assert set(calls[0]) >= {
        "kind",
        "role",
        "task",
        "name",
        "request_hash",
        "status",
        "started_at",
        "finished_at",
        "tokens",
        "reused",
    }
    assert memory[memory["current_plan"]["tasks"][0]["task_id"]]
    assert stats["by_status"]["done"] >= 1
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    kinds = [each["kind"] for each in events if not each["kind"].startswith("evidence.")]
    assert kinds[-1] == "job.ended"
    for command in ("plan", "calls", "events", "stats", "list", "show"):
        words = (command,) if command in ("stats", "list") else (command, job)
        ran = home.holdfast(*words)
        assert ran.code == 0
        assert ran.out.strip()
    assert "plan change 1: planned" in home.holdfast("plan", job, "--diff").out
    assert home.holdfast("report", job, "--format", "html").out.startswith("<!doctype html>")


def test_submit_returns_the_id_at_once_and_its_key_makes_it_idempotent(home: CommandShell) -> None:
    first = home.holdfast("submit", QUESTION, "--docs", DOCS, "--id", "mine")
    again = home.holdfast("submit", QUESTION, "--docs", DOCS, "--id", "mine", "--json")

    assert first.code == again.code == 0
    job = first.out.strip()
    assert json.loads(again.out) == {"job_id": job}
    assert home.holdfast("wait", job).code == 0


@pytest.mark.long
def test_ctrl_c_leaves_the_job_running_and_says_how_to_come_back(home: CommandShell) -> None:
    worker = worker_of(home)
    worker.suspend()
    try:
        running = home.started("run", QUESTION, "--docs", DOCS)
        assert running.stderr is not None
        line = b""
        while not line.startswith(b"job "):
            line = running.stderr.readline()
        job = line.split()[1].decode()

        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)
    finally:
        worker.resume()

    assert running.returncode == 130
    assert f"holdfast wait {job}" in err.decode()
    assert "Traceback" not in err.decode()
    assert home.holdfast("wait", job, "--timeout", "60").code == 0


@pytest.mark.long
def test_a_job_goes_on_after_its_worker_was_killed(home: CommandShell) -> None:
    worker = worker_of(home)
    worker.suspend()
    job = home.holdfast("submit", QUESTION, "--docs", DOCS, "--id", "killed").out.strip()

    os.kill(worker.pid, signal.SIGKILL)
    worker.wait(10)
    up = home.holdfast("up")

    assert up.code == 0
    assert home.holdfast("wait", job, "--timeout", "60").code == 0


@pytest.mark.long
def test_jobs_and_histories_are_there_again_after_down_and_up(home: CommandShell) -> None:
    job = newest(home)
    before = json.loads(home.holdfast("show", job, "--json").out)

    assert home.holdfast("down").code == 0
    assert home.holdfast("show", job).code == 1
    assert home.holdfast("up").code == 0

    after = json.loads(home.holdfast("show", job, "--json").out)
    assert after["tasks"] == before["tasks"]
    assert after["answer"] == before["answer"]


def test_help_loads_nothing_heavy() -> None:
    """`--help` answers in under half a second because none of these is imported."""
    import subprocess
    import sys

    code = (
        "import sys, holdfast.cli.app;"
        "print([m for m in ('temporalio', 'sqlalchemy', 'openai', 'mcp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.conformance("BEY-05")
@pytest.mark.long
def test_a_whole_fork_is_answered_from_the_record(home: CommandShell) -> None:
    job = newest(home)

    shown = home.holdfast("fork", job, "--set", "max_tool_calls=39", "--dry-run")
    forked = json.loads(home.holdfast("fork", job, "--set", "max_tool_calls=39", "--json").out)
    ended = home.holdfast("wait", forked["job_id"])

    runs = [line for line in shown.out.splitlines() if line.startswith("runs:")]
    assert runs == ["runs:   the whole job; a call whose request stays the same is not sent"]
    assert ended.code == 0, ended.err
    calls = json.loads(home.holdfast("calls", forked["job_id"], "--json").out)
    assert calls
    assert all(call["is_repeated"] for call in calls)
    assert f"fork of:  {job}" in home.holdfast("show", forked["job_id"]).out


@pytest.mark.conformance("VMAO-10", "WAVE-06")
@pytest.mark.long
def test_what_is_retracted_is_warned_of_in_the_report_and_the_status(home: CommandShell) -> None:
    job = newest(home)
    report = json.loads(home.holdfast("report", job, "--json").out)
    assert {"answer", "key_findings", "confidence", "sources", "gaps"} <= set(report)
    number = str(report["citations"][0]["evidence_id"])

    done = home.holdfast("retract", job, number, "--reason", "a hoax", "--json")
    again = home.holdfast("retract", job, number, "--reason", "a hoax")

    assert done.code == 0, done.err
    assert json.loads(done.out)["statements"]
    assert f"evidence {number} of job {job} is retracted already" in again.refused()
    assert "**Warning:** mark 1 supports nothing any more" in home.holdfast("report", job).out
    assert "warning:  mark 1 supports nothing any more" in home.holdfast("status", job).out
    assert json.loads(home.holdfast("status", job, "--json").out)["warnings"]


@pytest.mark.long
def test_a_report_is_written_into_a_folder_and_says_that_it_has_no_figures(
    home: CommandShell,
) -> None:
    job = newest(home)

    written = home.holdfast("report", job, "--out", "told")
    listed = home.holdfast("figure", job)
    missing = home.holdfast("figure", job, "abc", "-o", "a.svg")

    assert written.out.split() == ["told/report.md", "told/report.html"]
    assert "## Sources" in (home.folder / "told/report.md").read_text()
    assert listed.out.strip() == "the report has no figures"
    assert "no single figure 'abc' in the report; figures: none" in missing.refused()


@pytest.mark.long
def test_a_path_with_the_ending_of_a_format_is_a_file_of_that_format(home: CommandShell) -> None:
    job = newest(home)

    paths = ("one.html", "one.md", "one.json", "one.obsidian.zip")
    written = [home.holdfast("report", job, "--out", path).out.strip() for path in paths]

    assert written == [*paths]
    page, text, data = [(home.folder / path).read_text() for path in paths[:3]]
    assert zipfile.is_zipfile(home.folder / paths[3])
    assert page.startswith("<!doctype html>")
    assert "## Sources" in text
    assert json.loads(data)["job_id"] == job
