"""Tests that a body which is refused or cut off is answered as a page to browsers, else as JSON."""

from collections.abc import Sequence

import httpx2
import pytest
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect
from starlette.types import Message
from structlog.testing import capture_logs

from holdfast.api.problem_documents import on_cut_body
from holdfast.api.request_limits import MAX_UPLOAD_BYTES, RequestLimits
from holdfast.web.page_route import PageRoute
from holdfast.web.page_routes import add_page

FILES = [("files", ("a.md", b"x")), ("files", ("b.md", b"x"))]
LARGE = {
    "Content-Type": "multipart/form-data; boundary=x",
    "Content-Length": str(MAX_UPLOAD_BYTES + 1),
}


async def read_form(request: Request) -> Response:
    async with request.form(max_files=1):
        return Response("read")


def application(path: str, kind: type[APIRoute]) -> FastAPI:
    """The page with a route before all others that takes one file, without a key."""
    app = FastAPI(exception_handlers={ClientDisconnect: on_cut_body})
    router = APIRouter(route_class=kind)
    router.add_api_route(path, read_form, methods=["POST"])
    app.include_router(router)
    add_page(app)
    app.add_middleware(RequestLimits)
    return app


@pytest.mark.parametrize(
    ("accept", "kind"),
    [("text/html,*/*", "text/html"), ("application/json", "application/problem+json")],
)
async def test_a_refused_upload_is_a_page_for_a_browser(accept: str, kind: str) -> None:
    transport = httpx2.ASGITransport(application("/ask", PageRoute))
    headers = {"Accept": accept}
    async with httpx2.AsyncClient(transport=transport, base_url="http://here") as client:
        answers = [
            await client.post("/ask", files=FILES, headers=headers),
            await client.post("/ask", content=b"x", headers={**headers, **LARGE}),
        ]

    assert [each.status_code for each in answers] == [400, 413]
    assert all(each.headers["content-type"].startswith(kind) for each in answers)
    assert "Too many files. Maximum number of files is 1." in answers[0].text
    assert "at most 200,000,000 bytes" in answers[1].text
    if kind == "text/html":
        assert all("the form still has what you wrote" in each.text for each in answers)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/ask", PageRoute),
        ("/collections/a/documents", PageRoute),
        ("/v1/collections/a/documents", APIRoute),
    ],
)
async def test_a_body_that_is_cut_off_is_no_defect(path: str, kind: type[APIRoute]) -> None:
    events = iter(
        (
            {"type": "http.request", "body": b"--x\r\n", "more_body": True},
            {"type": "http.disconnect"},
        )
    )
    sent: list[Message] = []

    async def receive() -> Message:
        return next(events)

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "query_string": b"", "server": ("here", 80),
        "scheme": "http", "headers": [(b"content-type", b"multipart/form-data; boundary=x")],
    }  # fmt: skip
    with capture_logs() as logged:
        await application(path, kind)(scope, receive, send)

    assert names(logged) == ["request.cut_off"]
    assert sent[0]["status"] == 400


def names(logged: Sequence[dict[str, object]]) -> list[object]:
    return [each["event"] for each in logged]
