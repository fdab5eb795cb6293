"""Answer errors of the Responses API in the form that OpenAI's clients read."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse

from holdfast.api.problem_documents import (
    PROBLEM_RESPONSE,
    on_holdfast_error,
    on_validation_error,
)
from holdfast.models.errors import HoldfastError

_LOWEST_SERVER_ERROR = 500
_TEXT_OR_NULL = {"anyOf": [{"type": "string"}, {"type": "null"}]}
OPENAI_ERROR_RESPONSE: dict[str, Any] = {
    "description": "What is wrong, and what to do; a path that is none has a problem document.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["error"],
                "properties": {
                    "error": {
                        "type": "object",
                        "required": ["message", "type", "code", "param"],
                        "properties": {
                            "message": {"type": "string"},
                            "type": {"enum": ["invalid_request_error", "server_error"]},
                            "code": {"type": "string", "description": "The name of the error."},
                            "param": _TEXT_OR_NULL,
                        },
                    }
                },
            }
        },
        **PROBLEM_RESPONSE["content"],
    },
}


class OpenAIRoute(APIRoute):
    """A route whose errors have a member `error` with `message`, `type`, `code` and `param`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await handle(request)
            except HoldfastError as error:
                return _openai_error(await on_holdfast_error(request, error))
            except RequestValidationError as error:
                return _openai_error(await on_validation_error(request, error))

        return handler


def _openai_error(problem: Response) -> Response:
    content = json.loads(bytes(problem.body))
    fields = content.get("errors") or [{}]
    is_ours = problem.status_code >= _LOWEST_SERVER_ERROR
    error = {
        "message": content["detail"],
        "type": "server_error" if is_ours else "invalid_request_error",
        "code": content["error"],
        "param": fields[0].get("field"),
    }
    kept = {name: problem.headers[name] for name in _KEPT if name in problem.headers}
    return JSONResponse({"error": error}, problem.status_code, headers=kept)


_KEPT = ("retry-after", "www-authenticate")
