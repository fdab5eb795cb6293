"""Parse the JSON answers of MediaWiki's API; missing fields become empty values."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from holdfast.models.errors import BadInput, ToolBusy, ToolFailed
from holdfast.models.frozen_model import Frozen
from holdfast.tools.web.providers.search_provider import strip_markup, text_field

_PASSING = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryError"})
_FORBIDDEN = frozenset("#<>[]|{}\n")
_MAX_TITLE_CHARS = 255


class WikiPage(Frozen):
    """The current revision of a page."""

    title: str
    address: str
    revision: int
    date: str
    """The day of the revision, as YYYY-MM-DD."""
    redirected_from: str = ""
    is_disambiguation: bool = False


class WikiSearchHit(Frozen):
    """A page in the results of a search."""

    title: str
    address: str
    snippet: str
    date: str = ""


def parse_api_answer(body: bytes) -> dict[str, Any]:
    """Return the parsed answer of the API.

    Raises:
        ToolBusy: the wiki is busy.
        ToolFailed: the wiki refuses, or the address is not a MediaWiki.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ToolFailed("the wiki does not answer as MediaWiki does: check its url") from error
    if not isinstance(answer, dict):
        raise ToolFailed("the wiki does not answer as MediaWiki does: check its url")
    fault = answer.get("error")
    if isinstance(fault, dict):
        code, message = (
            text_field(fault, "code")[:80],
            strip_markup(text_field(fault, "info"))[:300],
        )
        raise (ToolBusy if code in _PASSING else ToolFailed)(f"the wiki answers {code}: {message}")
    return answer


def parse_page(answer: Mapping[str, Any]) -> WikiPage | None:
    """Return the page that was requested by title; None if it does not exist."""
    query = _object(answer, "query")
    page = next(iter(_list(query, "pages")), {})
    revision = next(iter(_list(page, "revisions")), {})
    number = revision.get("revid")
    if not isinstance(number, int):
        return None
    moved = next(iter(_list(query, "redirects")), {})
    return WikiPage(
        title=text_field(page, "title"),
        address=text_field(page, "fullurl"),
        revision=number,
        date=text_field(revision, "timestamp")[:10],
        redirected_from=text_field(moved, "from"),
        is_disambiguation="disambiguation" in _object(page, "pageprops"),
    )


def parse_search_hits(answer: Mapping[str, Any], api: str) -> tuple[WikiSearchHit, ...]:
    """Return the pages in the results of a search, best first."""
    query = _object(answer, "query")
    base = _article_base(_object(query, "general"), api)
    return tuple(
        WikiSearchHit(
            title=text_field(result, "title"),
            address=base.replace(
                "$1", quote(text_field(result, "title").replace(" ", "_"), safe="/:,()")
            ),
            snippet=strip_markup(text_field(result, "snippet")),
            date=text_field(result, "timestamp")[:10],
        )
        for result in _list(query, "search")
        if text_field(result, "title")
    )


def parse_suggestion(answer: Mapping[str, Any]) -> str:
    """Return the words that the wiki suggests instead; empty if there are none."""
    return text_field(_object(_object(answer, "query"), "searchinfo"), "suggestion")


def parsed_page_html(answer: Mapping[str, Any]) -> str:
    """Return the HTML of a parsed page."""
    return text_field(_object(answer, "parse"), "text")


def article_title(text: str) -> str:
    """Return the title in the argument: a title, or the address of an article.

    Raises:
        BadInput: the title is not valid.
    """
    title = text.strip()
    if title.startswith(("http://", "https://")):
        _, slash, rest = title.partition("/wiki/")
        if not slash:
            raise BadInput(f"{text[:200]!r} is not the address of an article: give its title")
        title = unquote(rest.partition("?")[0])
    title = " ".join(title.partition("#")[0].replace("_", " ").split())
    if not title or len(title) > _MAX_TITLE_CHARS or _FORBIDDEN & set(title):
        raise BadInput(f"{text[:200]!r} is not a title: give one such as 'Shirley Temple'")
    return title


def _article_base(general: Mapping[str, Any], api: str) -> str:
    """Return the address of articles, with `$1` for the title."""
    scheme, _, rest = api.partition("://")
    path = text_field(general, "articlepath")
    path = path if path.startswith("/") and "$1" in path else "/wiki/$1"
    return f"{scheme}://{rest.partition('/')[0]}{path}"


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _list(value: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    items = value.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
