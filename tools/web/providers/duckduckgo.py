"""DuckDuckGo's page for browsers without scripts: needs no key, and promises nothing.

It is made for people, changes without notice and turns programs away when they ask often, so it
is a best effort: put a provider with an API before it for more than a few questions an hour.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from tools.web.providers.base import ApiRequest, Hit, Query, day_in, with_query

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_ASKS_FOR_A_PERSON = (b"anomaly-modal", b"challenge-form", b"anomaly.js")


@dataclass(frozen=True)
class DuckDuckGo:
    """https://html.duckduckgo.com/html/."""

    url: str = "https://html.duckduckgo.com"
    needs_key: bool = False

    def request(self, url: str, _key: str, query: Query) -> ApiRequest:
        parameters = {"q": query.words_with_site}
        if query.newer_than:
            parameters["df"] = f"{query.newer_than}..{query.today}"
        return ApiRequest(with_query(f"{url}/html/", parameters), headers={"Accept": "text/html"})

    def hits(self, body: bytes) -> Iterator[Hit]:
        if any(sign in body for sign in _ASKS_FOR_A_PERSON):
            raise ValueError("it wants to see a person")
        from lxml import etree, html

        try:
            tree = html.document_fromstring(body.decode("utf-8", "replace").replace("\0", ""))
        except (etree.LxmlError, ValueError, AssertionError) as error:
            raise ValueError("its answer is not a page") from error
        for found in tree.find_class("result"):
            links = found.find_class("result__a")
            if not links or "result--ad" in found.get("class", ""):
                continue
            yield Hit(
                address=_address(links[0].get("href", "")),
                title=_words(links),
                snippet=_words(found.find_class("result__snippet")),
                date=day_in(_words(found.find_class("result__timestamp"))),
            )


def _words(elements: list["HtmlElement"]) -> str:
    return " ".join(str(elements[0].text_content()).split()) if elements else ""


def _address(href: str) -> str:
    """Where a link leads in the end: the page counts clicks on some of them."""
    try:
        link = urlsplit(f"https:{href}" if href.startswith("//") else href)
        counted = parse_qs(link.query).get("uddg") if link.path == "/l/" else None
    except ValueError:
        return ""
    return counted[0] if counted else href
