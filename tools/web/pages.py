"""Pages that were read, kept in the worker's memory for a while; bounded, and by content hash."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from tools.web.readable import Readable

_MOST_CHARS = 20_000_000
_MOST_PAGES = 500


@dataclass(frozen=True)
class Kept:
    """A page at an address, with what its server would know it by."""

    address: str
    """Where it was found in the end, after redirects."""
    sha256: str
    """Of the body as it was sent."""
    page: Readable
    etag: str = ""
    modified: str = ""

    @property
    def validators(self) -> dict[str, str]:
        """The headers that ask whether it has changed."""
        asked = {"if-none-match": self.etag, "if-modified-since": self.modified}
        return {name: value for name, value in asked.items() if value}


class Pages:
    """By the address that was asked for; what was used longest ago goes first."""

    def __init__(self, lifetime_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Kept]] = OrderedDict()

    def young(self, address: str) -> Kept | None:
        """The page, if it was read within its lifetime."""
        at, kept = self._kept.get(address, (0.0, None))
        if kept is None or self._clock() - at >= self._lifetime_s:
            return None
        self._kept.move_to_end(address)
        return kept

    def old(self, address: str) -> Kept | None:
        """The page, however old, if its server can say whether it has changed."""
        _, kept = self._kept.get(address, (0.0, None))
        return kept if kept and kept.validators else None

    def same(self, sha256: str, address: str) -> Readable | None:
        """A page of the very same bytes at the very same place, so that it is not read again."""
        for _, kept in self._kept.values():
            if kept.sha256 == sha256 and kept.address == address:
                return kept.page
        return None

    def keep(self, address: str, kept: Kept) -> Kept:
        """Remember it as of now."""
        if self._lifetime_s > 0:
            self._kept[address] = (self._clock(), kept)
            self._kept.move_to_end(address)
            self._trim()
        return kept

    def _trim(self) -> None:
        chars = sum(len(kept.page.text) for _, kept in self._kept.values())
        while self._kept and (len(self._kept) > _MOST_PAGES or chars > _MOST_CHARS):
            _, (_, gone) = self._kept.popitem(last=False)
            chars -= len(gone.page.text)
