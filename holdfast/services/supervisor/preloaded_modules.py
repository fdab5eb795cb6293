"""Load in the supervisor what every worker loads, so that a forked worker has it from the start.

Libraries load parts of themselves at their first use, and Holdfast loads a tool server when it is
opened. A forked worker shares what its supervisor has loaded: it needs 0.1 s less processor time
until its first calls, and the memory is there once.
"""

from importlib import import_module

from holdfast.configuration.known_models import known_models
from holdfast.roles.endpoints.bounded_replies import bounded_http_client
from holdfast.settings import Settings
from holdfast.tools.mcp.server_config import HttpServer, read_servers
from holdfast.tools.mcp.transports.isolating_http_client import IsolatingHttpClient
from holdfast.tools.optional_parts import OptionalPart, is_installed

_LIBRARIES = (
    "anyio._backends._asyncio",
    "anyio._core._sockets",
    "anyio.streams.stapled",
    "concurrent.futures.thread",
    "importlib.readers",
    "jsonschema",  # by the MCP client, at the first answer of a tool
    "rapidfuzz",
    "rich.logging",
    "temporalio.contrib.pydantic",
    "temporalio.envconfig",
)
_PARTS = {
    OptionalPart.CHARTS: ("holdfast.tools.charts.charts_server",),
    OptionalPart.PYTHON: (
        "holdfast.tools.python.monty_interpreter",
        "holdfast.tools.python.python_server",
    ),
    OptionalPart.SEMANTIC: ("holdfast.roles.sentence_model.local_embedder",),
}
"""What is on without a line in `holdfast.toml`: servers, and the model of sentences."""


def preload_modules(settings: Settings) -> None:
    """Load the default tool servers, parts of libraries, and the HTTP clients that are in use.

    No connection is opened and no thread is started: a process with threads cannot be forked.

    Raises:
        BadConfiguration: a model or a server in `holdfast.toml` is wrong.
    """
    of_parts = (name for part, names in _PARTS.items() if is_installed(part) for name in names)
    for name in (*_LIBRARIES, *of_parts):
        import_module(name)
    # Making a client loads its libraries and the certificates, which all clients share.
    if settings.has_model_endpoint or known_models(settings).configured:
        bounded_http_client()
    servers = read_servers(settings.config_file) if settings.config_file else {}
    if any(isinstance(server, HttpServer) for server in servers.values()):
        IsolatingHttpClient()
