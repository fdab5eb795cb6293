"""Open the HTTP clients, caches and processes that the servers `web` and `wikipedia` need."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from holdfast.tools.sandbox.process_slots import ProcessSlots
from holdfast.tools.web.http_client.address_rules import AllowedHosts
from holdfast.tools.web.http_client.guarded_backend import ResolveHost, system_resolve
from holdfast.tools.web.http_client.host_limited_client import PoliteClient
from holdfast.tools.web.http_client.host_limits import HostLimits
from holdfast.tools.web.http_client.host_patterns import HostPatterns
from holdfast.tools.web.http_client.http_exchange import HttpClient
from holdfast.tools.web.http_client.robots_rules import RobotsRules
from holdfast.tools.web.page_cache import PageCache
from holdfast.tools.web.page_fetcher import PageFetcher
from holdfast.tools.web.reader_pool import ReaderPool
from holdfast.tools.web.web_search import (
    ConfiguredProvider,
    WebSearch,
    configure_providers,
    provider_hosts,
    reachable_providers,
)
from holdfast.tools.web.web_settings import WebSettings, WikipediaSettings, user_agent
from holdfast.tools.wikipedia.mediawiki_client import MediaWikiClient

_SEARCH_BYTES = 2 * 2**20
_SEARCH_DELAY_S = 0.2
_WIKI_DELAY_S = 0.1
_NO_HOSTS = HostPatterns()


@dataclass(frozen=True)
class WebResources:
    """The page fetcher and the search of the server `web`."""

    fetcher: PageFetcher
    search: WebSearch | None


@dataclass(frozen=True)
class _Opening:
    """What the server `web` and its variant for private jobs share."""

    table: WebSettings
    providers: tuple[ConfiguredProvider, ...]
    readers: ReaderPool
    page_limits: HostLimits
    search_limits: HostLimits
    resolve: ResolveHost
    trust: ssl.SSLContext | None

    async def open(self, stack: AsyncExitStack, only: HostPatterns | None) -> WebResources:
        """Open clients and caches; with `only` they reach no other hosts than these."""
        table = self.table
        allowed = AllowedHosts.of(table.allow_hosts, table.ports, only)
        client = await self._client(stack, allowed, int(table.max_mb * 2**20))
        visitor = PoliteClient(client, self.page_limits)
        fetcher = PageFetcher(
            visitor,
            self.readers,
            PageCache(table.cache_minutes * 60),
            None if table.robots == "ignore" else RobotsRules(visitor),
        )
        return WebResources(fetcher, await self._search(stack, only))

    async def _search(self, stack: AsyncExitStack, only: HostPatterns | None) -> WebSearch | None:
        providers = self.providers if only is None else reachable_providers(self.providers, only)
        if not providers:
            return None
        # A client of its own: pages on the providers' hosts must not become fetchable.
        client = await self._client(stack, provider_hosts(providers, only), _SEARCH_BYTES)
        return WebSearch(providers, PoliteClient(client, self.search_limits))

    async def _client(
        self, stack: AsyncExitStack, allowed: AllowedHosts, max_bytes: int
    ) -> HttpClient:
        client = HttpClient(
            allowed,
            user_agent(self.table.contact),
            timeout_s=self.table.timeout_s,
            max_bytes=max_bytes,
            resolve=self.resolve,
            trust=self.trust,
        )
        return await stack.enter_async_context(client)


@asynccontextmanager
async def open_web_resources(
    table: WebSettings,
    environment: Mapping[str, str],
    *,
    private_hosts: HostPatterns = _NO_HOSTS,
    slots: ProcessSlots | None = None,
    resolve: ResolveHost = system_resolve,
    trust: ssl.SSLContext | None = None,
) -> AsyncIterator[tuple[WebResources, WebResources]]:
    """Open what the table `[web]` configures, for all jobs, and for private jobs.

    Leaving closes connections and processes.

    Raises:
        BadConfiguration: a provider is unknown, or its key or address is missing.
    """
    providers = configure_providers(table.providers, environment)
    async with AsyncExitStack() as stack:
        opening = _Opening(
            table,
            providers,
            await stack.enter_async_context(ReaderPool(slots=slots)),
            HostLimits(table.delay_s),
            HostLimits(_SEARCH_DELAY_S),
            resolve,
            trust,
        )
        yield await opening.open(stack, None), await opening.open(stack, private_hosts)


@asynccontextmanager
async def open_wikipedia_client(
    table: WikipediaSettings, slots: ProcessSlots | None = None
) -> AsyncIterator[MediaWikiClient]:
    """Open a client of the wiki that the table `[wikipedia]` configures."""
    place = table.api.partition("://")[2].partition("/")[0]
    wire = HttpClient(
        AllowedHosts.of((place,)), user_agent(table.contact), timeout_s=table.timeout_s
    )
    async with wire, ReaderPool(slots=slots) as readers:
        yield MediaWikiClient(table.api, PoliteClient(wire, HostLimits(_WIKI_DELAY_S)), readers)
