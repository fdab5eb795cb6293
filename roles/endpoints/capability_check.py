"""Ask a model in each way of structured output, and say what it does with it."""

import json
from collections.abc import Callable, Mapping

from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.function_calls import FunctionCalls
from holdfast.models.calls.model_checks import RungCheck, RungState
from holdfast.models.calls.model_requests import Completion, FunctionOffer, Message, ModelRequest
from holdfast.models.errors import HoldfastError
from holdfast.planning.text.token_estimates import request_tokens
from holdfast.roles.dialogue.reply_reader import without_thinking
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.endpoints.chat_request import NATIVE_FUNCTIONS, RESPONSE_FORMATS

CHECKED_RUNGS = (NATIVE_FUNCTIONS, *RESPONSE_FORMATS)
_MAX_DETAIL = 200
OUTPUT_TOKENS = 60
"""The tokens that an answer to one question of the check is expected to have."""

_COLOURS = ["red", "green", "blue"]
_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": _COLOURS}},
    "required": ["colour"],
    "additionalProperties": False,
}
_FUNCTION = FunctionOffer(
    name="choose_colour",
    description="Choose a colour.",
    parameters=_SCHEMA,
    strict_parameters=_SCHEMA,
)
# The question asks for something else than the schema, so that a server shows if it enforces it.
_QUESTION = (
    Message(role="system", content="You answer in JSON."),
    Message(role="user", content='Greet me with a JSON object such as {"greeting": "hello"}.'),
)


def check_request(model: str, rung: str) -> ModelRequest:
    """Return the question of the check in one way of asking."""
    is_native = rung == NATIVE_FUNCTIONS
    return ModelRequest(
        model=model,
        role="models_check",
        messages=_QUESTION,
        answer_schema={} if is_native else _SCHEMA,
        functions=(_FUNCTION,) if is_native else (),
    )


def expected_tokens(model: str) -> tuple[int, int]:
    """Return the input and output tokens of a whole check, by estimate."""
    asked = sum(request_tokens(check_request(model, rung)) for rung in CHECKED_RUNGS)
    return asked, OUTPUT_TOKENS * len(CHECKED_RUNGS)


async def check_rung(endpoint: EndpointModel, model: str, rung: str) -> RungCheck:
    """Ask the model once in this way."""
    progress = CallProgress()
    try:
        reply = await endpoint.complete_at(rung, check_request(model, rung), progress)
    except HoldfastError as error:
        return RungCheck(rung=rung, state=RungState.REFUSED, detail=str(error))
    text = without_thinking(reply.text)
    state = RungState.REFUSED
    if text and not reply.refusal:
        state = RungState.WORKS if _KEEPS[rung](text) else RungState.IGNORED
    return RungCheck(
        rung=rung,
        state=state,
        is_streamed=progress.is_streamed,
        is_in_background=progress.is_in_background,
        detail="" if state is RungState.WORKS else " ".join(_said(reply).split())[:_MAX_DETAIL],
        **_usage(reply),
    )


def _said(reply: Completion) -> str:
    """What came in place of an answer."""
    if reply.finish == "content_filter":
        return f"a content filter stopped it{f': {reply.refusal}' if reply.refusal else ''}"
    if reply.refusal:
        return f"the model refused: {reply.refusal}"
    if reply.finish == "length":
        return f"cut off at the output limit (`max_output_tokens`): {reply.text}"
    return reply.text or f"an empty reply (finish reason {reply.finish!r})"


def _usage(reply: Completion) -> dict[str, int]:
    return {
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "cached_tokens": reply.cached_tokens,
        "counts_tokens": not reply.is_estimated,
    }


def _is_call(text: str) -> bool:
    try:
        calls = FunctionCalls.model_validate_json(text).calls
    except ValueError:
        return False
    return all(call.name == _FUNCTION.name for call in calls)


def _keeps_schema(text: str) -> bool:
    value = _json(text)
    return isinstance(value, dict) and set(value) == {"colour"} and value["colour"] in _COLOURS


def _is_object(text: str) -> bool:
    return isinstance(_json(text), dict)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_KEEPS: Mapping[str, Callable[[str], bool]] = {
    NATIVE_FUNCTIONS: _is_call,
    "json_schema": _keeps_schema,
    "json_object": _is_object,
    "text": bool,
}
