"""Keep pages that were read in memory, with a limit on age, number and size."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from holdfast.tools.web.page_text import PageText

_MAX_CHARS = 20_000_000
_MAX_PAGES = 500


@dataclass(frozen=True)
class CachedPage:
    """A page at an address, with the validators of its server."""

    address: str
    """The final address, after redirects."""
    sha256: str
    """The hash of the body as sent."""
    page: PageText
    etag: str = ""
    modified: str = ""

    @property
    def validators(self) -> dict[str, str]:
        """Return the headers of a conditional request."""
        asked = {"if-none-match": self.etag, "if-modified-since": self.modified}
        return {name: value for name, value in asked.items() if value}


class PageCache:
    """Pages by requested address; the least recently used page is dropped first."""

    def __init__(self, lifetime_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, CachedPage]] = OrderedDict()

    def fresh_page(self, address: str) -> CachedPage | None:
        """Return the page if it is younger than the cache's lifetime."""
        at, kept = self._kept.get(address, (0.0, None))
        if kept is None or self._clock() - at >= self._lifetime_s:
            return None
        self._kept.move_to_end(address)
        return kept

    def old(self, address: str) -> CachedPage | None:
        """Return the page, of any age, if its server supports conditional requests."""
        _, kept = self._kept.get(address, (0.0, None))
        return kept if kept and kept.validators else None

    def same(self, sha256: str, address: str) -> PageText | None:
        """Return a page with the same bytes and final address, so that it is not parsed again."""
        for _, kept in self._kept.values():
            if kept.sha256 == sha256 and kept.address == address:
                return kept.page
        return None

    def keep(self, address: str, kept: CachedPage) -> CachedPage:
        """Store the page with the current time."""
        if self._lifetime_s > 0:
            self._kept[address] = (self._clock(), kept)
            self._kept.move_to_end(address)
            self._trim()
        return kept

    def _trim(self) -> None:
        chars = sum(len(kept.page.text) for _, kept in self._kept.values())
        while self._kept and (len(self._kept) > _MAX_PAGES or chars > _MAX_CHARS):
            _, (_, gone) = self._kept.popitem(last=False)
            chars -= len(gone.page.text)
