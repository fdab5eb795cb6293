"""Summarise an extraction: values, missing entities, titles, words for the next query."""

from collections.abc import Sequence

from holdfast.roles.extractive.extraction.entity_query import is_known
from holdfast.roles.extractive.extraction.response_passages import ParsedResponse
from holdfast.roles.extractive.extraction.sentence_beginnings import is_word_at_beginning
from holdfast.roles.extractive.extraction.sentence_ranking import (
    build_entity_query,
    ranked_sentences,
)
from holdfast.roles.extractive.text.value_candidates import proper_names
from holdfast.roles.tasks.extractor import Extracted, ExtractorTask


def extraction_summary(
    task: ExtractorTask, reading: ParsedResponse, found: Sequence[Extracted]
) -> str:
    """The summary of an extraction; the replanner reads new query words from its last sentence."""
    shown = [f"{each.name}: {each.value}" for each in found if each.value is not None]
    missing = [each.name for each in found if each.value is None]
    parts = [f"Found {'; '.join(shown)}."] if shown else []
    if missing:
        parts.append(f"Not found: {', '.join(missing)}.")
    titles = [each.name for each in reading.passages if each.name][:5]
    if titles:
        parts.append(f"Read: {'; '.join(titles)}.")
    fresh = _new_query_words(task, reading)
    if fresh:
        parts.append(f"Words worth a new query: {', '.join(fresh)}.")
    return " ".join(parts)


def _new_query_words(task: ExtractorTask, reading: ParsedResponse) -> list[str]:
    """Names in the best sentences that the question does not contain."""
    if not task.entities:
        return []
    wanted = build_entity_query(task.entities[0], task)
    fresh: dict[str, None] = {}
    for place in ranked_sentences(reading, wanted)[:_MOST_SENTENCES]:
        for name in proper_names(place.sentence.text):
            is_new = not any(name.value in each for each in fresh)
            is_name = not is_word_at_beginning(name, place.sentence.text, reading)
            if (
                is_new
                and is_name
                and " and " not in name.value
                and not is_known(name, wanted.known)
            ):
                fresh.setdefault(name.value)
    return list(fresh)[:6]


_MOST_SENTENCES = 5
