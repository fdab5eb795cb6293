"""The search API of Tavily."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.web.providers.base import ApiRequest, Hit, Query, day_in, posted, results_in, text_in


@dataclass(frozen=True)
class Tavily:
    """https://docs.tavily.com/documentation/api-reference/endpoint/search."""

    url: str = "https://api.tavily.com"
    needs_key: bool = True

    def request(self, url: str, key: str, query: Query) -> ApiRequest:
        asked: dict[str, Any] = {"query": query.words, "max_results": min(query.limit, 20)}
        if query.site:
            asked["include_domains"] = [query.site]
        if query.newer_than:
            asked["start_date"] = str(query.newer_than)
        return posted(f"{url}/search", {"Authorization": f"Bearer {key}"}, asked)

    def hits(self, body: bytes) -> Iterator[Hit]:
        for found in results_in(body, "results"):
            yield Hit(
                address=text_in(found, "url"),
                title=text_in(found, "title"),
                snippet=text_in(found, "content"),
                date=day_in(text_in(found, "published_date")),
            )
