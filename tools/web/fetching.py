"""Fetches a page: from memory or its server, over redirects that are each checked, as text."""

from dataclasses import dataclass
from hashlib import sha256

from models.errors import DocumentGone, ToolFailed
from tools.web.addresses import Target, joined, target_of
from tools.web.exchange import Reply, Request
from tools.web.kinds import charset_of, check_type, kind_of
from tools.web.pages import Kept, Pages
from tools.web.readers import Readers
from tools.web.robots import Robots
from tools.web.visiting import Visitor

MOST_HOPS = 8
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
class Fetcher:
    """Reads pages of the web; `robots` is None where the operator chose to ignore them."""

    visitor: Visitor
    readers: Readers
    pages: Pages
    robots: Robots | None

    async def fetch(self, address: str, *, fresh: bool = False) -> Kept:
        """The page at the address; `fresh` asks its server whatever is remembered.

        Raises:
            ToolFailed: it is refused, is not there, or cannot be read.
            ToolBusy: its host is busy or away for now.
        """
        target = target_of(address.partition("#")[0], self.visitor.wire.allowed)
        key = target.address
        if not fresh and (young := self.pages.young(key)):
            return young
        old = None if fresh else self.pages.old(key)
        final, reply = await self._followed(target, old)
        if reply.status == 304 and old is not None:
            return self.pages.keep(key, old)
        _check_status(final, reply)
        found = await self._read(final, reply)
        if "no-store" in reply.headers.get("cache-control", "").lower():
            return found
        return self.pages.keep(key, found)

    async def _followed(self, target: Target, old: Kept | None) -> tuple[Target, Reply]:
        seen = {target.address}
        for _ in range(MOST_HOPS + 1):
            if self.robots:
                await self.robots.check(target)
            reply = await self.visitor.visit(_request(target, old))
            if reply.status not in _REDIRECTS:
                return target, reply
            target = joined(target, reply.headers.get("location", ""), self.visitor.wire.allowed)
            if target.address in seen:
                raise ToolFailed(f"{target.address[:300]} is a circle of redirects")
            seen.add(target.address)
        raise ToolFailed(f"{target.address[:300]} is redirected more than {MOST_HOPS} times")

    async def _read(self, target: Target, reply: Reply) -> Kept:
        digest = sha256(reply.body).hexdigest()
        page = self.pages.same(digest, target.address) or await self.readers.read(
            kind_of(reply.headers, reply.body),
            target.address,
            charset_of(reply.headers),
            reply.body,
        )
        if not page.text.strip():
            raise ToolFailed(
                f"{target.address[:300]} holds no text that can be read without a browser: use "
                "another source"
            )
        return Kept(
            address=target.address,
            sha256=digest,
            page=page,
            etag=reply.headers.get("etag", "")[:500],
            modified=reply.headers.get("last-modified", "")[:100],
        )


def _request(target: Target, old: Kept | None) -> Request:
    headers = {"Accept": _ACCEPT}
    if old is not None and old.address == target.address:
        headers |= old.validators
    return Request(target, headers=headers, accepts=lambda sent: check_type(target.address, sent))


def _check_status(target: Target, reply: Reply) -> None:
    if reply.status == 200:
        return
    what = _MEANING.get(reply.status, "cannot be had")
    kind = DocumentGone if reply.status in _GONE else ToolFailed
    raise kind(f"{target.address[:300]} {what} ({reply.status}): use another source")
