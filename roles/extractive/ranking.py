"""What an entity asks for, and the sentences of a response in the order in which they tell it."""

from collections.abc import Sequence

from models.plan import Expected
from roles.extractive.candidates import names
from roles.extractive.lexicon import SEARCH_FOR, Kind, read_description
from roles.extractive.measures import said_with
from roles.extractive.reading import Passage, Reading
from roles.extractive.subjects import about_subject
from roles.extractive.text import stems
from roles.extractive.wanted import Place, Wanted, asks_for, is_named
from roles.extractor import ExtractorTask

_MOST_PLACES = 60


def wanted_of(entity: Expected, task: ExtractorTask) -> Wanted:
    """What the entity asks for, read out of its description and of what is known by now.

    Of the arguments only what an earlier task found counts: a query that was widened holds words
    that nobody asked for.
    """
    asked = read_description(entity.name, entity.description, entity.type.value)
    text = f"{asked.subject} {asked.body} {_found_before(task)}"[:_LONGEST_ASKED]
    named = {each for name in names(text) for each in stems(name.value)}
    noun = asks_for(asked.noun)
    measure = asked.noun.split()[-1] if asked.kind is Kind.NUMBER and asked.noun else ""
    noun |= said_with(measure)
    told = frozenset(stems(text)) or frozenset(stems(task.description[:_LONGEST_ASKED]))
    about = told - noun if asked.kind in _SORTS and told != noun else told
    arguments = frozenset(stems(" ".join(str(each) for each in task.arguments.values())))
    return Wanted(
        kind=asked.kind,
        noun=noun,
        about=about,
        known=told | _said_before(task),
        relation=frozenset(about - named - noun),
        folded=text.lower(),
        hints=arguments - told,
        subject=asked.subject,
        named=frozenset(named) - noun,
        measure=measure,
    )


_LONGEST_ASKED = 4_000
_SORTS = (Kind.PERSON, Kind.PLACE, Kind.GROUP, Kind.WORK, Kind.DATE, Kind.YEAR)
"""Kinds whose noun names the answer's type and need not stand beside it."""


def _found_before(task: ExtractorTask) -> str:
    argued = " ".join(str(each) for each in task.arguments.values())
    values = [str(each.value) for each in task.context if each.value]
    return " ".join(each for each in values if each in argued)


def _said_before(task: ExtractorTask) -> frozenset[str]:
    """What the task itself or an earlier one says: it is never a value to be found."""
    values = " ".join(str(each.value) for each in task.context if isinstance(each.value, str))
    return frozenset(
        stems(f"{task.description.removeprefix(SEARCH_FOR)} {values}"[:_LONGEST_ASKED])
    )


def ranked_places(reading: Reading, wanted: Wanted) -> list[Place]:
    """The sentences, best first, each with its passage's and its own share of the words."""
    places: list[Place] = []
    for passage in _of_subject(reading, wanted):
        share = reading.coverage(wanted.about, passage.stems)
        named = is_named(passage, wanted)
        for sentence in passage.sentences:
            own = reading.coverage(wanted.about, sentence.stems | passage.title_stems)
            places.append(Place(passage, sentence, share, own, named))
    places.sort(key=lambda each: -(each.passage_share + each.sentence_share + 0.3 * each.is_named))
    return places[:_MOST_PLACES]


def _of_subject(reading: Reading, wanted: Wanted) -> Sequence[Passage]:
    """The passages that speak of the subject, those that have its name before all others."""
    if not wanted.subject:
        return reading.passages
    levels = [(about_subject(each, wanted.subject), each) for each in reading.passages]
    best = max((level for level, _ in levels), default=0)
    return [each for level, each in levels if level == best] if best else []
