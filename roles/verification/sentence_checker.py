"""Sentence checker role: judge whether cited passages support each report sentence."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, StringConstraints

from holdfast.models.answer_draft import Draft
from holdfast.models.frozen_model import Frozen
from holdfast.models.reports.report_writer_messages import EvidenceIds
from holdfast.models.text.meant_ids import bare_id
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class SupportLevel(StrEnum):
    """How far the cited passages carry a sentence."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"


class CitedPassage(Frozen):
    """A passage that sentences cite."""

    id: str
    title: str
    text: str


def _with_repeated_texts(value: object) -> object:
    """The passages of a prompt, in which `same_as` names a passage shown before."""
    if not isinstance(value, list):
        return value
    shown: dict[object, dict[str, object]] = {}
    for each in value:
        if isinstance(each, dict):
            above = shown.get(each.get("same_as"), {})
            rest = {name: each[name] for name in each if name != "same_as"}
            shown[each.get("id")] = {**above, **rest}
    return list(shown.values())


def _without_repeated_texts(passages: Sequence[CitedPassage]) -> list[dict[str, str]]:
    """The passages, each text once: several quotes are often of one passage."""
    first: dict[tuple[str, str], str] = {}
    shown = []
    for each in passages:
        above = first.setdefault((each.title, each.text), each.id)
        is_new = above == each.id
        shown.append(each.model_dump() if is_new else {"id": each.id, "same_as": above})
    return shown


CitedPassages: TypeAlias = Annotated[
    tuple[CitedPassage, ...],
    BeforeValidator(_with_repeated_texts),
    PlainSerializer(_without_repeated_texts, return_type=list[dict[str, str]], when_used="json"),
]


class CitingSentence(Frozen):
    """A sentence with the ids of the passages it cites."""

    id: str = Field(description="S1, S2 and so on")
    text: str
    cites: tuple[str, ...]


class SentenceCheckerTask(Frozen):
    """What the sentence checker is given: all sentences of a report at once."""

    sentences: tuple[CitingSentence, ...]
    passages: CitedPassages


class SentenceVerdict(Draft):
    """The verdict on one sentence; `s1` and `[S1]` are S1."""

    id: Annotated[str, AfterValidator(bare_id), StringConstraints(to_upper=True)]
    why: str = Field(default="", description="what the passages do not say, in a few words")
    verdict: SupportLevel
    idle: EvidenceIds = Field(
        default_factory=list, description="ids that it cites and that show nothing of it"
    )


class SentenceCheckerAnswer(Draft):
    """A verdict on each sentence."""

    verdicts: list[SentenceVerdict]


SENTENCE_CHECKER = Role(
    name=RoleName.SENTENCE_CHECKER.value,
    instructions="""\
You check the `sentences` of a report against the `passages` they cite; `same_as` names a passage
with the same text. For each sentence: `supported` if its passages together say all that it says;
`partly` if they say something weaker, or only a part of it; `unsupported` if they do not say it or
say otherwise. Judge by the passages alone: that a sentence is true is not enough. Say in a few
words what is missing; name in `idle` the cited ids that show no part of it. Give one verdict for
each id.
Example: "Ida Voss built Halm Tower in 1931." with the passage "Halm Tower is by Ida Voss." is
{"id":"S1","why":"no year","verdict":"partly"}
""",
    foreign_fields=("sentences", "passages"),
    task=SentenceCheckerTask,
    answer=SentenceCheckerAnswer,
)
