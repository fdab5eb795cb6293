"""Tests that today's roles still take the inputs and replies of jobs that somebody played."""

import json
from pathlib import Path

import pytest

from holdfast.evals.tokens.recorded_requests import PLAYS, read_requests
from holdfast.evals.tokens.todays_prompts import role_of, todays_prompt
from holdfast.models.plans.plan_drafts import AgentPlanDraft
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.endpoints.chat_request import RESPONSE_FORMATS

FILES = sorted(PLAYS.glob("*.jsonl"))


def test_there_are_plays() -> None:
    assert {file.stem.split("-")[0] for file in FILES} >= {"kpi", "tdp", "vmao"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_input_of_a_play_is_written_as_a_prompt_of_today(file: Path) -> None:
    for request in read_requests([file]):
        prompt = todays_prompt(request, RESPONSE_FORMATS[0])

        assert prompt is not None, request.role
        assert request.task is not None
        shown = json.loads(prompt.messages[1])
        assert set(request.task) <= {*shown, "tools", "used_ids"}, "no field is lost"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_reply_of_a_play_is_read_as_it_was_given(file: Path) -> None:
    for request in read_requests([file]):
        role = role_of(request)
        assert role is not None
        assert isinstance(request.reply, dict), "a play has its replies"

        answer = role.answer.model_validate(request.reply)

        kept = json.loads(answer.model_dump_json())
        assert {name: kept[name] for name in request.reply} == _with_defaults(request.reply, kept)


def _with_defaults(reply: object, kept: object) -> object:
    """The reply with the fields that its role adds by default."""
    if isinstance(reply, dict) and isinstance(kept, dict):
        return {name: _with_defaults(reply.get(name, kept[name]), kept[name]) for name in kept}
    if isinstance(reply, list) and isinstance(kept, list):
        return [_with_defaults(*pair) for pair in zip(reply, kept, strict=True)]
    return reply


def test_a_play_with_first_queries_asks_no_agent_for_a_first_search() -> None:
    requests = read_requests([PLAYS / "tdp-first-queries.jsonl"])
    (planned,) = (each.reply for each in requests if each.role == RoleName.PLANNER.value)
    plan = AgentPlanDraft.model_validate(planned).to_plan()
    steps = [each.task for each in requests if each.role == RoleName.STEPPER.value]

    assert [bool(task.first_queries) for task in plan.tasks] == [True, True, False]
    assert [task["node"] for task in steps if task] == ["T3"], "the agent without tools"
