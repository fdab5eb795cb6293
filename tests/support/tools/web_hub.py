"""The server `web` behind a real hub, for web sites of the test's own."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from holdfast.tools.network_setup import open_web_resources
from holdfast.tools.web.http_client.guarded_backend import ResolveHost, system_resolve
from holdfast.tools.web.web_server import WEB_CONCURRENCY, web_server
from holdfast.tools.web.web_settings import WebSettings
from tests.support.tools.hostile_web import ScriptedSite

TODAY = date(2026, 11, 21)


@dataclass(frozen=True)
class WebHub:
    """A hub with the server `web`."""

    hub: Hub

    async def fetch(self, url: str, *, fresh: bool = False, **arguments: Any) -> ToolAnswer:
        facts = {"fresh": "yes"} if fresh else {}
        return await self.call("web.fetch", facts, url=url, **arguments)

    async def search(self, query: str, **arguments: Any) -> ToolAnswer:
        return await self.call("web.search", {}, query=query, **arguments)

    async def call(self, tool: str, facts: Mapping[str, str], **arguments: Any) -> ToolAnswer:
        return await self.hub.call(tool, arguments, timeout=timedelta(seconds=60), facts=facts)


@asynccontextmanager
async def open_web_hub(
    *sites: ScriptedSite,
    environment: Mapping[str, str] | None = None,
    resolve: ResolveHost = system_resolve,
    trust: Any = None,
    **table: Any,
) -> AsyncIterator[WebHub]:
    """`sites` are what the operator allows; `table` is the rest of `[web]`."""
    hosts = (*table.pop("allow_hosts", ()), *(site.host for site in sites))
    asked = WebSettings.model_validate({"allow_hosts": hosts, "delay_s": 0, **table})
    async with open_web_resources(asked, environment or {}, resolve=resolve, trust=trust) as both:
        parts, _ = both
        server = web_server(parts.fetcher, parts.search, lambda: TODAY)
        builtin = {"web": BuiltinServer(server, {"fresh": "fresh"}, concurrency=WEB_CONCURRENCY)}
        async with Hub({}, builtin) as hub:
            yield WebHub(hub)


def scripted_resolver(**names: Sequence[str]) -> ResolveHost:
    """A resolver that knows these names alone; each look-up takes the next of several answers."""
    left = {name.replace("_", "."): list(answers) for name, answers in names.items()}

    async def resolve(host: str, port: int) -> Sequence[str]:
        answers = left[host]
        return (answers.pop(0) if len(answers) > 1 else answers[0]).split()

    return resolve
