"""Fetch a web page from the cache or its server, check every redirect, and return its text."""

from dataclasses import dataclass
from hashlib import sha256

from holdfast.models.errors import DocumentGone, ToolFailed
from holdfast.tools.web.content_types import body_kind, check_content_type, declared_charset
from holdfast.tools.web.http_client.address_rules import (
    RequestTarget,
    parse_target,
    resolve_redirect,
)
from holdfast.tools.web.http_client.host_limited_client import PoliteClient
from holdfast.tools.web.http_client.http_exchange import HttpReply, HttpRequest
from holdfast.tools.web.http_client.robots_rules import RobotsRules
from holdfast.tools.web.page_cache import CachedPage, PageCache
from holdfast.tools.web.reader_pool import ReaderPool

MAX_REDIRECTS = 8
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
_MEANING = {
    401: "wants a login",
    403: "does not let programs read it",
    404: "is not there",
    410: "is gone",
    451: "is withheld by law",
}
_ACCEPT = "text/html,application/xhtml+xml,application/pdf,text/*,application/json;q=0.9,*/*;q=0.5"


@dataclass(frozen=True)
class PageFetcher:
    """Reads web pages; `robots` is None if the operator chose to ignore robots.txt."""

    polite_client: PoliteClient
    readers: ReaderPool
    pages: PageCache
    robots: RobotsRules | None

    async def fetch(self, address: str, *, fresh: bool = False) -> CachedPage:
        """Return the page at the address; `fresh` asks the server even if the page is cached.

        Raises:
            ToolFailed: the page is refused, missing or unreadable.
            ToolBusy: the host is busy or unavailable for now.
        """
        target = parse_target(address.partition("#")[0], self.polite_client.http_client.allowed)
        key = target.address
        if not fresh and (young := self.pages.fresh_page(key)):
            return young
        old = None if fresh else self.pages.old(key)
        final, reply = await self._followed(target, old)
        if reply.status == 304 and old is not None:
            return self.pages.keep(key, old)
        _check_status(final, reply)
        page = await self._read(final, reply)
        if "no-store" in reply.headers.get("cache-control", "").lower():
            return page
        return self.pages.keep(key, page)

    async def _followed(
        self, target: RequestTarget, old: CachedPage | None
    ) -> tuple[RequestTarget, HttpReply]:
        seen = {target.address}
        for _ in range(MAX_REDIRECTS + 1):
            if self.robots:
                await self.robots.check(target)
            reply = await self.polite_client.visit(_request(target, old))
            if reply.status not in _REDIRECTS:
                return target, reply
            target = resolve_redirect(
                target, reply.headers.get("location", ""), self.polite_client.http_client.allowed
            )
            if target.address in seen:
                raise ToolFailed(f"{target.address[:300]} is a circle of redirects")
            seen.add(target.address)
        raise ToolFailed(f"{target.address[:300]} is redirected more than {MAX_REDIRECTS} times")

    async def _read(self, target: RequestTarget, reply: HttpReply) -> CachedPage:
        digest = sha256(reply.body).hexdigest()
        page = self.pages.same(digest, target.address) or await self.readers.read(
            body_kind(reply.headers, reply.body),
            target.address,
            declared_charset(reply.headers),
            reply.body,
        )
        if not page.text.strip():
            raise ToolFailed(
                f"{target.address[:300]} holds no text that can be read without a browser: use "
                "another source"
            )
        return CachedPage(
            address=target.address,
            sha256=digest,
            page=page,
            etag=reply.headers.get("etag", "")[:500],
            modified=reply.headers.get("last-modified", "")[:100],
        )


def _request(target: RequestTarget, old: CachedPage | None) -> HttpRequest:
    headers = {"Accept": _ACCEPT}
    if old is not None and old.address == target.address:
        headers |= old.validators
    return HttpRequest(
        target, headers=headers, accepts=lambda sent: check_content_type(target.address, sent)
    )


def _check_status(target: RequestTarget, reply: HttpReply) -> None:
    if reply.status == 200:
        return
    what = _MEANING.get(reply.status, "cannot be had")
    kind = DocumentGone if reply.status in _GONE else ToolFailed
    raise kind(f"{target.address[:300]} {what} ({reply.status}): use another source")
