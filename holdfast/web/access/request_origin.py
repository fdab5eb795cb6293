"""Refuse changes that another site makes a signed-in browser send."""

from urllib.parse import urlsplit

from starlette.requests import Request

from holdfast.api.access.access_errors import AccessRefused

_READING = frozenset({"GET", "HEAD"})


def check_origin(request: Request) -> None:
    """Accept a change only from a page of this server.

    Browsers say where a request comes from in `Sec-Fetch-Site`, older ones in `Origin`.

    Raises:
        AccessRefused: another site, or no page at all, sends the request.
    """
    if request.method in _READING:
        return
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        is_own = site == "same-origin"
    else:
        origin = urlsplit(request.headers.get("origin", ""))
        is_own = bool(origin.netloc) and origin.netloc == request.headers.get("host")
    if not is_own:
        raise AccessRefused(
            "this change does not come from a page of this server; open the page and send it there"
        )
