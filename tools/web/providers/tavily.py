"""Search with the API of Tavily."""

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


@dataclass(frozen=True)
class Tavily:
    """The search API of Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search."""

    url: str = "https://api.tavily.com"
    needs_key: bool = True

    def request(self, url: str, key: str, query: SearchQuery) -> ApiRequest:
        asked: dict[str, Any] = {"query": query.words, "max_results": min(query.limit, 20)}
        if query.site:
            asked["include_domains"] = [query.site]
        if query.newer_than:
            asked["start_date"] = str(query.newer_than)
        return json_post(f"{url}/search", {"Authorization": f"Bearer {key}"}, asked)

    def hits(self, body: bytes) -> Iterator[SearchHit]:
        for result in result_objects(body, "results"):
            yield SearchHit(
                address=text_field(result, "url"),
                title=text_field(result, "title"),
                snippet=text_field(result, "content"),
                date=parse_day(text_field(result, "published_date")),
            )
