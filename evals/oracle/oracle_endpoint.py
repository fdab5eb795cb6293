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
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER, STEP_PLANNER
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER, PLANNER
from holdfast.roles.planning.replanner import REPLANNER, STEP_REPLANNER
from holdfast.roles.planning.reviser import REVISER
from holdfast.roles.reports.condenser import CONDENSER
from holdfast.roles.reports.sentence_corrector import SENTENCE_CORRECTOR
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
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
    CONDENSER,
    SYNTHESISER,
    SENTENCE_CHECKER,
    SENTENCE_CORRECTOR,
)
_PER_MESSAGE = 4


class RolePlayer(Protocol):
    """Whoever answers for the model."""

    def play(self, role: str, task: RoleTask) -> object:
        """The role's answer to its typed task, as JSON.

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
    role = next((each for each in _ROLES if system.startswith(each.instructions.strip())), None)
    if role is None:
        return JSONResponse({"error": {"message": "the oracle does not know this role"}}, 400)
    try:
        task = role.task.model_validate_json(asked).model_dump(mode="json")
        text = json.dumps(oracle.play(role.name, task), ensure_ascii=False)
    except Exception as error:
        # Whatever the fault of the player is: a 500 would be tried again for hours.
        return JSONResponse({"error": {"message": f"the oracle: {error!r}"}}, 400)
    counted = {
        "prompt_tokens": sum(estimate_tokens(each["content"]) + _PER_MESSAGE for each in turns),
        "completion_tokens": estimate_tokens(text),
    }
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    return JSONResponse(
        {
            "id": "oracle",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [choice],
            "usage": counted,
        }
    )
