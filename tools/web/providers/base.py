"""What a search provider is: how a query becomes a request, and an answer becomes hits."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol
from urllib.parse import urlencode

from models.base import Frozen

_TAGS = re.compile(r"<[^<>]{0,300}>")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?!\d)")


class Query(Frozen):
    """What is looked for."""

    words: str
    limit: int = 8
    site: str = ""
    """Only pages of this host and what lies below it; empty for all."""
    newer_than: date | None = None
    today: date

    @property
    def words_with_site(self) -> str:
        """For providers that know sites as an operator alone."""
        return f"{self.words} site:{self.site}" if self.site else self.words


class Hit(Frozen):
    """One result; `snippet` is as the provider gave it, without markup."""

    address: str
    title: str = ""
    snippet: str = ""
    date: str = ""
    """As YYYY-MM-DD where the provider knows it."""


@dataclass(frozen=True)
class ApiRequest:
    """A request to a provider; the key goes into `headers` and nowhere else."""

    address: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""


class Provider(Protocol):
    """One search service. Pure: neither of its methods touches the network."""

    @property
    def url(self) -> str:
        """Where it is asked if the operator names no other place; empty: the operator must."""
        ...

    @property
    def needs_key(self) -> bool:
        """Whether it answers only those who have a key."""
        ...

    def request(self, url: str, key: str, query: Query, /) -> ApiRequest:
        """What to send to the service at `url`, which has no slash at its end."""
        ...

    def hits(self, body: bytes) -> Iterable[Hit]:
        """The results in an answer, best first.

        Raises:
            ValueError: this is not what the service answers; says how, without quoting it.
        """
        ...


def with_query(url: str, parameters: Mapping[str, str | int]) -> str:
    """The address with these parameters behind it."""
    return f"{url}?{urlencode(parameters)}"


def posted(url: str, headers: Mapping[str, str], value: Mapping[str, Any]) -> ApiRequest:
    """A request that carries JSON."""
    said = {"Content-Type": "application/json", "Accept": "application/json", **headers}
    return ApiRequest(url, "POST", said, json.dumps(value).encode())


def results_in(body: bytes, *path: str) -> Iterator[dict[str, Any]]:
    """The objects in the list at `path` of a JSON answer; none where the path ends early.

    Raises:
        ValueError: it is no JSON object, or there is something else in the list's place.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError("its answer is not JSON") from error
    for key in path:
        if not isinstance(value, dict):
            raise ValueError("its answer is not an object")  # noqa: TRY004 - a broken answer
        value = value.get(key)
        if value is None:
            return
    if not isinstance(value, list):
        raise ValueError("its answer has no list of results")  # noqa: TRY004 - the same
    yield from (each for each in value if isinstance(each, dict))


def text_in(found: Mapping[str, Any], key: str) -> str:
    """The text at the key; empty where it is missing or something else."""
    value = found.get(key)
    return value if isinstance(value, str) else ""


def plain(marked: str) -> str:
    """A text without tags and entities, its blanks made single."""
    return " ".join(html.unescape(_TAGS.sub("", marked)).split())


def day_in(said: str) -> str:
    """The day in a timestamp, as YYYY-MM-DD; empty if there is none."""
    found = _DATE.match(said)
    if not found:
        return ""
    try:
        return date.fromisoformat(found[1]).isoformat()
    except ValueError:
        return ""
