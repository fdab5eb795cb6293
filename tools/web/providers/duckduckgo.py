"""Search with the HTML page of DuckDuckGo, which needs no key and guarantees nothing.

The page is made for people, changes without notice and rejects programs that send many requests.
For more than a few searches an hour, put a provider with an API before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from holdfast.tools.web.providers.search_provider import (
    ApiRequest,
    SearchHit,
    SearchQuery,
    parse_day,
    url_with_query,
)

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_ASKS_FOR_A_PERSON = (b"anomaly-modal", b"challenge-form", b"anomaly.js")


@dataclass(frozen=True)
class DuckDuckGo:
    """https://html.duckduckgo.com/html/."""

    url: str = "https://html.duckduckgo.com"
    needs_key: bool = False

    def request(self, url: str, _key: str, query: SearchQuery) -> ApiRequest:
        parameters = {"q": query.words_with_site}
        if query.newer_than:
            parameters["df"] = f"{query.newer_than}..{query.today}"
        return ApiRequest(
            url_with_query(f"{url}/html/", parameters), headers={"Accept": "text/html"}
        )

    def hits(self, body: bytes) -> Iterator[SearchHit]:
        if any(sign in body for sign in _ASKS_FOR_A_PERSON):
            raise ValueError("it wants to see a person")
        from lxml import etree, html

        try:
            tree = html.document_fromstring(body.decode("utf-8", "replace").replace("\0", ""))
        except (etree.LxmlError, ValueError, AssertionError) as error:
            raise ValueError("its answer is not a page") from error
        for result in tree.find_class("result"):
            links = result.find_class("result__a")
            if not links or "result--ad" in result.get("class", ""):
                continue
            yield SearchHit(
                address=_address(links[0].get("href", "")),
                title=_words(links),
                snippet=_words(result.find_class("result__snippet")),
                date=parse_day(_words(result.find_class("result__timestamp"))),
            )


def _words(elements: list["HtmlElement"]) -> str:
    return " ".join(str(elements[0].text_content()).split()) if elements else ""


def _address(href: str) -> str:
    """Return the final address of a link: some links lead through a click counter."""
    try:
        link = urlsplit(f"https:{href}" if href.startswith("//") else href)
        counted = parse_qs(link.query).get("uddg") if link.path == "/l/" else None
    except ValueError:
        return ""
    return counted[0] if counted else href
