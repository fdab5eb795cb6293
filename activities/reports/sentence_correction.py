"""Have the sentences of a draft that failed the checks written again, each alone."""

from collections.abc import Mapping, Sequence

from holdfast.activities.reports.sentence_checks import CheckedSentence
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.reports.report_writer_messages import (
    EvidenceItem,
    Statement,
    SynthesiserAnswer,
    SynthesiserTask,
)
from holdfast.models.text.words import words_of
from holdfast.models.wire import call_places
from holdfast.planning.reports.citation_marks import statements_by_part, without_citation_marks
from holdfast.planning.reports.statement_faults import unknown_id_faults
from holdfast.roles.reports.sentence_corrector import (
    SENTENCE_CORRECTOR,
    CorrectedSentence,
    FailedSentence,
    SentenceCorrectorAnswer,
    SentenceCorrectorTask,
)

_NEAR_EVIDENCE = 5
"""How many pieces of evidence are shown for a sentence, next to those that it cites."""
_MIN_LETTERS = 3


async def correct_sentences(
    writer: ModelCaller,
    task: SynthesiserTask,
    draft: SynthesiserAnswer,
    refused: Mapping[CheckedSentence, str],
) -> SynthesiserAnswer:
    """Return the draft with the refused sentences mended or left out; `refused` has the reasons.

    The draft is returned as it was if the corrector gives no valid answer.

    Raises:
        Passing: the model is busy.
        Lasting: the model refused.
    """
    named = {f"S{n}": each for n, each in enumerate(refused, start=1)}
    asked = SentenceCorrectorTask(
        question=task.question,
        sentences=tuple(
            FailedSentence(id=name, text=each.text, cites=each.cites, why=refused[each])
            for name, each in named.items()
        ),
        evidence=_evidence_near(refused, task.evidence),
    )
    known = {item.id for item in asked.evidence}

    def check(answer: SentenceCorrectorAnswer) -> Sequence[str]:
        ids = [each.id for each in answer.sentences]
        counts = [f"there is not one sentence {name}" for name in named if ids.count(name) != 1]
        statements = (Statement(text=e.text, evidence=e.evidence) for e in answer.sentences)
        return [*counts, *unknown_id_faults(statements, known)]

    place = call_places.CORRECTED_REPORT
    dialogue = await writer.ask(SENTENCE_CORRECTOR, asked, place=place, check=check)
    if dialogue.answer is None:
        return draft
    corrected = {named[each.id]: each for each in dialogue.answer.sentences if each.id in named}
    parts = {
        part: [kept for each in statements if (kept := _corrected(each, corrected)) is not None]
        for part, statements in statements_by_part(draft).items()
    }
    return without_citation_marks(draft.model_copy(update=parts))


def _corrected(
    statement: Statement, corrected: Mapping[CheckedSentence, CorrectedSentence]
) -> Statement | None:
    """The statement as it is now; None if it is to be left out."""
    mended = corrected.get(CheckedSentence.of(statement))
    if mended is None:
        return statement
    if not mended.text.strip():
        return None
    return statement.model_copy(update={"text": mended.text, "evidence": mended.evidence})


def _evidence_near(
    refused: Mapping[CheckedSentence, str], evidence: Sequence[EvidenceItem]
) -> tuple[EvidenceItem, ...]:
    """Return the evidence that the sentences cite, and what has most words in common with each."""
    words = {item.id: words_of(f"{item.title} {item.quote}", _MIN_LETTERS) for item in evidence}
    wanted = {name for each in refused for name in each.cites}
    for each in refused:
        shared = {name: len(words_of(each.text, _MIN_LETTERS) & own) for name, own in words.items()}
        wanted.update(sorted(shared, key=shared.__getitem__, reverse=True)[:_NEAR_EVIDENCE])
    return tuple(item for item in evidence if item.id in wanted)
