"""The search API of Brave."""

from collections.abc import Iterator
from dataclasses import dataclass

from tools.web.providers.base import (
    ApiRequest,
    Hit,
    Query,
    day_in,
    plain,
    results_in,
    text_in,
    with_query,
)


@dataclass(frozen=True)
class Brave:
    """https://api-dashboard.search.brave.com/app/documentation/web-search/get-started."""

    url: str = "https://api.search.brave.com/res/v1"
    needs_key: bool = True

    def request(self, url: str, key: str, query: Query) -> ApiRequest:
        parameters: dict[str, str | int] = {
            "q": query.words_with_site,
            "count": min(query.limit, 20),
            "text_decorations": "false",
        }
        if query.newer_than:
            parameters["freshness"] = f"{query.newer_than}to{query.today}"
        headers = {"Accept": "application/json", "X-Subscription-Token": key}
        return ApiRequest(with_query(f"{url}/web/search", parameters), headers=headers)

    def hits(self, body: bytes) -> Iterator[Hit]:
        for found in results_in(body, "web", "results"):
            yield Hit(
                address=text_in(found, "url"),
                title=plain(text_in(found, "title")),
                snippet=plain(text_in(found, "description")),
                date=day_in(text_in(found, "page_age")),
            )
