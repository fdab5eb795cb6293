"""Tests that today's roles still take the inputs and replies of jobs that somebody played."""

import json
from pathlib import Path

import pytest

from holdfast.evals.tokens.recorded_requests import PLAYS, RecordedRequest, read_requests
from holdfast.evals.tokens.todays_prompts import FUNCTIONS, role_of, todays_prompt
from holdfast.models.calls.function_calls import FunctionCalls
from holdfast.models.plans.plan_drafts import AgentPlanDraft
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.endpoints.chat_request import RESPONSE_FORMATS
from holdfast.roles.endpoints.native_functions import calls_as_text
from holdfast.roles.loop.loop_agent import INSTRUCTIONS

FILES = sorted(PLAYS.glob("*.jsonl"))


def test_there_are_plays() -> None:
    plays = [file.stem.split("-")[0] for file in FILES]

    assert set(plays) >= {"kpi", "research", "tdp", "vmao"}
    assert plays.count("loop") >= 2


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
        assert isinstance(request.reply, dict), "a play has its replies"
        if request.functions:
            assert _read_calls(request) == request.reply["calls"]
            continue
        role = role_of(request)
        assert role is not None

        answer = role.answer.model_validate(request.reply)

        kept = json.loads(answer.model_dump_json())
        assert {name: kept[name] for name in request.reply} == _with_defaults(request.reply, kept)


def _read_calls(request: RecordedRequest) -> list[object]:
    """The calls of a loop's turn, as the engine reads them out of the endpoint's tool calls."""
    assert isinstance(request.reply, dict)
    said = [(each["name"], json.dumps(each["arguments"])) for each in request.reply["calls"]]
    calls = FunctionCalls.model_validate_json(calls_as_text(said)).calls
    assert {each.name for each in calls} <= set(request.functions)
    read = [FUNCTIONS[each.name].model_validate(each.arguments) for each in calls]
    return [
        {"name": each.name, "arguments": arguments.model_dump(mode="json", exclude_unset=True)}
        for each, arguments in zip(calls, read, strict=True)
    ]


@pytest.mark.conformance("LOOP-07")
def test_a_loops_turn_is_counted_with_native_functions_or_with_functions_in_words() -> None:
    turns = [each for file in FILES for each in read_requests([file]) if each.functions]

    assert any(each.dialogue for each in turns), "a turn after the first one"
    for turn in turns:
        native, in_words = (todays_prompt(turn, form) for form in RESPONSE_FORMATS[::2])
        assert native is not None
        assert in_words is not None
        assert native.messages[0] == INSTRUCTIONS
        assert "- search: Search the collection." in in_words.messages[0]
        assert native.messages[1:] == in_words.messages[1:]
        assert min(native.parts["tools"], in_words.parts["tools"]) > 0


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
