"""Answer errors of the Responses API in the form that OpenAI's clients read."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse

from holdfast.api.problem_documents import on_holdfast_error, on_validation_error
from holdfast.models.errors import HoldfastError

_LOWEST_SERVER_ERROR = 500


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
