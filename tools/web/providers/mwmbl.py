"""Search with Mwmbl, an open search engine with a small index and no key."""

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.tools.web.providers.search_provider import (
    ApiRequest,
    SearchHit,
    SearchQuery,
    result_objects,
    url_with_query,
)


@dataclass(frozen=True)
class Mwmbl:
    """https://api.mwmbl.org/docs. It supports neither sites nor dates."""

    url: str = "https://api.mwmbl.org"
    needs_key: bool = False

    def request(self, url: str, _key: str, query: SearchQuery) -> ApiRequest:
        headers = {"Accept": "application/json"}
        return ApiRequest(url_with_query(f"{url}/search", {"s": query.words}), headers=headers)

    def hits(self, body: bytes) -> Iterator[SearchHit]:
        for result in result_objects(body):
            address = result.get("url")
            yield SearchHit(
                address=address if isinstance(address, str) else "",
                title=_words(result.get("title")),
                snippet=_words(result.get("extract")),
            )


def _words(pieces: object) -> str:
    """Join the pieces into which the answer splits a text at words of the query."""
    if not isinstance(pieces, list):
        return ""
    values = [piece.get("value") for piece in pieces if isinstance(piece, dict)]
    return " ".join("".join(value for value in values if isinstance(value, str)).split())
