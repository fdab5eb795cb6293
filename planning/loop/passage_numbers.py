"""Number the passages of a transcript, and show the text of each passage once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.loop.loop_messages import ShownPassage
from holdfast.models.text.passage_titles import title_with_headings
from holdfast.models.text.reference_marks import disarm_references

_MAX_PASSAGE = 4_000
"""Characters of a passage that a transcript shows; a quote from further on is not known to it."""
_MAX_MESSAGE = 24_000
"""Characters of all passages of one message: a document that is read whole may have many."""

PassageKey = tuple[str, int, str]


class ShownPassages(NamedTuple):
    """What a message shows of some passages: new texts, and the numbers of texts shown before."""

    texts: tuple[ShownPassage, ...]
    above: tuple[int, ...]


@dataclass
class PassageNumbers:
    """The numbers of the passages that were shown; new passages are numbered in order."""

    shown: dict[PassageKey, int] = field(default_factory=dict)
    visible: set[int] = field(default_factory=set)
    """The passages whose text is in the transcript; a compaction removes texts."""
    added: list[tuple[int, SourcePassage]] = field(default_factory=list)
    _room: int = _MAX_MESSAGE

    @classmethod
    def of(
        cls, passages: Iterable[tuple[int, SourcePassage]], visible: Iterable[int]
    ) -> "PassageNumbers":
        """The numbers of a stored transcript."""
        numbers = {passage_key(passage): number for number, passage in passages}
        return cls(numbers, set(visible))

    def reserve(self, passage: SourcePassage) -> int:
        """Return the number of a passage whose text is not shown; a new one if it has none."""
        return self.shown.setdefault(passage_key(passage), len(self.shown) + 1)

    def show(self, passages: Sequence[SourcePassage]) -> ShownPassages:
        """Return the passages as a message shows them, as far as it has room."""
        texts: list[ShownPassage] = []
        above: list[int] = []
        for passage in passages:
            number = self.shown.get(passage_key(passage))
            if number is not None and number in self.visible:
                above.append(number)
            elif passage.text.strip() and self._room > 0:
                texts.append(self._shown_text(passage))
        return ShownPassages(tuple(texts), tuple(dict.fromkeys(above)))

    def _shown_text(self, passage: SourcePassage) -> ShownPassage:
        key = passage_key(passage)
        is_new = key not in self.shown
        number = self.reserve(passage)
        if is_new:
            self.added.append((number, passage))
        self.visible.add(number)
        text = passage.text[:_MAX_PASSAGE]
        self._room -= len(text)
        return ShownPassage(
            n=number,
            title=passage_title(passage)[:200],
            date=passage.date[:40],
            text=str(disarm_references(text)),
        )


def passage_key(passage: SourcePassage) -> PassageKey:
    """What makes two passages the same: document, place and text."""
    return passage.address, passage.start, passage.text


def passage_title(passage: SourcePassage) -> str:
    """The document's title with the passage's headings; of a bare answer the tool's name."""
    title = passage.title or passage.tool or passage.address
    return title_with_headings(title, passage.heading)
