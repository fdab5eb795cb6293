"""The search API of Exa."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.web.providers.base import ApiRequest, Hit, Query, day_in, posted, results_in, text_in

_SNIPPET_CHARS = 600


@dataclass(frozen=True)
class Exa:
    """https://docs.exa.ai/reference/search."""

    url: str = "https://api.exa.ai"
    needs_key: bool = True

    def request(self, url: str, key: str, query: Query) -> ApiRequest:
        asked: dict[str, Any] = {
            "query": query.words,
            "numResults": query.limit,
            "contents": {"highlights": True, "text": {"maxCharacters": _SNIPPET_CHARS}},
        }
        if query.site:
            asked["includeDomains"] = [query.site]
        if query.newer_than:
            asked["startPublishedDate"] = f"{query.newer_than}T00:00:00.000Z"
        return posted(f"{url}/search", {"x-api-key": key}, asked)

    def hits(self, body: bytes) -> Iterator[Hit]:
        for found in results_in(body, "results"):
            yield Hit(
                address=text_in(found, "url"),
                title=text_in(found, "title"),
                snippet=_snippet(found),
                date=day_in(text_in(found, "publishedDate")),
            )


def _snippet(found: dict[str, Any]) -> str:
    """The first highlight: it is copied from the page, and two that are joined stand nowhere."""
    marked = found.get("highlights")
    parts = [each for each in marked if isinstance(each, str)] if isinstance(marked, list) else []
    return parts[0] if parts else text_in(found, "text")[:_SNIPPET_CHARS]
