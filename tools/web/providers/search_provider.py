"""Define the interface of a search provider: from query to request, from answer to hits."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol
from urllib.parse import urlencode

from holdfast.models.frozen_model import Frozen

_TAGS = re.compile(r"<[^<>]{0,300}>")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?!\d)")


class SearchQuery(Frozen):
    """A search query."""

    words: str
    limit: int = 8
    site: str = ""
    """Only pages of this host and its subdomains; empty for all hosts."""
    newer_than: date | None = None
    today: date

    @property
    def words_with_site(self) -> str:
        """Return the words with a `site:` operator, for providers without a site parameter."""
        return f"{self.words} site:{self.site}" if self.site else self.words


class SearchHit(Frozen):
    """One result; `snippet` is the provider's text without markup."""

    address: str
    title: str = ""
    snippet: str = ""
    date: str = ""
    """YYYY-MM-DD; empty if the provider gives no date."""


@dataclass(frozen=True)
class ApiRequest:
    """A request to a provider; only `headers` may contain the key."""

    address: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""


class SearchProvider(Protocol):
    """One search service; its methods do not access the network."""

    @property
    def url(self) -> str:
        """The default address; if it is empty, the operator must configure one."""
        ...

    @property
    def needs_key(self) -> bool:
        """True if the service requires a key."""
        ...

    def request(self, url: str, key: str, query: SearchQuery, /) -> ApiRequest:
        """Return the request for the service at `url`, which has no trailing slash."""
        ...

    def hits(self, body: bytes) -> Iterable[SearchHit]:
        """Return the results in an answer, best first.

        Raises:
            ValueError: the answer has an unknown form; the message does not quote the answer.
        """
        ...


def url_with_query(url: str, parameters: Mapping[str, str | int]) -> str:
    """Return the address with these query parameters."""
    return f"{url}?{urlencode(parameters)}"


def json_post(url: str, headers: Mapping[str, str], value: Mapping[str, Any]) -> ApiRequest:
    """Return a POST request with a JSON body."""
    all_headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
    return ApiRequest(url, "POST", all_headers, json.dumps(value).encode())


def result_objects(body: bytes, *path: str) -> Iterator[dict[str, Any]]:
    """Yield the objects in the list at `path` of a JSON answer; none if the path is missing.

    Raises:
        ValueError: the answer is not a JSON object, or the value at `path` is not a list.
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
    yield from (item for item in value if isinstance(item, dict))


def text_field(fields: Mapping[str, Any], key: str) -> str:
    """Return the text at the key; empty if it is missing or not a text."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def strip_markup(marked: str) -> str:
    """Return the text without tags and entities, with single spaces."""
    return " ".join(html.unescape(_TAGS.sub("", marked)).split())


def parse_day(timestamp: str) -> str:
    """Return the day of a timestamp as YYYY-MM-DD; empty if there is none."""
    match = _DATE.match(timestamp)
    if not match:
        return ""
    try:
        return date.fromisoformat(match[1]).isoformat()
    except ValueError:
        return ""
