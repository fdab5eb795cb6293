"""Build an entity query from an extraction task; rank a response's sentences for it."""

from collections.abc import Sequence

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.roles.extractive.extraction.entity_query import (
    EntityQuery,
    SentenceMatch,
    is_named,
    type_noun_stems,
)
from holdfast.roles.extractive.extraction.response_passages import ParsedResponse, ResponsePassage
from holdfast.roles.extractive.extraction.subject_mentions import subject_relevance
from holdfast.roles.extractive.text.measure_units import measure_adjective_stems
from holdfast.roles.extractive.text.noun_kinds import SEARCH_PREFIX, ValueKind, read_description
from holdfast.roles.extractive.text.value_candidates import proper_names
from holdfast.roles.extractive.text.words_and_sentences import stems
from holdfast.roles.tasks.extractor import ExtractorTask

_MOST_PLACES = 60


def build_entity_query(entity: ExpectedEntity, task: ExtractorTask) -> EntityQuery:
    """The query of an entity, from its description and the values found so far.

    Of the arguments only what an earlier task found counts: a query that was widened holds words
    that nobody asked for.
    """
    asked = read_description(entity.name, entity.description, entity.type.value)
    text = f"{asked.subject} {asked.body} {_found_before(task)}"[:_LONGEST_ASKED]
    named = {each for name in proper_names(text) for each in stems(name.value)}
    noun = type_noun_stems(asked.noun)
    measure = "".join(asked.noun.split()[-1:]) if asked.kind is ValueKind.NUMBER else ""
    noun |= measure_adjective_stems(measure)
    told = frozenset(stems(text)) or frozenset(stems(task.description[:_LONGEST_ASKED]))
    about = told - noun if asked.kind in _SORTS and told != noun else told
    arguments = frozenset(stems(" ".join(str(each) for each in task.arguments.values())))
    return EntityQuery(
        kind=asked.kind,
        noun=noun,
        about=about,
        known=told | _said_before(task),
        relation=frozenset(about - named - noun),
        lower_text=text.lower(),
        hints=arguments - told,
        subject=asked.subject,
        named=frozenset(named) - noun,
        measure=measure,
    )


_LONGEST_ASKED = 4_000
_SORTS = (
    ValueKind.PERSON,
    ValueKind.PLACE,
    ValueKind.GROUP,
    ValueKind.WORK,
    ValueKind.DATE,
    ValueKind.YEAR,
)
"""Kinds whose noun names the answer's type and need not be next to it."""


def _found_before(task: ExtractorTask) -> str:
    argued = " ".join(str(each) for each in task.arguments.values())
    values = [str(each.value) for each in task.context if each.value]
    return " ".join(each for each in values if each in argued)


def _said_before(task: ExtractorTask) -> frozenset[str]:
    """The words of the task and of earlier results: none of them is a value to find."""
    values = " ".join(str(each.value) for each in task.context if isinstance(each.value, str))
    return frozenset(
        stems(f"{task.description.removeprefix(SEARCH_PREFIX)} {values}"[:_LONGEST_ASKED])
    )


def ranked_sentences(reading: ParsedResponse, wanted: EntityQuery) -> list[SentenceMatch]:
    """The sentences, best first, each with its passage's and its own share of the words."""
    places: list[SentenceMatch] = []
    for passage in _of_subject(reading, wanted):
        share = reading.coverage(wanted.about, passage.stems)
        named = is_named(passage, wanted)
        for sentence in passage.sentences:
            own = reading.coverage(wanted.about, sentence.stems | passage.title_stems)
            places.append(SentenceMatch(passage, sentence, share, own, named))
    places.sort(key=lambda each: -(each.passage_share + each.sentence_share + 0.3 * each.is_named))
    return places[:_MOST_PLACES]


def _of_subject(reading: ParsedResponse, wanted: EntityQuery) -> Sequence[ResponsePassage]:
    """The passages most relevant to the subject."""
    if not wanted.subject:
        return reading.passages
    levels = [(subject_relevance(each, wanted.subject), each) for each in reading.passages]
    best = max((level for level, _ in levels), default=0)
    return [each for level, each in levels if level == best] if best else []
