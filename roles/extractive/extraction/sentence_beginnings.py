"""Tell names from words that have a capital only because a sentence, a cell or a label begins."""

import re
from collections.abc import Iterator

from holdfast.roles.extractive.extraction.response_passages import ParsedResponse
from holdfast.roles.extractive.text.value_candidates import ValueCandidate


def is_word_at_beginning(name: ValueCandidate, text: str, reading: ParsedResponse) -> bool:
    """True of a single word that has a capital only because it begins a sentence or a label."""
    if " " in name.value or not name.value[1:].islower() or not name.value.isalpha():
        return False
    begins = not _IN_SENTENCE.search(text[: name.start])
    if begins and _LABEL_ENDS.match(text, name.end):
        return True
    # An address such as `claims@allianz.com` has names in lower case as well, so it says nothing.
    word = re.compile(rf"(?<![\w@./-]){name.value.lower()}(?![\w@/-]|\.\w)")
    return begins and any(word.search(each) for each in _as_written(reading))


def _as_written(reading: ParsedResponse) -> Iterator[str]:
    return (sentence.text for passage in reading.passages for sentence in passage.sentences)


_IN_SENTENCE = re.compile(r"[^\W_][^.!?:|\n]*$")
_LABEL_ENDS = re.compile(r"[^\S\n]*(?::|\||\.?\*\*|\()|(?: [a-z][\w-]*){1,2}(?::\*\*|\*\*)")
