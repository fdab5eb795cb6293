"""Decide which requests may reach the Temporal UI: those of its user's own pages and programs.

A web page can send requests to this computer, but cannot choose what the browser says about them:
the host that the page asked for, the page's origin, and whether the page is foreign.
"""

from holdfast.temporal_ui.message_head import MessageHead

MAX_BODY_BYTES = 10_000_000
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_OWN_SITES = frozenset({"same-origin", "none"})


def refusal(request: MessageHead, port: int) -> str:
    """Why the request may not pass; empty if it may. `port` is the port that it came to."""
    parts = request.first_line.split(" ")
    if len(parts) != 3 or parts[2] != "HTTP/1.1":
        return "not a request of HTTP/1.1"
    method, target, _ = parts
    if method not in _METHODS or not target.startswith("/"):
        return "not a request for a page of this server"
    if request.values("transfer-encoding") or body_size(request) is None:
        return "the size of the body is not given"
    own = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
    if len(request.values("host")) != 1 or request.values("host")[0].lower() not in own:
        return f"the Host is not 127.0.0.1:{port} or localhost:{port}"
    origins = {f"http://{host}" for host in request.values("host")}
    if any(origin not in origins for origin in request.values("origin")):
        return "the request comes from a foreign page"
    if _is_foreign(request) and not _is_link(request, method, target):
        return "the request comes from a foreign page"
    return ""


def body_size(request: MessageHead) -> int | None:
    """The size of the body in bytes; None if it is given twice, malformed or too large."""
    sizes = request.values("content-length")
    if not sizes:
        return 0
    if len(sizes) > 1 or not (sizes[0].isascii() and sizes[0].isdigit() and len(sizes[0]) < 12):
        return None
    return int(sizes[0]) if int(sizes[0]) <= MAX_BODY_BYTES else None


def _is_foreign(request: MessageHead) -> bool:
    """True if the browser says that another site, or another port of this one, asks."""
    return any(site not in _OWN_SITES for site in request.values("sec-fetch-site"))


def _is_link(request: MessageHead, method: str, target: str) -> bool:
    """True if the user followed a link of the foreign page to a page of the UI."""
    is_navigation = request.values("sec-fetch-mode") == ["navigate"]
    is_document = request.values("sec-fetch-dest") == ["document"]
    return method == "GET" and is_navigation and is_document and not target.startswith("/api")
