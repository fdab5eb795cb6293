"""Puts together what the servers `web` and `wikipedia` need, from their tables."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from tools.web.addresses import Allowed
from tools.web.dialing import Resolve, system_resolve
from tools.web.exchange import Wire
from tools.web.fetching import Fetcher
from tools.web.hosts import Hosts
from tools.web.pages import Pages
from tools.web.readers import Readers
from tools.web.robots import Robots
from tools.web.searching import Search, asked_providers, provider_hosts
from tools.web.settings import WebTable, WikipediaTable, user_agent
from tools.web.visiting import Visitor
from tools.web.wiki import Wiki

_SEARCH_BYTES = 2 * 2**20
_SEARCH_DELAY_S = 0.2
_WIKI_DELAY_S = 0.1


@dataclass(frozen=True)
class OpenWeb:
    """What the server `web` works with."""

    fetcher: Fetcher
    search: Search | None


@asynccontextmanager
async def opened_web(
    table: WebTable,
    environment: Mapping[str, str],
    *,
    resolve: Resolve = system_resolve,
    trust: ssl.SSLContext | None = None,
) -> AsyncIterator[OpenWeb]:
    """As the operator's table has it; connections and processes are closed on leaving.

    Raises:
        BadConfiguration: a provider is not known, or lacks what it needs.
    """
    agent = user_agent(table.contact)
    providers = asked_providers(table.providers, environment)
    async with AsyncExitStack() as stack:
        readers = await stack.enter_async_context(Readers())
        wire = Wire(
            Allowed.of(table.allow_hosts, table.ports),
            agent,
            timeout_s=table.timeout_s,
            max_bytes=int(table.max_mb * 2**20),
            resolve=resolve,
            trust=trust,
        )
        visitor = Visitor(await stack.enter_async_context(wire), Hosts(table.delay_s))
        fetcher = Fetcher(
            visitor,
            readers,
            Pages(table.cache_minutes * 60),
            None if table.robots == "ignore" else Robots(visitor),
        )
        # Another wire: what the operator wrote as a provider's place is not let be fetched.
        asking = Wire(
            provider_hosts(providers),
            agent,
            timeout_s=table.timeout_s,
            max_bytes=_SEARCH_BYTES,
            resolve=resolve,
            trust=trust,
        )
        asker = Visitor(await stack.enter_async_context(asking), Hosts(_SEARCH_DELAY_S))
        yield OpenWeb(fetcher, Search(providers, asker) if providers else None)


@asynccontextmanager
async def opened_wiki(table: WikipediaTable) -> AsyncIterator[Wiki]:
    """The wiki that the operator's table names."""
    place = table.api.partition("://")[2].partition("/")[0]
    wire = Wire(Allowed.of((place,)), user_agent(table.contact), timeout_s=table.timeout_s)
    async with wire, Readers() as readers:
        yield Wiki(table.api, Visitor(wire, Hosts(_WIKI_DELAY_S)), readers)
