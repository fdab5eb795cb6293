"""Tests that no role's prompt grows unannounced, and of the command that counts tokens."""

import json
from pathlib import Path

import pytest

from holdfast.evals.tokens.__main__ import main
from holdfast.evals.tokens.recorded_jobs import (
    MOST,
    counted_jobs,
    kept_jobs,
    share_line,
    share_of,
)
from holdfast.evals.tokens.recorded_requests import read_requests
from holdfast.evals.tokens.renewed_figures import grown_roles, kept_tokens, tokens_today
from holdfast.evals.tokens.token_figures import role_figures
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.endpoints.chat_request import RESPONSE_FORMATS

ROOT = Path(__file__).parents[2]
RECORDED = ROOT.parent / "shared/data/recorded"


def test_each_role_has_recorded_inputs() -> None:
    for form in RESPONSE_FORMATS:
        assert set(tokens_today()[form]) == {role.value for role in RoleName}


@pytest.mark.conformance("MOD-04")
def test_no_prompt_of_a_role_has_grown_unannounced() -> None:
    assert grown_roles(kept_tokens(), tokens_today()) == []


@pytest.mark.conformance("MOD-04")
def test_the_recorded_jobs_take_at_most_60_percent_of_their_tokens() -> None:
    jobs = kept_jobs()

    assert sum(each.calls for each in jobs) == 137
    assert share_of(jobs) <= MOST, share_line(jobs)
    assert share_line(jobs) in (ROOT / "docs/evaluation.md").read_text()


@pytest.mark.skipif(not RECORDED.is_dir(), reason="the recorded jobs are not in the repository")
def test_the_kept_counts_are_those_of_the_recorded_jobs() -> None:
    requests = read_requests([RECORDED])
    figures = role_figures(requests, RESPONSE_FORMATS[0])

    assert counted_jobs(requests) == kept_jobs()
    assert sum(sum(each.after.values()) for each in figures) == sum(
        each.after for each in kept_jobs()
    )


def test_a_change_of_two_percent_is_named_with_the_way_to_renew_it() -> None:
    kept = {"text": {"planner": 1000, "matcher": 100}}

    assert grown_roles(kept, {"text": {"planner": 1019, "matcher": 100}}) == []
    (line,) = grown_roles(kept, {"text": {"planner": 1025, "matcher": 100}})
    assert line.startswith("planner (text): 1,025 tokens, 1,000 were announced")
    assert "python -m holdfast.evals.tokens --renew" in line


def test_the_command_counts_a_recorded_request_before_and_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = {"argument": "a", "tool": "t", "parameter": "p", "description": "", "candidates": ["b"]}
    messages = [
        {"role": "system", "content": "Choose." + " " * 33},
        {"role": "user", "content": json.dumps(task)},
        {"role": "assistant", "content": "x" * 40},
    ]
    rows = [{"role": "matcher", "messages": messages}, {"n": 1, "messages": messages}]
    file = tmp_path / "jobs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))

    assert main([str(tmp_path), "--json"]) == 0

    matcher, loop = json.loads(capsys.readouterr().out)
    assert (matcher["calls"], matcher["before"]["instructions"]) == (1, 40)
    assert matcher["before"]["feedback"] == matcher["after"]["feedback"] == 40
    assert (loop["role"], loop["calls"], loop["unmapped"]) == ("loop_agent", 0, 1)


def test_a_file_without_requests_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "jobs.jsonl"
    file.write_text('{"question": "Who?"}\n')

    assert main([str(file)]) == 2
    assert "line 1" in capsys.readouterr().err
