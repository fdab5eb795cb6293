"""Know which methods each path of the API has."""

import re
from collections.abc import Iterable

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.routing import compile_path


def note_methods(app: FastAPI, prefix: str, routers: Iterable[APIRouter]) -> None:
    """Remember the methods of the routers' routes below the prefix."""
    app.state.methods = [
        (compile_path(f"{prefix}{route.path}")[0], frozenset(route.methods or ()))
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
    ]


def methods_at(app: FastAPI, path: str) -> set[str]:
    """The methods of the path; none if no route of the API has it."""
    known: list[tuple[re.Pattern[str], frozenset[str]]] = app.state.methods
    return {method for pattern, methods in known if pattern.match(path) for method in methods}
