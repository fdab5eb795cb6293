"""Open the HTTP clients, caches and processes that the servers `web` and `wikipedia` need."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from holdfast.tools.web.http_client.address_rules import AllowedHosts
from holdfast.tools.web.http_client.guarded_backend import ResolveHost, system_resolve
from holdfast.tools.web.http_client.host_limited_client import PoliteClient
from holdfast.tools.web.http_client.host_limits import HostLimits
from holdfast.tools.web.http_client.http_exchange import HttpClient
from holdfast.tools.web.http_client.robots_rules import RobotsRules
from holdfast.tools.web.page_cache import PageCache
from holdfast.tools.web.page_fetcher import PageFetcher
from holdfast.tools.web.reader_pool import ReaderPool
from holdfast.tools.web.web_search import WebSearch, configure_providers, provider_hosts
from holdfast.tools.web.web_settings import WebSettings, WikipediaSettings, user_agent
from holdfast.tools.wikipedia.mediawiki_client import MediaWikiClient

_SEARCH_BYTES = 2 * 2**20
_SEARCH_DELAY_S = 0.2
_WIKI_DELAY_S = 0.1


@dataclass(frozen=True)
class WebResources:
    """The page fetcher and the search of the server `web`."""

    fetcher: PageFetcher
    search: WebSearch | None


@asynccontextmanager
async def open_web_resources(
    table: WebSettings,
    environment: Mapping[str, str],
    *,
    resolve: ResolveHost = system_resolve,
    trust: ssl.SSLContext | None = None,
) -> AsyncIterator[WebResources]:
    """Open what the table `[web]` configures; leaving closes connections and processes.

    Raises:
        BadConfiguration: a provider is unknown, or its key or address is missing.
    """
    agent = user_agent(table.contact)
    providers = configure_providers(table.providers, environment)
    async with AsyncExitStack() as stack:
        readers = await stack.enter_async_context(ReaderPool())
        wire = HttpClient(
            AllowedHosts.of(table.allow_hosts, table.ports),
            agent,
            timeout_s=table.timeout_s,
            max_bytes=int(table.max_mb * 2**20),
            resolve=resolve,
            trust=trust,
        )
        visitor = PoliteClient(await stack.enter_async_context(wire), HostLimits(table.delay_s))
        fetcher = PageFetcher(
            visitor,
            readers,
            PageCache(table.cache_minutes * 60),
            None if table.robots == "ignore" else RobotsRules(visitor),
        )
        # A client of its own: pages on the providers' hosts must not become fetchable.
        asking = HttpClient(
            provider_hosts(providers),
            agent,
            timeout_s=table.timeout_s,
            max_bytes=_SEARCH_BYTES,
            resolve=resolve,
            trust=trust,
        )
        asker = PoliteClient(await stack.enter_async_context(asking), HostLimits(_SEARCH_DELAY_S))
        yield WebResources(fetcher, WebSearch(providers, asker) if providers else None)


@asynccontextmanager
async def open_wikipedia_client(table: WikipediaSettings) -> AsyncIterator[MediaWikiClient]:
    """Open a client of the wiki that the table `[wikipedia]` configures."""
    place = table.api.partition("://")[2].partition("/")[0]
    wire = HttpClient(
        AllowedHosts.of((place,)), user_agent(table.contact), timeout_s=table.timeout_s
    )
    async with wire, ReaderPool() as readers:
        yield MediaWikiClient(table.api, PoliteClient(wire, HostLimits(_WIKI_DELAY_S)), readers)
