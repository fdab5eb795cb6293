"""Send requests to one server, and try again where a repeat is safe."""

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2
from pydantic import TypeAdapter

from holdfast.python_client.api_errors import (
    ApiError,
    ServerUnreachable,
    ServiceUnavailable,
    TooManyRequests,
    error_of,
    pause_after,
)

T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:8765"
_CONNECT_PAUSE_S = 0.5


class SyncSession:
    """A connection to one server."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        key: str = "",
        *,
        timeout_s: float = 60.0,
        patience_s: float = 30.0,
    ) -> None:
        """Connect to a server; nothing is sent yet.

        Args:
            url: the server's address, as `holdfast serve` prints it.
            key: an API key, or the installation's token.
            timeout_s: how long one request may wait for the server.
            patience_s: how long requests that are safe to repeat are repeated while the server is
                away. A followed job waits ten times as long.
        """
        self.url = url.rstrip("/")
        self.patience_s = patience_s
        self._http = httpx2.Client(
            base_url=f"{self.url}/v1",
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=timeout_s,
        )

    def close(self) -> None:
        """Close the connections; jobs run on."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def _get(self, kind: type[T], path: str, **query: object) -> T:
        answer = self._request("GET", path, query=query, is_safe=True)
        return TypeAdapter(kind).validate_json(answer.content)

    def _post(self, kind: type[T], path: str, body: object = None) -> T:
        answer = self._request("POST", path, body=body)
        return TypeAdapter(kind).validate_json(answer.content)

    def _put(self, kind: type[T], path: str, body: object) -> T:
        answer = self._request("PUT", path, body=body)
        return TypeAdapter(kind).validate_json(answer.content)

    def _delete(self, kind: type[T], path: str, **query: object) -> T:
        answer = self._request("DELETE", path, query=query)
        return TypeAdapter(kind).validate_json(answer.content)

    def _bytes(self, path: str, **query: object) -> bytes:
        return (self._request("GET", path, query=query, is_safe=True)).content

    def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        files: Sequence[tuple[str, tuple[str, bytes]]] | None = None,
        is_safe: bool = False,
    ) -> httpx2.Response:
        """The answer; with `is_safe` the request is repeated while the server is away.

        Raises:
            ApiError: the server refused the request, or none answers.
        """
        more: dict[str, Any] = {"params": _without_none(query or {}), "headers": headers}
        if files is not None:
            more |= {"data": form, "files": files}
        elif body is not None:
            more["json"] = body
        given_up = time.monotonic() + self.patience_s
        while True:
            try:
                return self._send(method, path, more)
            except (ServerUnreachable, ServiceUnavailable, TooManyRequests) as error:
                if not is_safe or time.monotonic() > given_up:
                    raise
                pause = _CONNECT_PAUSE_S if isinstance(error, ServerUnreachable) else None
                time.sleep(pause_after(error) if pause is None else pause)

    def _send(self, method: str, path: str, more: Mapping[str, Any]) -> httpx2.Response:
        try:
            answer = self._http.request(method, path, **more)
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        if not answer.is_success:
            raise _error(answer)
        return answer

    def _unreachable(self, error: Exception) -> ServerUnreachable:
        why = str(error) or type(error).__name__
        return ServerUnreachable(f"no answer from {self.url} ({why}); `holdfast serve` serves it")


def _error(answer: httpx2.Response) -> ApiError:
    if answer.has_redirect_location:
        elsewhere = answer.headers["location"]
        return ApiError(
            f"the server redirects to {elsewhere}; give the client the address that it names",
            answer.status_code,
        )
    return error_of(answer.status_code, answer.content, answer.headers.get("retry-after", ""))


def _without_none(query: Mapping[str, object]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}
