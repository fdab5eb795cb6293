"""Mwmbl, an open search engine run by volunteers: a small index, and no key."""

from collections.abc import Iterator
from dataclasses import dataclass

from tools.web.providers.base import ApiRequest, Hit, Query, results_in, with_query


@dataclass(frozen=True)
class Mwmbl:
    """https://api.mwmbl.org/docs. It knows neither sites nor dates."""

    url: str = "https://api.mwmbl.org"
    needs_key: bool = False

    def request(self, url: str, _key: str, query: Query) -> ApiRequest:
        headers = {"Accept": "application/json"}
        return ApiRequest(with_query(f"{url}/search", {"s": query.words}), headers=headers)

    def hits(self, body: bytes) -> Iterator[Hit]:
        for found in results_in(body):
            address = found.get("url")
            yield Hit(
                address=address if isinstance(address, str) else "",
                title=_words(found.get("title")),
                snippet=_words(found.get("extract")),
            )


def _words(pieces: object) -> str:
    """The pieces that a text is cut into where words of the query stand, joined again."""
    if not isinstance(pieces, list):
        return ""
    said = [piece.get("value") for piece in pieces if isinstance(piece, dict)]
    return " ".join("".join(each for each in said if isinstance(each, str)).split())
