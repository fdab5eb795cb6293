"""Define the route of the page's own files: the style sheet and the modules."""

from fastapi import APIRouter, Request, Response
from starlette.responses import FileResponse

from holdfast.models.errors import NotFound
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.page_templates import STATIC_FOLDER

_MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOR_EVER = "public, max-age=31536000, immutable"

router = APIRouter(route_class=PageRoute)


@router.get("/static/{name}")
async def show_static_file(request: Request, name: str) -> Response:
    """A file of the page; with the hash in its address it never changes."""
    names = {file.name for file in STATIC_FOLDER.iterdir() if file.suffix in _MEDIA_TYPES}
    if name not in names:
        raise NotFound(f"the page has no file {name[:100]!r}")
    file = STATIC_FOLDER / name
    cached = _FOR_EVER if "v" in request.query_params else "no-cache"
    headers = {"Cache-Control": cached, "X-Content-Type-Options": "nosniff"}
    return FileResponse(file, media_type=_MEDIA_TYPES[file.suffix], headers=headers)
