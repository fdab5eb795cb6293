"""The answers of MediaWiki's API, read defensively: what is missing is empty, never a crash."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from models.base import Frozen
from models.errors import BadInput, ToolBusy, ToolFailed
from tools.web.providers.base import plain, text_in

_PASSING = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryError"})
_FORBIDDEN = frozenset("#<>[]|{}\n")
_LONGEST_TITLE = 255


class Place(Frozen):
    """A page of the wiki as it stands now."""

    title: str
    address: str
    revision: int
    date: str
    """The day of that revision, as YYYY-MM-DD."""
    redirected_from: str = ""
    is_disambiguation: bool = False


class Mention(Frozen):
    """A page that a search found."""

    title: str
    address: str
    snippet: str
    date: str = ""


def answer_in(body: bytes) -> dict[str, Any]:
    """The API's answer.

    Raises:
        ToolBusy: the wiki is busy.
        ToolFailed: it refuses, or this is not MediaWiki.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ToolFailed("the wiki does not answer as MediaWiki does: check its url") from error
    if not isinstance(answer, dict):
        raise ToolFailed("the wiki does not answer as MediaWiki does: check its url")
    fault = answer.get("error")
    if isinstance(fault, dict):
        code, said = text_in(fault, "code")[:80], plain(text_in(fault, "info"))[:300]
        raise (ToolBusy if code in _PASSING else ToolFailed)(f"the wiki answers {code}: {said}")
    return answer


def place_in(answer: Mapping[str, Any]) -> Place | None:
    """The page that was asked for by its title; none if there is no such page."""
    query = _object(answer, "query")
    page = next(iter(_list(query, "pages")), {})
    revision = next(iter(_list(page, "revisions")), {})
    number = revision.get("revid")
    if not isinstance(number, int):
        return None
    moved = next(iter(_list(query, "redirects")), {})
    return Place(
        title=text_in(page, "title"),
        address=text_in(page, "fullurl"),
        revision=number,
        date=text_in(revision, "timestamp")[:10],
        redirected_from=text_in(moved, "from"),
        is_disambiguation="disambiguation" in _object(page, "pageprops"),
    )


def mentions_in(answer: Mapping[str, Any], api: str) -> tuple[Mention, ...]:
    """The pages that a search found, best first."""
    query = _object(answer, "query")
    base = _article_base(_object(query, "general"), api)
    return tuple(
        Mention(
            title=text_in(found, "title"),
            address=base.replace(
                "$1", quote(text_in(found, "title").replace(" ", "_"), safe="/:,()")
            ),
            snippet=plain(text_in(found, "snippet")),
            date=text_in(found, "timestamp")[:10],
        )
        for found in _list(query, "search")
        if text_in(found, "title")
    )


def suggestion_in(answer: Mapping[str, Any]) -> str:
    """The words that the wiki thinks were meant; empty if none."""
    return text_in(_object(_object(answer, "query"), "searchinfo"), "suggestion")


def html_in(answer: Mapping[str, Any]) -> str:
    """The HTML of a parsed page."""
    return text_in(_object(answer, "parse"), "text")


def title_of(said: str) -> str:
    """The title in what was given: a title, or the address of an article.

    Raises:
        BadInput: no title can be so.
    """
    title = said.strip()
    if title.startswith(("http://", "https://")):
        _, slash, rest = title.partition("/wiki/")
        if not slash:
            raise BadInput(f"{said[:200]!r} is not the address of an article: give its title")
        title = unquote(rest.partition("?")[0])
    title = " ".join(title.partition("#")[0].replace("_", " ").split())
    if not title or len(title) > _LONGEST_TITLE or _FORBIDDEN & set(title):
        raise BadInput(f"{said[:200]!r} is not a title: give one such as 'Shirley Temple'")
    return title


def _article_base(general: Mapping[str, Any], api: str) -> str:
    """Where articles lie, with `$1` for the title."""
    scheme, _, rest = api.partition("://")
    path = text_in(general, "articlepath")
    path = path if path.startswith("/") and "$1" in path else "/wiki/$1"
    return f"{scheme}://{rest.partition('/')[0]}{path}"


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _list(value: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = value.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
