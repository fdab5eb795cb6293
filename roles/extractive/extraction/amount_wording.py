"""Give an amount the noun that it counts: `900 pallet` of `900 pallet places` says too little."""

import re

from holdfast.roles.extractive.extraction.entity_query import EntityQuery
from holdfast.roles.extractive.text.measure_units import measure_adjective_stems
from holdfast.roles.extractive.text.words_and_sentences import stem

_NEXT_WORDS = re.compile(r"(?:[ -][A-Za-z][\w-]*){1,3}")


def with_counted_noun(value: str, sentence: str, wanted: EntityQuery) -> str:
    """Return the amount up to the asked noun, if that is one of the next three words."""
    counted = wanted.noun - measure_adjective_stems(wanted.measure)
    at = sentence.find(value)
    following = _NEXT_WORDS.match(sentence, at + len(value)) if at >= 0 else None
    if following is None or counted & {stem(each) for each in value.split()}:
        return value
    words = re.findall(r"[ -][^ -]+", following.group())
    for number, word in enumerate(words, start=1):
        if stem(word[1:]) in counted:
            return value + "".join(words[:number])
    return value
