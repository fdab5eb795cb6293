"""Keep the result of each question and contestant as a file, so that a comparison continues."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from holdfast.evals.peers.contestants.contestant_interface import Delivered
from holdfast.evals.peers.exchange_records import Usage
from holdfast.evals.peers.question_sets import PeerQuestion, QuestionSet
from holdfast.models.calls.model_requests import canonical_hash
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen


class PeerRun(Frozen):
    """What came of one question with one contestant."""

    contestant: str
    question: str
    question_hash: str
    model: str
    right: tuple[str, ...]
    verdict: str
    judged_by: str = ""
    usage: Usage
    delivered: Delivered
    seconds: float = 0.0


def question_hash(question: PeerQuestion, given: QuestionSet) -> str:
    """What makes two questions the same one: its words, its answers, and the documents."""
    return canonical_hash([question.text, list(question.answers), given.collection])[:16]


@dataclass(frozen=True)
class PeerRecords:
    """The folder with the results of a comparison."""

    folder: Path

    def done(
        self, contestant: str, question: PeerQuestion, given: QuestionSet, model: str
    ) -> PeerRun | None:
        """The stored result, if there is one.

        Raises:
            BadInput: it is of another model or another question, or the file is no result.
        """
        path = self._path(contestant, question.id)
        if not path.exists():
            return None
        try:
            run = PeerRun.model_validate_json(path.read_text(encoding="utf-8"))
        except ValidationError as error:
            raise BadInput(f"{str(path)!r} is no result: {error}") from None
        if (run.model, run.question_hash) != (model, question_hash(question, given)):
            raise BadInput(
                f"{str(path)!r} is the result of another model or question; give another --out"
            )
        return run

    def add(self, run: PeerRun) -> None:
        """Keep a result."""
        path = self._path(run.contestant, run.question)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        draft.write_text(run.model_dump_json(indent=1), encoding="utf-8")
        draft.rename(path)

    def all(self, contestants: Iterable[str], questions: Iterable[str]) -> list[PeerRun]:
        """Every stored result of these contestants and questions."""
        asked = list(questions)
        paths = [self._path(each, question) for each in contestants for question in asked]
        return [
            PeerRun.model_validate_json(path.read_text(encoding="utf-8"))
            for path in paths
            if path.exists()
        ]

    def _path(self, contestant: str, question: str) -> Path:
        return self.folder / contestant / f"{question}.json"
