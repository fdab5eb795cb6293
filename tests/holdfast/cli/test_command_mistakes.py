"""Tests for mistakes on the command line: the message names the mistake and the way out, and
nothing is left behind."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.models.errors import BadConfiguration
from holdfast.services.service_state import load_state
from tests.support.services.command_shell import CommandShell, command_shell

pytestmark = pytest.mark.slow

QUESTION = "Who built the bridge?"
_NOBODY = 65534
LATIN1 = "Où est le café?".encode("latin-1")
SHOWS = ("show", "wait", "report", "plan", "memory", "calls", "events", "stats")


@pytest.fixture
def idle() -> Iterator[CommandShell]:
    """A shell in whose home nothing was ever started."""
    with command_shell() as here:
        yield here


@pytest.fixture(scope="module")
def running() -> Iterator[CommandShell]:
    """A shell with running services, for mistakes that only they can find."""
    with command_shell() as here:
        assert here.holdfast("up").code == 0
        yield here


@pytest.mark.parametrize(
    ("words", "names"),
    [
        pytest.param(["run", ""], ["the question is empty", "Who built the pier?"], id="empty"),
        pytest.param(["submit", " \n\t"], ["the question is empty"], id="blank"),
        pytest.param(
            ["run", "x" * 100_000], ["100,000 characters", "20,000", "a collection"], id="huge"
        ),
        pytest.param(["run", LATIN1], ["word 2", "not valid UTF-8"], id="not-utf8"),
        pytest.param(
            ["run", QUESTION, "--docs", "nowhere"],
            ["'nowhere' does not exist", "give a folder"],
            id="no-docs",
        ),
        pytest.param(
            ["run", QUESTION, "--docs", b"caf\xe9"], ["word 4", "not valid UTF-8"], id="odd-docs"
        ),
        pytest.param(
            ["run", QUESTION, "--follows", "job-1", "--docs", ".", "--servers", "web"],
            ["docs and servers cannot be given with `follows`", "job before it read"],
            id="follows-with-docs",
        ),
        pytest.param(
            ["run", QUESTION, "--follows", " "], ["`follows` names no job"], id="follows-none"
        ),
        pytest.param(
            ["run", QUESTION, "--preset", "kpi"],
            ["'kpi'", "kpi-chain", "full-horizon"],
            id="preset",
        ),
        pytest.param(
            ["run", QUESTION, "--set", "slot=3"], ["'slot'", "did you mean 'slots'"], id="setting"
        ),
        pytest.param(
            ["run", QUESTION, "--set", "slots=many"], ["'slots'", "valid integer"], id="value"
        ),
        pytest.param(
            ["run", QUESTION, "--set", "slots=0"],
            ["'slots'", "greater than or equal to 1"],
            id="range",
        ),
        pytest.param(
            ["run", QUESTION, "--set", "confidence_threshold=nan"],
            ["'confidence_threshold'"],
            id="nan",
        ),
        pytest.param(
            ["run", QUESTION, "--set", "tool_timeout=soon"], ["'tool_timeout'"], id="duration"
        ),
        pytest.param(["run", QUESTION, "--set", "slots"], ["NAME=VALUE", "'slots'"], id="no-sign"),
        pytest.param(["run", QUESTION, "--model", "my model"], ["'my model'"], id="model-name"),
        pytest.param(
            ["submit", QUESTION, "--id", " "], ["the id of the request is empty"], id="empty-id"
        ),
        pytest.param(["list", "--status", "broken"], ["'broken'", "queued, running"], id="status"),
        pytest.param(["list", "--preset", "kpi"], ["'kpi'", "kpi-chain"], id="list-preset"),
        pytest.param(["report", "job-1", "--format", "odt"], ["'odt'", "json, md"], id="format"),
    ],
)
def test_mistake_is_named_before_anything_is_started(
    idle: CommandShell, words: list[str | bytes], names: list[str]
) -> None:
    message = idle.holdfast(*words).refused()

    assert [name for name in names if name not in message] == []
    assert not idle.has_started_services


@pytest.mark.parametrize(
    ("given", "names"),
    [
        pytest.param(b"", ["the question is empty"], id="nothing"),
        pytest.param(b"\x00 \n", ["the question is empty"], id="nul"),
        pytest.param(b"why? " * 200_000, ["limit is 20,000", "a collection"], id="1-MB"),
        pytest.param("é".encode() * 500_000, ["limit is 20,000"], id="1-MB-of-two-bytes"),
        pytest.param(LATIN1, ["standard input", "not valid UTF-8"], id="latin-1"),
        pytest.param(os.urandom(1 << 16) + b"\xff" * (1 << 20), ["UTF-8"], id="binary"),
    ],
)
def test_question_on_standard_input_is_checked_before_anything_is_started(
    idle: CommandShell, given: bytes, names: list[str]
) -> None:
    message = idle.holdfast("run", "-", stdin=given).refused()

    assert [name for name in names if name not in message] == []
    assert not idle.has_started_services


@pytest.mark.parametrize(
    ("variables", "names"),
    [
        pytest.param({"HOLDFAST_POOL_SIZE": "x"}, ["HOLDFAST_POOL_SIZE", "integer"], id="size"),
        pytest.param({"HOLDFAST_PRESET": "kpi"}, ["'kpi'", "kpi-chain"], id="preset"),
        pytest.param({"OPENAI_BASE_URL": "localhost"}, ["OPENAI_BASE_URL"], id="address"),
        pytest.param({"HOLDFAST_CONFIG": "none.toml"}, ["HOLDFAST_CONFIG", "none.toml"], id="file"),
        pytest.param({"HOLDFAST_DATABASE_URL": "mysql://a:secret@b/c"}, ["postgresql://"], id="db"),
    ],
)
def test_variable_that_cannot_be_used_is_named_before_anything_is_started(
    idle: CommandShell, variables: dict[str, str], names: list[str]
) -> None:
    message = idle.holdfast("run", QUESTION, **variables).refused()

    assert [name for name in names if name not in message] == []
    assert "secret" not in message
    assert not idle.has_started_services


@pytest.mark.parametrize("command", ["list", *SHOWS])
def test_looking_where_nothing_runs_says_how_to_start_it(idle: CommandShell, command: str) -> None:
    message = idle.holdfast(command, *(["job-1"] if command in SHOWS else [])).refused()

    assert "not running; start with `holdfast up`" in message
    assert not idle.has_started_services


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["rnu", QUESTION],
        ["run", QUESTION, "--doc", "x"],
        ["list", "--limit", "0"],
        ["wait", "job-1", "--timeout", "soon"],
    ],
    ids=["no-question", "no-such-command", "no-such-option", "out-of-range", "no-number"],
)
def test_word_that_no_command_takes_gives_no_traceback(
    idle: CommandShell, words: list[str]
) -> None:
    ran = idle.holdfast(*words)

    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert "rror" in ran.err
    assert not idle.has_started_services


def test_doctor_that_finds_a_fault_fails(idle: CommandShell) -> None:
    ran = idle.holdfast("doctor")

    assert "FAIL database" in ran.out
    assert "OPENAI_API_KEY" not in ran.out, "no key is set, so none is masked or not"
    assert ran.code == 1


def test_doctor_says_that_a_short_key_is_not_masked(idle: CommandShell) -> None:
    ran = idle.holdfast("doctor", OPENAI_API_KEY="x", OPENAI_BASE_URL="http://127.0.0.1:9/v1")

    assert "OPENAI_API_KEY has fewer than 8 characters, so it is not masked" in ran.out


def test_doctor_reports_a_broken_file_once_and_goes_on(idle: CommandShell) -> None:
    idle.folder.joinpath("holdfast.toml").write_bytes(b"[servers.mine\n")

    ran = idle.holdfast("doctor")

    assert ran.out.count("not valid TOML") == 1
    assert "FAIL config file" in ran.out
    assert "-    built-in tools: not checked: the config file has a fault" in ran.out
    assert "FAIL database: the embedded PostgreSQL is not running" in ran.out
    assert "no answer within" not in ran.out


def test_misspelled_variable_is_named_with_the_nearest_setting(idle: CommandShell) -> None:
    ran = idle.holdfast("doctor", HOLDFAST_PRESETS="kpi-chain")

    assert (
        "FAIL settings: HOLDFAST_PRESETS is not a setting of Holdfast; "
        "did you mean HOLDFAST_PRESET?"
    ) in ran.out


def test_every_command_warns_of_a_misspelled_variable(idle: CommandShell) -> None:
    ran = idle.holdfast("list", HOLDFAST_HOEM="1")

    assert ran.err.startswith(
        "warning: HOLDFAST_HOEM is not a setting of Holdfast; did you mean HOLDFAST_HOME?\n"
    )


@pytest.mark.parametrize("command", ["list", "up"])
def test_home_that_cannot_be_made_is_named(idle: CommandShell, command: str) -> None:
    message = idle.holdfast(command, HOLDFAST_HOME="/proc/holdfast").refused()

    assert "HOLDFAST_HOME '/proc/holdfast' cannot be written" in message


@pytest.mark.long
def test_an_interrupt_before_the_job_is_submitted_says_so(idle: CommandShell) -> None:
    idle.folder.joinpath("bridge.md").write_text("Ada Orme built the bridge.")
    starting = idle.started("run", QUESTION, "--docs", "bridge.md")
    assert starting.stderr is not None
    assert starting.stderr.readline().startswith(b"starting ")

    starting.send_signal(signal.SIGINT)
    _, err = starting.communicate(timeout=60)

    assert starting.returncode == 130
    assert b"interrupted: no job was submitted" in err
    assert b"Traceback" not in err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_home_of_another_user_is_named(tmp_path: Path) -> None:
    tmp_path.joinpath("services.json").touch(mode=0o600)
    os.seteuid(_NOBODY)
    try:
        with pytest.raises(BadConfiguration, match=r"\(Permission denied\): it belongs to another"):
            load_state(tmp_path)
    finally:
        os.seteuid(0)


@pytest.mark.slow
def test_model_without_an_endpoint_is_refused_before_anything_is_started(
    idle: CommandShell,
) -> None:
    message = idle.holdfast("run", QUESTION, "--model", "gpt-x").refused()

    assert "'gpt-x' needs an endpoint: write [models.gpt-x]" in message
    assert "or set OPENAI_API_KEY" in message
    assert not idle.has_started_services


BROKEN_FILES = {
    "no-toml": (b"[servers.mine\n", "not valid TOML"),
    "no-command": (b"[servers.mine]\ntimeout_s = 5\n", "servers.mine has neither 'command'"),
    "no-text": (b"# caf\xe9\n", "cannot be read as UTF-8"),
}
broken_files = pytest.mark.parametrize(
    ("content", "names"), BROKEN_FILES.values(), ids=BROKEN_FILES.keys()
)


@pytest.mark.slow
@broken_files
def test_broken_holdfast_toml_is_refused_before_anything_is_started(
    idle: CommandShell, content: bytes, names: str
) -> None:
    idle.folder.joinpath("holdfast.toml").write_bytes(content)

    message = idle.holdfast("run", QUESTION).refused()

    assert names in message
    assert not idle.has_started_services


@pytest.mark.slow
@broken_files
@pytest.mark.long
def test_broken_holdfast_toml_leaves_the_worker_that_runs_alone(
    running: CommandShell, content: bytes, names: str
) -> None:
    assert running.holdfast("up").code == 0
    file = running.folder / "broken.toml"
    file.write_bytes(content)

    message = running.holdfast("run", QUESTION, HOLDFAST_CONFIG=str(file)).refused()

    assert names in message
    doctor = running.holdfast("doctor")
    assert "this machine's worker runs" in doctor.out
    assert doctor.err == ""


@pytest.mark.slow
@pytest.mark.parametrize("command", SHOWS)
def test_unknown_job_is_named(running: CommandShell, command: str) -> None:
    message = running.holdfast(command, "job-none").refused()

    assert "there is no job 'job-none'; `holdfast list` lists the jobs" in message


@pytest.mark.slow
@pytest.mark.parametrize("command", ["show", "wait"])
def test_unknown_job_is_named_where_json_is_asked_for(running: CommandShell, command: str) -> None:
    message = running.holdfast(command, "job-none", "--json").refused()

    assert "there is no job 'job-none'" in message


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["show", b"job-\xff"],
        ["submit", QUESTION, "--id", b"\xff"],
        ["run", QUESTION, "--collection", b"\xff"],
    ],
    ids=["job", "id", "collection"],
)
def test_word_that_is_not_utf8_gives_no_traceback(
    running: CommandShell, words: list[str | bytes]
) -> None:
    message = running.holdfast(*words).refused()

    assert "UTF-8" in message or "there is no job" in message


@pytest.mark.slow
@pytest.mark.long
def test_a_job_is_found_by_a_beginning_that_only_it_has(running: CommandShell) -> None:
    first = running.holdfast("submit", QUESTION, "--id", "one").out.strip()
    second = running.holdfast("submit", QUESTION, "--id", "two").out.strip()

    shown = json.loads(running.holdfast("show", second[:-1], "--json").out)
    ambiguous = running.holdfast("show", "job-").refused()

    assert shown["job_id"] == second
    assert "several jobs begin with 'job-': " in ambiguous
    assert first in ambiguous
    assert second in ambiguous


@pytest.mark.slow
@pytest.mark.long
def test_one_document_is_enough_and_a_misspelled_variable_is_warned_of(
    running: CommandShell,
) -> None:
    running.folder.joinpath("bridge.md").write_text("# Bridge\n\nAda Orme built the bridge.\n")
    # The variable restarts the worker, which is refused while a job of another test is under way.
    for job_id in job_ids(running):
        running.holdfast("wait", job_id, "--timeout", "100")

    ran = running.holdfast("run", QUESTION, "--docs", "bridge.md", HOLDFAST_HOEM="x")

    assert "documents: 1 read" in ran.err
    assert "warning: HOLDFAST_HOEM is not a setting of Holdfast; did you mean" in ran.err
    assert "Ada Orme" in ran.out


def job_ids(here: CommandShell) -> list[str]:
    return [job["job_id"] for job in json.loads(here.holdfast("list", "--json").out)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "names"),
    [
        pytest.param({}, [".md, .txt, .html"], id="empty"),
        pytest.param(
            {"a.bin": os.urandom(2048), "b.pdf": b"%PDF-1.7 broken", "c.txt": b"\x00\xff\x00"},
            ["a.bin: has the unsupported type .bin", "b.pdf: is a broken PDF", "c.txt:"],
            id="unreadable",
        ),
    ],
)
@pytest.mark.long
def test_docs_without_a_readable_document_start_no_job(
    running: CommandShell, tmp_path: Path, files: dict[str, bytes], names: list[str]
) -> None:
    for name, content in files.items():
        tmp_path.joinpath(name).write_bytes(content)
    before = job_ids(running)

    message = running.holdfast("run", QUESTION, "--docs", str(tmp_path)).refused()

    assert [name for name in ("no document that can be read", *names) if name not in message] == []
    assert job_ids(running) == before


@pytest.mark.slow
def test_id_of_another_request_is_refused(running: CommandShell) -> None:
    first = running.holdfast("submit", QUESTION, "--id", "mine").out.strip()

    message = running.holdfast("submit", "Who else?", "--id", "mine").refused()

    assert f"'mine' belongs to job '{first}'" in message
    assert running.holdfast("submit", QUESTION, "--id", "mine").out.strip() == first


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "wait"])
def test_job_that_fails_gives_a_failing_exit_code(running: CommandShell, command: str) -> None:
    job = running.holdfast("submit", QUESTION, "--id", "fails").out.strip()

    ran = running.holdfast(command, job if command == "wait" else QUESTION)

    assert "no new plan helped" in ran.out + ran.err
    assert ran.code == 1


@pytest.mark.slow
def test_report_of_a_job_that_found_nothing_says_so(running: CommandShell) -> None:
    job = running.holdfast("submit", QUESTION, "--id", "fails").out.strip()
    running.holdfast("wait", job)

    report = running.holdfast("report", job)

    assert report.code == 0
    assert "Not found: nothing that was read answers the question." in report.out


@pytest.mark.slow
@pytest.mark.parametrize("seconds", ["inf", "1e300"])
def test_timeout_without_end_waits_without_end(running: CommandShell, seconds: str) -> None:
    job = running.holdfast("submit", QUESTION, "--id", "fails").out.strip()

    ran = running.holdfast("wait", job, "--timeout", seconds)

    assert "Traceback" not in ran.err
    assert "no new plan helped" in ran.out


@pytest.mark.slow
def test_unknown_collection_is_named_and_starts_no_job(running: CommandShell) -> None:
    message = running.holdfast("run", QUESTION, "--collection", "nosuch").refused()

    assert "there is no collection 'nosuch'; collections: " in message
