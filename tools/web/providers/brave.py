"""Search with the API of Brave."""

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.tools.web.providers.search_provider import (
    ApiRequest,
    SearchHit,
    SearchQuery,
    parse_day,
    result_objects,
    strip_markup,
    text_field,
    url_with_query,
)


@dataclass(frozen=True)
class Brave:
    """https://api-dashboard.search.brave.com/app/documentation/web-search/get-started."""

    url: str = "https://api.search.brave.com/res/v1"
    needs_key: bool = True

    def request(self, url: str, key: str, query: SearchQuery) -> ApiRequest:
        parameters: dict[str, str | int] = {
            "q": query.words_with_site,
            "count": min(query.limit, 20),
            "text_decorations": "false",
        }
        if query.newer_than:
            parameters["freshness"] = f"{query.newer_than}to{query.today}"
        headers = {"Accept": "application/json", "X-Subscription-Token": key}
        return ApiRequest(url_with_query(f"{url}/web/search", parameters), headers=headers)

    def hits(self, body: bytes) -> Iterator[SearchHit]:
        for result in result_objects(body, "web", "results"):
            yield SearchHit(
                address=text_field(result, "url"),
                title=strip_markup(text_field(result, "title")),
                snippet=strip_markup(text_field(result, "description")),
                date=parse_day(text_field(result, "page_age")),
            )
