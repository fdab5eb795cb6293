"""Tests for `holdfast run --dry-run`: the printed plan and estimate, with nothing executed."""

import json

import pytest

from tests.support.services.command_shell import command_shell

QUESTION = "When was the tower of Amberwick built?"


@pytest.mark.slow
@pytest.mark.conformance("WAVE-11")
def test_a_dry_run_prints_the_plan_and_the_estimate_and_can_be_resumed() -> None:
    with command_shell() as here:
        docs = here.folder
        (docs / "amberwick.md").write_text("The tower of Amberwick was built in 1841.")
        words = (
            "run",
            QUESTION,
            "--docs",
            str(docs),
            "--model",
            "extractive",
            "--dry-run",
            "--preset",
            "research",
        )

        said = here.holdfast(*words)
        dry = json.loads(here.holdfast(*words, "--json").out)

        assert (said.code, dry["stop_reason"]) == (0, "planned")
        assert " rag " in said.out
        assert "would take: " in said.out
        assert {task["status"] for task in dry["tasks"]} == {"pending"}
        assert dry["estimate"]["tool_calls"] >= 1
        made = json.loads(here.holdfast("calls", dry["job_id"], "--json").out)
        assert [call["role"] for call in made] == ["planner"]

        assert here.holdfast("resume", dry["job_id"]).code == 0
        done = json.loads(here.holdfast("wait", dry["job_id"], "--json").out)

        assert done["stop_reason"] == "answered", done["message"]
        assert "1841" in done["answer"]
