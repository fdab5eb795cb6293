"""Search with a self-hosted SearXNG, whose `settings.yml` must allow `json`."""

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
class SearXNG:
    """https://docs.searxng.org/dev/search_api.html."""

    url: str = ""
    needs_key: bool = False

    def request(self, url: str, key: str, query: SearchQuery) -> ApiRequest:
        parameters = {"q": query.words_with_site, "format": "json", "pageno": "1"}
        if query.newer_than:
            # SearXNG has no date filter; hits with an older date are removed later.
            parameters["time_range"] = _range((query.today - query.newer_than).days)
        headers = {"Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return ApiRequest(url_with_query(f"{url}/search", parameters), headers=headers)

    def hits(self, body: bytes) -> Iterator[SearchHit]:
        for result in result_objects(body, "results"):
            yield SearchHit(
                address=text_field(result, "url"),
                title=strip_markup(text_field(result, "title")),
                snippet=strip_markup(text_field(result, "content")),
                date=parse_day(text_field(result, "publishedDate")),
            )


def _range(days: int) -> str:
    if days <= 1:
        return "day"
    return "month" if days <= 31 else "year"
