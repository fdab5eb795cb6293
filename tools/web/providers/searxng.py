"""SearXNG, a metasearch engine that one hosts oneself; its `settings.yml` must allow `json`."""

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
class SearXNG:
    """https://docs.searxng.org/dev/search_api.html."""

    url: str = ""
    needs_key: bool = False

    def request(self, url: str, key: str, query: Query) -> ApiRequest:
        parameters = {"q": query.words_with_site, "format": "json", "pageno": "1"}
        if query.newer_than:
            # It knows no dates; hits that are older and say so are left out later.
            parameters["time_range"] = _range((query.today - query.newer_than).days)
        headers = {"Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return ApiRequest(with_query(f"{url}/search", parameters), headers=headers)

    def hits(self, body: bytes) -> Iterator[Hit]:
        for found in results_in(body, "results"):
            yield Hit(
                address=text_in(found, "url"),
                title=plain(text_in(found, "title")),
                snippet=plain(text_in(found, "content")),
                date=day_in(text_in(found, "publishedDate")),
            )


def _range(days: int) -> str:
    if days <= 1:
        return "day"
    return "month" if days <= 31 else "year"
