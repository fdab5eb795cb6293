"""Ask the configured search providers in order until one answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pydantic import SecretStr

from holdfast.models.errors import BadConfiguration, ToolBusy, ToolFailed
from holdfast.tools.web.http_client.address_rules import AllowedHosts, parse_target
from holdfast.tools.web.http_client.host_limited_client import PoliteClient
from holdfast.tools.web.http_client.host_patterns import HostPatterns
from holdfast.tools.web.http_client.http_exchange import Headers, HttpRequest
from holdfast.tools.web.providers.provider_registry import PROVIDERS
from holdfast.tools.web.providers.search_provider import SearchHit, SearchProvider, SearchQuery
from holdfast.tools.web.web_settings import ProviderSettings

_MAX_SNIPPET_CHARS = 2_000
_MAX_TITLE_CHARS = 500
_REST_S = 30.0
"""Seconds of pause for a provider that sent an unreadable answer."""
_REFUSES_KEY = frozenset({401, 402, 403})


@dataclass(frozen=True)
class ConfiguredProvider:
    """A provider as configured in this installation."""

    name: str
    provider: SearchProvider
    url: str
    key_env: str = ""
    key: SecretStr = field(default_factory=lambda: SecretStr(""))

    @property
    def lacks_key(self) -> bool:
        """True if the provider is unusable because its key is not in the environment."""
        return bool(self.key_env or self.provider.needs_key) and not self.key.get_secret_value()


def configure_providers(
    tables: Mapping[str, ProviderSettings], environment: Mapping[str, str]
) -> tuple[ConfiguredProvider, ...]:
    """Return the providers of `[web.providers]` in their order, with their keys.

    Raises:
        BadConfiguration: a provider is wrong; names it, and says what to write.
    """
    return tuple(_configure_provider(name, table, environment) for name, table in tables.items())


def _configure_provider(
    name: str, table: ProviderSettings, environment: Mapping[str, str]
) -> ConfiguredProvider:
    provider = PROVIDERS.get(name)
    if provider is None:
        known = ", ".join(sorted(PROVIDERS))
        raise BadConfiguration(f"web.providers.{name} is not a known provider; known: {known}")
    url = (table.url or provider.url).rstrip("/")
    if not url:
        raise BadConfiguration(
            f'web.providers.{name} needs its address; write url = "http://localhost:8888"'
        )
    if provider.needs_key and not table.key_env:
        raise BadConfiguration(
            f"web.providers.{name} needs a key; write key_env with the name of the environment "
            f'variable that holds it, such as key_env = "{name.upper()}_API_KEY"'
        )
    key = environment.get(table.key_env or "", "").strip()
    if not key.isascii() or not key.isprintable():
        raise BadConfiguration(f"the key in {table.key_env} has characters that no key has")
    return ConfiguredProvider(name, provider, url, table.key_env or "", SecretStr(key))


@dataclass(frozen=True)
class WebSearch:
    """Web search over all providers; `polite_client` may reach the providers' hosts."""

    providers: Sequence[ConfiguredProvider]
    polite_client: PoliteClient

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the keys, so that the caller can mask them."""
        keys = (provider.key.get_secret_value() for provider in self.providers)
        return tuple(key for key in keys if key)

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts of the providers."""
        return frozenset(map(_host, self.providers))

    async def find(self, query: SearchQuery) -> tuple[str, tuple[SearchHit, ...]]:
        """Return the name of the provider that answered, and its hits, best first.

        Raises:
            ToolBusy: no provider answered, and one of their errors is temporary.
            ToolFailed: no provider answered; the message gives the reason of each.
        """
        troubles: list[ToolBusy | ToolFailed] = []
        answered = ""
        for asked in self.providers:
            try:
                hits = tuple(
                    islice(_usable_hits(await self._hits(asked, query), query), query.limit)
                )
            except (ToolBusy, ToolFailed) as error:
                troubles.append(error)
                continue
            answered = asked.name
            if hits:
                return answered, hits
        if answered:
            return answered, ()
        raise _no_answer(troubles)

    async def _hits(self, asked: ConfiguredProvider, query: SearchQuery) -> Sequence[SearchHit]:
        if asked.lacks_key:
            variable = asked.key_env or "its key"
            raise ToolFailed(f"{asked.name}: {variable} is not set in the worker's environment")
        request = asked.provider.request(asked.url, asked.key.get_secret_value(), query)
        allowed = self.polite_client.http_client.allowed
        try:
            reply = await self.polite_client.visit(
                HttpRequest(
                    parse_target(request.address, allowed),
                    request.method,
                    _nonempty_headers(request.headers),
                    request.content,
                )
            )
        except ToolBusy as error:
            raise ToolBusy(f"{asked.name}: {error}") from error
        except ToolFailed as error:
            raise ToolFailed(f"{asked.name}: {error}") from error
        if reply.status != 200:
            # The error's text is not passed on: it may contain the key.
            what = "does not take the key" if reply.status in _REFUSES_KEY else "cannot answer"
            raise ToolFailed(f"{asked.name}: {what} ({reply.status})")
        try:
            return tuple(asked.provider.hits(reply.body))
        except ValueError as error:
            host = parse_target(request.address, allowed).host_and_port
            raise self.polite_client.hosts.record_failure(
                host, f"{asked.name}: {error}", _REST_S
            ) from error


def provider_hosts(
    providers: Iterable[ConfiguredProvider], only: HostPatterns | None = None
) -> AllowedHosts:
    """Return the providers' configured hosts, which search may reach besides the public web."""
    return AllowedHosts.of(tuple(map(_host, providers)), only=only)


def reachable_providers(
    providers: Iterable[ConfiguredProvider], only: HostPatterns
) -> tuple[ConfiguredProvider, ...]:
    """Return the providers whose hosts a private job may reach."""
    allowed = provider_hosts(providers, only)
    return tuple(each for each in providers if _is_reachable(each, allowed))


def _is_reachable(provider: ConfiguredProvider, allowed: AllowedHosts) -> bool:
    try:
        parse_target(provider.url, allowed)
    except ToolFailed:
        return False
    return True


def _host(provider: ConfiguredProvider) -> str:
    return provider.url.partition("://")[2].partition("/")[0]


def _nonempty_headers(headers: Headers) -> Headers:
    return {name: value for name, value in headers.items() if value}


def _usable_hits(hits: Iterable[SearchHit], query: SearchQuery) -> Iterator[SearchHit]:
    """Return hits with distinct addresses, without hits whose date is too old."""
    seen: set[str] = set()
    for hit in hits:
        is_old = bool(query.newer_than and hit.date and hit.date < str(query.newer_than))
        if is_old or hit.address in seen or not _is_web(hit.address):
            continue
        seen.add(hit.address)
        yield hit.model_copy(
            update={
                "title": hit.title[:_MAX_TITLE_CHARS],
                "snippet": hit.snippet[:_MAX_SNIPPET_CHARS],
            }
        )


def _is_web(address: str) -> bool:
    return address.startswith(("http://", "https://")) and len(address) < 1_000


def _no_answer(troubles: Sequence[ToolBusy | ToolFailed]) -> ToolBusy | ToolFailed:
    said = "; ".join(map(str, troubles)) or "no provider is set up"
    message = f"the web cannot be searched: {said}"
    if any(isinstance(each, ToolBusy) for each in troubles):
        return ToolBusy(message)
    return ToolFailed(message)
