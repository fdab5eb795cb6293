"""Sentence corrector role: mend the sentences of a report that failed a check, and only these."""

from pydantic import Field

from holdfast.models.answer_draft import Draft
from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.reports.report_writer_messages import EvidenceIds, EvidenceItem
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class FailedSentence(Frozen):
    """A sentence of the report that failed a check."""

    id: str = Field(description="S1, S2 and so on")
    text: str
    cites: tuple[str, ...] = ()
    why: FromRelease[str] = Field(description="why it failed")


class SentenceCorrectorTask(Frozen):
    """What the sentence corrector is given."""

    question: str
    sentences: tuple[FailedSentence, ...]
    evidence: tuple[EvidenceItem, ...] = ()


class CorrectedSentence(Draft):
    """A failed sentence as it is now."""

    id: str
    text: str = Field(default="", description="empty: leave the sentence out")
    evidence: EvidenceIds = Field(default_factory=list)


class SentenceCorrectorAnswer(Draft):
    """Each failed sentence once."""

    sentences: list[CorrectedSentence]


SENTENCE_CORRECTOR = Role(
    name=RoleName.SENTENCE_CORRECTOR.value,
    instructions="""\
Some `sentences` of a report failed a check against their evidence. Mend each of them alone: the
rest of the report stays. Write what the quotes say and no more, with names and numbers as the
quotes have them, and name the ids of the `evidence` whose quotes show it, which may be other
evidence than before. If the quotes only suggest it, say so in the sentence. If they show nothing of
it, leave its text empty. Give one sentence for each id, without citation marks in its text.
""",
    foreign_fields=("sentences", "evidence"),
    task=SentenceCorrectorTask,
    answer=SentenceCorrectorAnswer,
)
