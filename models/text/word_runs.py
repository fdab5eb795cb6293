"""Find and replace runs of words that stand in other texts, however they are escaped or cased."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u9fff\uac00-\ud7af]+")
"""A word, or one sign of a script that writes no spaces."""
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|[nrtbf\"/\\])")
"""An escape of JSON; several backslashes are those of a document inside of another."""


class _Word(NamedTuple):
    key: str
    start: int
    end: int


class WordRuns:
    """All runs of `shortest` words of some texts, to be found in other texts."""

    def __init__(self, texts: Iterable[str], shortest: int, *, spared: Iterable[str] = ()) -> None:
        """Read the runs of the texts, but for those that the `spared` texts have as well."""
        self._shortest = shortest
        # Hashes instead of words: the sources of a large job have millions of runs.
        self._runs = {run for text in set(texts) for run in self._of(list(_words(text)))}
        self._runs -= {run for text in spared for run in self._of(list(_words(text)))}

    def replaced(self, text: str, replacement: str) -> str:
        """Return the text with each longest run of these words replaced."""
        words = list(_words(text)) if self._runs else []
        parts, written = list[str](), 0
        for first, last in self._spans(words):
            parts += [text[written : words[first].start], replacement]
            written = words[last].end
        return "".join([*parts, text[written:]])

    def _spans(self, words: list[_Word]) -> Iterator[tuple[int, int]]:
        """Yield the first and the last word of each run; runs that overlap are one."""
        first, last = 0, -1
        for at, run in enumerate(self._of(words)):
            if run not in self._runs:
                continue
            if at > last:
                if last >= 0:
                    yield first, last
                first = at
            last = at + self._shortest - 1
        if last >= 0:
            yield first, last

    def _of(self, words: list[_Word]) -> Iterator[int]:
        keys = [each.key for each in words]
        for at in range(len(keys) - self._shortest + 1):
            yield hash(tuple(keys[at : at + self._shortest]))


def word_count(text: str) -> int:
    """Return how many words a text has, as runs count them: each sign of some scripts is one."""
    return sum(1 for _ in _words(text))


def _words(text: str) -> Iterator[_Word]:
    """Yield the words of the text with their places; a word may contain escaped letters."""
    if "\\" not in text:
        yield from (_Word(m[0].casefold(), m.start(), m.end()) for m in _WORD.finditer(text))
        return
    plain, places, at = list[str](), list[int](), 0
    for escape in _ESCAPE.finditer(text):
        plain.append(text[at : escape.start()])
        places.extend(range(at, escape.start()))
        plain.append(chr(int(escape[1], 16)) if escape[1] else " ")
        places.append(escape.start())
        at = escape.end()
    plain.append(text[at:])
    places.extend(range(at, len(text) + 1))
    for match in _WORD.finditer("".join(plain)):
        yield _Word(match[0].casefold(), places[match.start()], places[match.end()])
