"""Read the cases of the proof: passages, true sentences, planted faults, and their verdicts."""

from collections.abc import Sequence
from pathlib import Path

from holdfast.activities.agents.loop_proof import AnswerProof, LoopProof
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.frozen_model import Frozen
from holdfast.models.loop.loop_functions import AnswerSentence, LoopAnswer
from holdfast.models.loop.loop_results import NumberedPassage

DATA = Path(__file__).parent / "data"
_QUESTION = "What do the documents say?"
"""Names no name and no number, so a sentence gets none from its question."""


class CasePassage(Frozen):
    """A real passage, with where it is from."""

    title: str
    source: str
    text: str


class CaseSentence(AnswerSentence):
    """A sentence as a model may answer it."""

    kind: str = "true"


class PassageFile(Frozen):
    """The passages of all cases."""

    about: str
    passages: tuple[CasePassage, ...]


class SentenceFile(Frozen):
    """Sentences that are true, or have planted faults."""

    about: str
    sentences: tuple[CaseSentence, ...] = ()
    faults: tuple[CaseSentence, ...] = ()


class RefusedCase(Frozen):
    """A sentence that the rules refuse."""

    text: str
    why: str


def numbered_passages() -> tuple[NumberedPassage, ...]:
    """Return the passages under the numbers that the sentences cite."""
    said = PassageFile.model_validate_json((DATA / "passages.json").read_text(encoding="utf-8"))
    return tuple(
        NumberedPassage(
            number=n,
            source_id=n,
            step_id="T1.1",
            attempt=1,
            passage=SourcePassage(address=each.title, title=each.title, text=each.text),
        )
        for n, each in enumerate(said.passages, start=1)
    )


def true_sentences() -> tuple[CaseSentence, ...]:
    """Return the true sentences with honest quotes."""
    return _read("true_sentences.json").sentences


def planted_faults() -> tuple[CaseSentence, ...]:
    """Return the sentences with planted faults; `kind` says which."""
    return _read("planted_faults.json").faults


def refused_cases(sentences: Sequence[CaseSentence]) -> list[RefusedCase]:
    """Return the sentences that the loop's proof refuses by rules, each answered alone."""
    passages = numbered_passages()
    proofs = ((each, _proof(each, passages)) for each in sentences)
    return [
        RefusedCase(text=each.text, why=proof.refused[1]) for each, proof in proofs if proof.refused
    ]


def delivered_cases(sentences: Sequence[CaseSentence]) -> list[str]:
    """Return the sentences that stand in the result of an answer that is not corrected."""
    passages = numbered_passages()
    results = (_proof(each, passages).result(is_repaired=True) for each in sentences)
    return [sentence.text for result in results for sentence in result.sentences]


def _proof(sentence: CaseSentence, passages: Sequence[NumberedPassage]) -> AnswerProof:
    answer = LoopAnswer(short="it", sentences=[sentence])
    return LoopProof(_QUESTION, passages, judge=None).by_rules(answer)


def _read(name: str) -> SentenceFile:
    return SentenceFile.model_validate_json((DATA / name).read_text(encoding="utf-8"))
