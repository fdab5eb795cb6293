"""Tests that no role's prompt grows unannounced, and of the command that counts tokens."""

import json
from pathlib import Path

import pytest

from holdfast.evals.tokens.__main__ import main
from holdfast.evals.tokens.renewed_figures import grown_roles, kept_tokens, tokens_today
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.endpoints.chat_request import RESPONSE_FORMATS

_LOOP = {RoleName.LOOP_AGENT.value}
"""A dialogue of functions; its turns are counted where its transcripts are tested."""


def test_each_role_has_recorded_inputs() -> None:
    for form in RESPONSE_FORMATS:
        assert set(tokens_today()[form]) == {role.value for role in RoleName} - _LOOP


@pytest.mark.conformance("MOD-04")
def test_no_prompt_of_a_role_has_grown_unannounced() -> None:
    assert grown_roles(kept_tokens(), tokens_today()) == []


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
