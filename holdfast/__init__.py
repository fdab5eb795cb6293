"""Public entry points: Python client, command line, HTTP API, settings, embedded services.

`from holdfast import Client, AsyncClient` loads the client alone, which speaks HTTP and needs
nothing of the engine. It is loaded at its first use, so that the engine does not load it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.python_client import AsyncClient as AsyncClient
    from holdfast.python_client import Client as Client

__all__ = ["AsyncClient", "Client"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from holdfast import python_client

        return getattr(python_client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
