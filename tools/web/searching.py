"""Asks the search providers in the operator's order, and the next where one does not answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pydantic import SecretStr

from models.errors import BadConfiguration, ToolBusy, ToolFailed
from tools.web.addresses import Allowed, target_of
from tools.web.exchange import Headers, Request
from tools.web.providers.base import Hit, Provider, Query
from tools.web.providers.known import PROVIDERS
from tools.web.settings import ProviderTable
from tools.web.visiting import Visitor

_LONGEST_SNIPPET = 2_000
_LONGEST_TITLE = 500
_REST_S = 30.0
"""How long a provider is left alone whose answer is not one."""
_REFUSES_KEY = frozenset({401, 402, 403})


@dataclass(frozen=True)
class Asked:
    """A provider as this installation has it."""

    name: str
    provider: Provider
    url: str
    key_env: str = ""
    key: SecretStr = field(default_factory=lambda: SecretStr(""))

    @property
    def lacks_key(self) -> bool:
        """Whether it is of no use, because its key is not in the environment."""
        return bool(self.key_env or self.provider.needs_key) and not self.key.get_secret_value()


def asked_providers(
    tables: Mapping[str, ProviderTable], environment: Mapping[str, str]
) -> tuple[Asked, ...]:
    """The providers of `[web.providers]` in their order, with their keys.

    Raises:
        BadConfiguration: names the provider, and says what to write.
    """
    return tuple(_asked(name, table, environment) for name, table in tables.items())


def _asked(name: str, table: ProviderTable, environment: Mapping[str, str]) -> Asked:
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
    return Asked(name, provider, url, table.key_env or "", SecretStr(key))


@dataclass(frozen=True)
class Search:
    """Web search over all providers; `visitor` may reach what the operator named as theirs."""

    providers: Sequence[Asked]
    visitor: Visitor

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys, for whoever sees to it that they are shown nowhere."""
        keys = (each.key.get_secret_value() for each in self.providers)
        return tuple(key for key in keys if key)

    async def find(self, query: Query) -> tuple[str, tuple[Hit, ...]]:
        """Who answered, and the hits, best first; none where nobody has any.

        Raises:
            ToolBusy: no provider answered, and that of one of them passes.
            ToolFailed: no provider answered; says of each why.
        """
        troubles: list[ToolBusy | ToolFailed] = []
        answered = ""
        for asked in self.providers:
            try:
                hits = tuple(islice(_fitting(await self._hits(asked, query), query), query.limit))
            except (ToolBusy, ToolFailed) as error:
                troubles.append(error)
                continue
            answered = asked.name
            if hits:
                return answered, hits
        if answered:
            return answered, ()
        raise _no_answer(troubles)

    async def _hits(self, asked: Asked, query: Query) -> Sequence[Hit]:
        if asked.lacks_key:
            variable = asked.key_env or "its key"
            raise ToolFailed(f"{asked.name}: {variable} is not set in the worker's environment")
        request = asked.provider.request(asked.url, asked.key.get_secret_value(), query)
        allowed = self.visitor.wire.allowed
        try:
            reply = await self.visitor.visit(
                Request(
                    target_of(request.address, allowed),
                    request.method,
                    _checked(request.headers),
                    request.content,
                )
            )
        except ToolBusy as error:
            raise ToolBusy(f"{asked.name}: {error}") from error
        except ToolFailed as error:
            raise ToolFailed(f"{asked.name}: {error}") from error
        if reply.status != 200:
            # What it says is not passed on: it may quote the key.
            what = "does not take the key" if reply.status in _REFUSES_KEY else "cannot answer"
            raise ToolFailed(f"{asked.name}: {what} ({reply.status})")
        try:
            return tuple(asked.provider.hits(reply.body))
        except ValueError as error:
            host = target_of(request.address, allowed).host_and_port
            raise self.visitor.hosts.struck(host, f"{asked.name}: {error}", _REST_S) from error


def provider_hosts(providers: Iterable[Asked]) -> Allowed:
    """What search may reach beside the public web: the places that the operator wrote down."""
    hosts = tuple(each.url.partition("://")[2].partition("/")[0] for each in providers)
    return Allowed.of(hosts)


def _checked(headers: Headers) -> Headers:
    return {name: value for name, value in headers.items() if value}


def _fitting(hits: Iterable[Hit], query: Query) -> Iterator[Hit]:
    """Hits with an address, each address once, and none that says it is too old."""
    seen: set[str] = set()
    for hit in hits:
        is_old = bool(query.newer_than and hit.date and hit.date < str(query.newer_than))
        if is_old or hit.address in seen or not _is_web(hit.address):
            continue
        seen.add(hit.address)
        yield hit.model_copy(
            update={
                "title": hit.title[:_LONGEST_TITLE],
                "snippet": hit.snippet[:_LONGEST_SNIPPET],
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
