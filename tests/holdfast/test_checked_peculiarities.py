"""Tests of what `holdfast models check` says of endpoints with peculiarities, by recorded shapes.

The shapes are those of public documents and issues; `docs/models.md` names the endpoints.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.services.command_shell import CommandResult, command_shell

pytestmark = pytest.mark.slow

RUNGS = ("tools", "json_schema", "json_object", "text")
STRICT = '{"colour": "red"}'
LOOSE = '{"greeting": "hello"}'
_TOLD_OF_FAILURE = (
    "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."
)


def good(asked: ReceivedRequest) -> ScriptedReply:
    """What an endpoint without peculiarities answers."""
    if asked.rung == "tools":
        calls = (("choose_colour", {"colour": "red"}),)
        usage = {"prompt_tokens": 50, "completion_tokens": 12}
        return ScriptedReply(content=None, calls=calls, usage=usage)
    return ScriptedReply(STRICT if asked.rung == "json_schema" else LOOSE)


def refused(error: object, status: int = 400) -> ScriptedReply:
    return ScriptedReply(status=status, error=error)


def groq(asked: ReceivedRequest) -> ScriptedReply:
    error = {"message": _TOLD_OF_FAILURE, "type": "invalid_request_error"}
    if asked.rung == "json_schema":
        return refused(error | {"code": "json_validate_failed", "failed_generation": LOOSE})
    if asked.rung == "tools":
        written = '<function=choose_colour>{"colour": "red"}'
        return refused(error | {"code": "tool_use_failed", "failed_generation": written})
    return good(asked)


def silent_groq(asked: ReceivedRequest) -> ScriptedReply:
    if asked.rung != "json_schema":
        return good(asked)
    code = {"code": "json_validate_failed", "failed_generation": ""}
    return refused({"message": _TOLD_OF_FAILURE, "type": "invalid_request_error"} | code)


def gemini(asked: ReceivedRequest) -> ScriptedReply:
    if asked.rung != "json_schema":
        return good(asked)
    text = "Unknown name \"$schema\" at 'generation_config.response_schema': Cannot find field."
    error = {"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}
    return ScriptedReply(status=400, raw=json.dumps([error]).encode())


def ignoring(asked: ReceivedRequest) -> ScriptedReply:
    return ScriptedReply(f"Hello! {LOOSE}")


def thinking(asked: ReceivedRequest) -> ScriptedReply:
    reply = good(asked)
    if reply.content is None:
        return reply
    return ScriptedReply(f"<think>The user {{wants}} JSON.</think>\n{reply.content}")


def old_limit_name(asked: ReceivedRequest) -> ScriptedReply:
    if "max_tokens" not in asked.body:
        return good(asked)
    return refused(
        {
            "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            "type": "invalid_request_error",
            "param": "max_tokens",
            "code": "unsupported_parameter",
        }
    )


def new_limit_name(asked: ReceivedRequest) -> ScriptedReply:
    if "max_completion_tokens" not in asked.body:
        return good(asked)
    return refused({"message": "max_completion_tokens: Extra inputs are not permitted"}, 422)


def uncounted(asked: ReceivedRequest) -> ScriptedReply:
    reply = good(asked)
    return ScriptedReply(reply.content, calls=reply.calls, usage=None)


def refusing(asked: ReceivedRequest) -> ScriptedReply:
    return ScriptedReply(content=None, refusal="I cannot help with that.")


def filtering(asked: ReceivedRequest) -> ScriptedReply:
    return ScriptedReply(content="", finish="content_filter")


def azure_filter(asked: ReceivedRequest) -> ScriptedReply:
    return refused({"message": "The prompt was filtered", "code": "content_filter"})


def empty(asked: ReceivedRequest) -> ScriptedReply:
    return ScriptedReply(raw=b"")


def no_choice(asked: ReceivedRequest) -> ScriptedReply:
    return ScriptedReply(raw=b'{"id": "1", "choices": []}')


def provider_error(asked: ReceivedRequest) -> ScriptedReply:
    return ScriptedReply(
        raw=b'{"choices":[{"message":{"content":""},"finish_reason":"error",'
        b'"error":{"code":502,"message":"Provider disconnected"}}]}'
    )


def wordless(asked: ReceivedRequest) -> ScriptedReply:
    return ScriptedReply("", is_lax=True)


def cut(asked: ReceivedRequest) -> ScriptedReply:
    return ScriptedReply('{"col', finish="length")


@dataclass(frozen=True)
class Peculiarity:
    """How an endpoint answers, and what the check has to say of it."""

    answers: Callable[[ReceivedRequest], ScriptedReply]
    states: Mapping[str, str]
    """By rung; the others work."""
    says: str = ""
    """Stands in the detail of each rung that does not work."""
    table: str = ""
    requests: int = 4


def every(state: str) -> dict[str, str]:
    return dict.fromkeys(RUNGS, state)


_REFUSED, _IGNORED = every("refused"), every("ignored")
PECULIARITIES = {
    "groq": Peculiarity(groq, {"tools": "ignored", "json_schema": "ignored"}),
    "groq_without_text": Peculiarity(
        silent_groq, {"json_schema": "refused"}, "answered 400: Failed to generate JSON"
    ),
    "gemini": Peculiarity(gemini, {"json_schema": "refused"}, "generation_config.response_schema"),
    "ignores_schemas": Peculiarity(ignoring, _IGNORED | {"text": "works"}, f"Hello! {LOOSE}"),
    "thinks_aloud": Peculiarity(thinking, {}),
    "knows_max_completion_tokens": Peculiarity(
        old_limit_name, {}, table="max_output_tokens = 900", requests=5
    ),
    "knows_max_tokens": Peculiarity(
        new_limit_name, {}, table="max_output_tokens = 900", requests=4
    ),
    "counts_nothing": Peculiarity(uncounted, {}),
    "refuses": Peculiarity(refusing, _REFUSED, "the model refused: I cannot help with that."),
    "filters_replies": Peculiarity(filtering, _REFUSED, "a content filter stopped it"),
    "filters_prompts": Peculiarity(
        azure_filter, _REFUSED, "a content filter stopped it: The prompt was filtered"
    ),
    "sends_nothing": Peculiarity(empty, _REFUSED, "not answer with a chat completion but with: n"),
    "sends_no_choice": Peculiarity(no_choice, _REFUSED, "did not answer with a chat completion"),
    "sends_an_error_with_200": Peculiarity(provider_error, _REFUSED, "Provider disconnected"),
    "sends_an_empty_text": Peculiarity(wordless, _REFUSED, "an empty reply (finish reason 'stop')"),
    "cuts": Peculiarity(cut, _IGNORED | {"text": "works"}, "cut off at the output limit"),
}


@dataclass(frozen=True)
class Ran:
    """What the command left behind."""

    as_json: CommandResult
    as_text: CommandResult
    counts: Mapping[str, int]

    @property
    def checks(self) -> dict[str, dict[str, Any]]:
        return {each["name"]: each for each in json.loads(self.as_json.out)}


@pytest.fixture(scope="module")
def ran() -> Ran:
    """One check of a model at each of the endpoints."""
    with ExitStack() as stack:
        here = stack.enter_context(command_shell())
        servers = {
            name: stack.enter_context(ScriptedModel(each.answers, is_strict=False))
            for name, each in PECULIARITIES.items()
        }
        tables = (
            f'[models.{name}]\nurl = "{servers[name].url}"\n{each.table}\n'
            for name, each in PECULIARITIES.items()
        )
        (here.folder / "holdfast.toml").write_text("\n".join(tables))
        as_json = here.holdfast("models", "check", *PECULIARITIES, "--json")
        counts = {name: server.count for name, server in servers.items()}
        return Ran(as_json, here.holdfast("models", "check", *PECULIARITIES), counts)


@pytest.mark.conformance("MOD-01")
@pytest.mark.parametrize("name", PECULIARITIES)
def test_the_check_says_what_the_endpoint_does_in_each_way(ran: Ran, name: str) -> None:
    check, expected = ran.checks[name], PECULIARITIES[name]

    states = {rung["rung"]: rung["state"] for rung in check["rungs"]}
    assert states == every("works") | expected.states
    for rung in check["rungs"]:
        assert (rung["detail"] == "") is (rung["state"] == "works")
        assert rung["state"] == "works" or expected.says in rung["detail"]
    assert ran.counts[name] == expected.requests
    is_usable = set(states.values()) != {"refused"}
    assert check["is_usable"] is is_usable
    assert bool(check["fault"]) is not is_usable
    assert f"{name}: {'can' if is_usable else 'cannot'} be used" in ran.as_text.out
    assert expected.says in " ".join(ran.as_text.out.split())


@pytest.mark.long
def test_an_unusable_model_among_them_ends_the_command_with_an_exit_code(ran: Ran) -> None:
    assert (ran.as_json.code, ran.as_text.code) == (1, 1)
    assert "Traceback" not in ran.as_json.err + ran.as_text.err


def test_what_groq_refused_is_shown_and_read(ran: Ran) -> None:
    details = {rung["rung"]: rung["detail"] for rung in ran.checks["groq"]["rungs"]}

    assert details["json_schema"] == LOOSE
    assert details["tools"].startswith("<function=choose_colour>")


def test_an_endpoint_without_usage_is_estimated(ran: Ran) -> None:
    check = ran.checks["counts_nothing"]

    assert not check["counts_tokens"]
    assert check["input_tokens"] > 0
    assert "tokens: " in ran.as_text.out
    assert ran.checks["thinks_aloud"]["counts_tokens"]
