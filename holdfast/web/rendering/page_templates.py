"""Load the page's templates, and answer with one as a page under the content policy."""

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from holdfast.api.root_path import root_path_of
from holdfast.web.rendering import words
from holdfast.web.rendering.shown_text import shown_text

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
STATIC_FOLDER = Path(__file__).parent.parent / "static"
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Vary": "Accept-Encoding",
}
_COMPRESSED_FROM_BYTES = 4_000
_COMPRESSION = 4
"""Takes 3 ms for a page of 200 KB; the highest level saves a tenth more in five times as long."""
_HASH_CHARACTERS = 12
_OWN_ADDRESS = re.compile(
    r'\s(?:href|src|action|formaction|data-events|data-entries|data-files)="(?=/(?!/))'
)


def page(request: Request, template: str, *, code: int = 200, **values: object) -> HTMLResponse:
    """The page that the template makes of the values."""
    text = (
        _environment()
        .get_template(f"{template}.html.jinja")
        .render(path=request.url.path, **values)
    )
    content = _under_root(text, root_path_of(request)).encode()
    headers = _HEADERS
    # No secret of a browser stands in a page, so its compressed length tells nothing of one.
    if len(content) >= _COMPRESSED_FROM_BYTES and accepts_gzip(request):
        content = gzip.compress(content, _COMPRESSION, mtime=0)
        headers = {**_HEADERS, "Content-Encoding": "gzip"}
    return HTMLResponse(content, code, headers=headers)


def _under_root(text: str, root_path: str) -> str:
    """The page with the root path before each address of this server.

    Templates have paths without it, so none can forget it. A text of a model or a person cannot
    look like an attribute, because its quotation marks are escaped.
    """
    return _OWN_ADDRESS.sub(rf"\g<0>{root_path}", text) if root_path else text


def accepts_gzip(request: Request) -> bool:
    """True if the browser reads compressed pages, as every browser says in this way."""
    offered = request.headers.get("accept-encoding", "").split(",")
    return any(each.strip().lower() == "gzip" for each in offered)


@cache
def static_address(name: str) -> str:
    """The address of a file of the page, which changes with the file."""
    digest = hashlib.sha256((STATIC_FOLDER / name).read_bytes()).hexdigest()
    return f"/static/{name}?v={digest[:_HASH_CHARACTERS]}"


def _without_control_signs(value: object) -> object:
    """A text without signs that turn the direction of writing; markup is ours."""
    return shown_text(value) if type(value) is str else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_without_control_signs,
    )
    environment.globals.update(static=static_address)
    environment.filters.update(words.FILTERS)
    return environment
