"""Search with the API of Exa."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.tools.web.providers.search_provider import (
    ApiRequest,
    SearchHit,
    SearchQuery,
    json_post,
    parse_day,
    result_objects,
    text_field,
)

_SNIPPET_CHARS = 600


@dataclass(frozen=True)
class Exa:
    """https://docs.exa.ai/reference/search."""

    url: str = "https://api.exa.ai"
    needs_key: bool = True

    def request(self, url: str, key: str, query: SearchQuery) -> ApiRequest:
        asked: dict[str, Any] = {
            "query": query.words,
            "numResults": query.limit,
            "contents": {"highlights": True, "text": {"maxCharacters": _SNIPPET_CHARS}},
        }
        if query.site:
            asked["includeDomains"] = [query.site]
        if query.newer_than:
            asked["startPublishedDate"] = f"{query.newer_than}T00:00:00.000Z"
        return json_post(f"{url}/search", {"x-api-key": key}, asked)

    def hits(self, body: bytes) -> Iterator[SearchHit]:
        for result in result_objects(body, "results"):
            yield SearchHit(
                address=text_field(result, "url"),
                title=text_field(result, "title"),
                snippet=_snippet(result),
                date=parse_day(text_field(result, "publishedDate")),
            )


def _snippet(result: dict[str, Any]) -> str:
    """Return the first highlight, a quote of the page; joined highlights would not be a quote."""
    marked = result.get("highlights")
    parts = [part for part in marked if isinstance(part, str)] if isinstance(marked, list) else []
    return parts[0] if parts else text_field(result, "text")[:_SNIPPET_CHARS]
