"""Find the receipts that earlier releases kept under keys of another format.

Each earlier format has a reader: it maps a key of today to the keys that the format had for the
same work, and says which bodies count as receipts of this work today. A format that a release has
written keeps its reader as long as jobs of that release may be open.
"""

import re
from collections.abc import Mapping
from typing import Any, Protocol


class EarlierKeyFormat(Protocol):
    """The reader of one earlier format."""

    number: int

    def keys_of(self, key: str) -> tuple[str, ...]:
        """Return the keys that this format had for the work of today's `key`, newest first."""
        ...

    def is_receipt(self, body: Mapping[str, Any]) -> bool:
        """True if the body is a receipt today."""
        ...


class TurnsCountedWithAnswers:
    """Format 1: an agent's turn had the number of its answered questions: `T3#1/4.0`.

    A question had a receipt of its own. Today a question has none, because the agent takes the same
    turn again after the answer.
    """

    number = 1
    _TURN = re.compile(r"[^/#]+#\d+/\d+")
    _MOST_ANSWERS = 5

    def keys_of(self, key: str) -> tuple[str, ...]:
        if not self._TURN.fullmatch(key):
            return ()
        return tuple(f"{key}.{answers}" for answers in range(self._MOST_ANSWERS, -1, -1))

    def is_receipt(self, body: Mapping[str, Any]) -> bool:
        return not (body.get("questions") or body.get("waits_for"))


EARLIER_FORMATS: tuple[EarlierKeyFormat, ...] = (TurnsCountedWithAnswers(),)
"""The readers, the newest format first."""


def earlier_keys(key: str) -> tuple[str, ...]:
    """Return the keys of all earlier formats for the work of `key`, in order of preference."""
    return tuple(each for reader in EARLIER_FORMATS for each in reader.keys_of(key))


def is_receipt_under(stored_key: str, key: str, body: Mapping[str, Any]) -> bool:
    """True if the body, stored under `stored_key`, is the receipt of the work of `key` today."""
    readers = [reader for reader in EARLIER_FORMATS if stored_key in reader.keys_of(key)]
    return all(reader.is_receipt(body) for reader in readers)
