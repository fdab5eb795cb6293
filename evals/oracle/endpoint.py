"""The oracle behind a real OpenAI-compatible endpoint, which counts tokens as our estimate does."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from evals.oracle.player import Oracle
from planning.tokens import estimate_tokens
from roles.assessor import ASSESSOR
from roles.base import Role
from roles.condenser import CONDENSER
from roles.node_planner import NODE_PLANNER, OBJECTIVES, REPAIRER
from roles.planner import GRAPH_PLANNER, PLANNER
from roles.reasoner import REASONER
from roles.replanner import NODE_REPLANNER, REPLANNER
from roles.reviser import REVISER
from roles.sentence_checker import SENTENCE_CHECKER
from roles.stepper import STEPPER
from roles.synthesiser import SYNTHESISER
from roles.verifier import VERIFIER

_ROLES: tuple[Role[Any, Any], ...] = (
    PLANNER, GRAPH_PLANNER, REPLANNER, NODE_PLANNER, NODE_REPLANNER, OBJECTIVES, REPAIRER,
    STEPPER, ASSESSOR, REVISER, VERIFIER, REASONER, CONDENSER, SYNTHESISER, SENTENCE_CHECKER,
)  # fmt: skip
_PER_MESSAGE = 4


@contextmanager
def serving(oracle: Oracle) -> Iterator[str]:
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


def _reply(oracle: Oracle, body: Mapping[str, Any]) -> JSONResponse:
    turns = body["messages"]
    system, asked = turns[0]["content"], turns[1]["content"]
    role = next((each for each in _ROLES if system.startswith(each.instructions.strip())), None)
    if role is None:
        return JSONResponse({"error": {"message": "the oracle does not know this role"}}, 400)
    try:
        text = json.dumps(oracle.play(role.name, json.loads(asked)), ensure_ascii=False)
    except LookupError as error:
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
        {"id": "oracle", "object": "chat.completion", "created": 0, "model": body["model"],
         "choices": [choice], "usage": counted}
    )  # fmt: skip
