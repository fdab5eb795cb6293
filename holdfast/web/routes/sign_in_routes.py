"""Define the routes that sign a browser in, with a printed address or a key, and out."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from starlette.responses import RedirectResponse

from holdfast.api.access.access_errors import KeyMissing
from holdfast.api.access.oidc_tokens import is_jwt
from holdfast.api.api_context import context_of
from holdfast.api.root_path import root_path_of
from holdfast.web.access.page_links import redeem_link_token
from holdfast.web.access.page_session import SignInNeeded, signed_in_caller
from holdfast.web.access.request_origin import check_origin
from holdfast.web.access.session_cookie import INSTALLATION, cookie_name, set_session
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.page_templates import page

_MAX_KEY = 4000

router = APIRouter(route_class=PageRoute)


@router.get("/open")
async def open_page(request: Request, token: str = "", to: str = "/") -> Response:
    """Sign the browser in with a printed address, once, and go to the page."""
    context = context_of(request)
    known = context.authentication.token
    if not redeem_link_token(context.holdfast.settings.home, known, token):
        try:
            await signed_in_caller(context, request)
        except SignInNeeded:
            raise SignInNeeded(
                "this address was used before or is older than an hour; `holdfast open` prints "
                "a new one"
            ) from None
        return RedirectResponse(_own_path(to), 303)
    return _signed_in(request, INSTALLATION, to)


@router.post("/sign-in")
async def sign_in(
    request: Request, key: Annotated[str, Form(max_length=_MAX_KEY)], to: Annotated[str, Form()]
) -> Response:
    """Sign the browser in with an API key."""
    check_origin(request)
    if is_jwt(given := key.strip()):
        message = "a browser signs in with an API key, not with a token of a sign-in provider"
        return page(request, "sign_in", code=401, message=message, next=_own_path(to))
    try:
        caller = await context_of(request).authentication.caller_of(given)
    except KeyMissing as error:
        return page(request, "sign_in", code=401, message=str(error), next=_own_path(to))
    return _signed_in(request, caller.key_id or INSTALLATION, to)


@router.post("/sign-out")
async def sign_out(request: Request) -> Response:
    """Forget the browser."""
    check_origin(request)
    response = RedirectResponse("/", 303)
    token = context_of(request).authentication.token
    for path in {_cookie_path(request), "/"}:
        response.delete_cookie(cookie_name(token), path=path)
    return response


def _signed_in(request: Request, subject: str, to: str) -> Response:
    response = RedirectResponse(_own_path(to), 303, headers={"Referrer-Policy": "no-referrer"})
    token = context_of(request).authentication.token
    is_encrypted = request.url.scheme == "https"
    path = _cookie_path(request)
    if path != "/":
        # Of the time before the root path: browsers would send it behind the new one.
        response.delete_cookie(cookie_name(token), path="/")
    set_session(response, token, subject, path=path, is_encrypted=is_encrypted)
    return response


def _cookie_path(request: Request) -> str:
    """Without the other services of a proxy's host; without a slash, which a link may lack."""
    return root_path_of(request) or "/"


def _own_path(to: str) -> str:
    """The path, if it is one of this server; else the first page."""
    is_own = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if is_own and "\\" not in to else "/"
