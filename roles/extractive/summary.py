"""What an extraction says of itself: what it found, read, and would search for next."""

from collections.abc import Sequence

from roles.extractive.candidates import names
from roles.extractive.ranking import ranked_places, wanted_of
from roles.extractive.reading import Reading
from roles.extractive.wanted import is_known
from roles.extractor import Extracted, ExtractorTask


def summary_of(task: ExtractorTask, reading: Reading, found: Sequence[Extracted]) -> str:
    """The summary; the replanner takes its new words from the last sentence."""
    shown = [f"{each.name}: {each.value}" for each in found if each.value is not None]
    missing = [each.name for each in found if each.value is None]
    parts = [f"Found {'; '.join(shown)}."] if shown else []
    if missing:
        parts.append(f"Not found: {', '.join(missing)}.")
    titles = [each.name for each in reading.passages if each.name][:5]
    if titles:
        parts.append(f"Read: {'; '.join(titles)}.")
    fresh = _fresh_words(task, reading)
    if fresh:
        parts.append(f"Words worth a new query: {', '.join(fresh)}.")
    return " ".join(parts)


def _fresh_words(task: ExtractorTask, reading: Reading) -> list[str]:
    """Names that stand in the sentences nearest to the question and are not in it."""
    if not task.entities:
        return []
    wanted = wanted_of(task.entities[0], task)
    fresh: dict[str, None] = {}
    for place in ranked_places(reading, wanted)[:_MOST_SENTENCES]:
        for name in names(place.sentence.text):
            is_new = not any(name.value in each for each in fresh)
            if is_new and " and " not in name.value and not is_known(name, wanted.known):
                fresh.setdefault(name.value)
    return list(fresh)[:6]


_MOST_SENTENCES = 5
