"""Serve the oracle as an OpenAI-compatible endpoint that counts tokens by our estimate."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from holdfast.evals.oracle.program_calls import RoleTask
from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.loop import loop_agent
from holdfast.roles.loop.answer_judge import ANSWER_JUDGE
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER, STEP_PLANNER
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER, PLANNER
from holdfast.roles.planning.replanner import REPLANNER, STEP_REPLANNER
from holdfast.roles.planning.reviser import REVISER
from holdfast.roles.reports.condenser import CONDENSER
from holdfast.roles.reports.sentence_corrector import SENTENCE_CORRECTOR
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.matcher import MATCHER
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.roles.verification.sentence_checker import SENTENCE_CHECKER
from holdfast.roles.verification.verifier import VERIFIER

_ROLES: tuple[Role[Any, Any], ...] = (
    PLANNER,
    AGENT_TASK_PLANNER,
    REPLANNER,
    STEP_PLANNER,
    STEP_REPLANNER,
    OBJECTIVES,
    REPAIRER,
    STEPPER,
    ASSESSOR,
    REVISER,
    VERIFIER,
    GAP_PLANNER,
    REASONER,
    EXTRACTOR,
    MATCHER,
    ANSWER_JUDGE,
    CONDENSER,
    SYNTHESISER,
    SENTENCE_CHECKER,
    SENTENCE_CORRECTOR,
)
_PER_MESSAGE = 4


class RolePlayer(Protocol):
    """Whoever answers for the model."""

    def play(self, role: str, task: RoleTask) -> Any:  # noqa: ANN401 - JSON, by role
        """The role's answer to its typed task, as JSON.

        Of a cited loop the task has the `messages`, and the answer is a list of calls: pairs of a
        function's name and its arguments.

        Raises:
            LookupError: the player does not play this role, or does not know the question.
        """
        ...


@contextmanager
def serve_oracle(oracle: RolePlayer) -> Iterator[str]:
    """The address of the endpoint, while the block lasts."""

    async def complete(request: Request) -> JSONResponse:
        return _reply(oracle, await request.json())

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    # Named as TCP, or asyncio leaves Nagle on: 40 ms an answer.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None))
        run = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        run.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            run.join(10)


def _reply(oracle: RolePlayer, body: Mapping[str, Any]) -> JSONResponse:
    turns = body["messages"]
    system, asked = turns[0]["content"], turns[1]["content"]
    if system.startswith(loop_agent.INSTRUCTIONS):
        return _loop_reply(oracle, body)
    role = next((each for each in _ROLES if system.startswith(each.instructions.strip())), None)
    if role is None:
        return JSONResponse({"error": {"message": "the oracle does not know this role"}}, 400)
    try:
        task = role.task.model_validate_json(asked).model_dump(mode="json")
        text = json.dumps(oracle.play(role.name, task), ensure_ascii=False)
    except Exception as error:
        return _refusal(error)
    return _completion(body, text, {"role": "assistant", "content": text})


def _loop_reply(oracle: RolePlayer, body: Mapping[str, Any]) -> JSONResponse:
    """A turn of a loop: calls of functions, and no text."""
    try:
        calls = oracle.play(loop_agent.ROLE, {"messages": body["messages"]})
        called: list[dict[str, Any]] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(said, ensure_ascii=False)},
            }
            for number, (name, said) in enumerate(calls)
        ]
    except Exception as error:
        return _refusal(error)
    text = "".join(each["function"]["arguments"] for each in called)
    return _completion(
        body, text, {"role": "assistant", "content": None, "tool_calls": called}, "tool_calls"
    )


def _refusal(error: Exception) -> JSONResponse:
    """Whatever the fault of the player is: a 500 would be tried again for hours."""
    return JSONResponse({"error": {"message": f"the oracle: {error!r}"}}, 400)


def _completion(
    body: Mapping[str, Any], text: str, message: Mapping[str, Any], ended: str = "stop"
) -> JSONResponse:
    """The reply, with the tokens of the request and of the text by our estimate."""
    counted = {
        "prompt_tokens": sum(_message_tokens(each) for each in body["messages"])
        + sum(estimate_tokens(json.dumps(each)) for each in body.get("tools", ())),
        "completion_tokens": estimate_tokens(text),
    }
    return JSONResponse(
        {
            "id": "oracle",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": ended, "message": message}],
            "usage": counted,
        }
    )


def _message_tokens(message: Mapping[str, Any]) -> int:
    called = "".join(each["function"]["arguments"] for each in message.get("tool_calls") or ())
    return estimate_tokens((message["content"] or "") + called) + _PER_MESSAGE
