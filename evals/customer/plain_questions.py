"""Ask plain questions of the forty documents, and say which are answered right.

    python -m holdfast.evals.customer.plain_questions [plain|later|held-out] [--preset research]

Uses the services of this computer and starts them if need be; the documents become the collection
`customer`. One line a question: right, wrong or open, the stated confidence, the answer.
"""

import argparse
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.evals.measures.confidence_figures import RatedAnswer, is_right_answer
from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.python_client import Client

FOLDER = Path(__file__).parent
FILES = {"plain": "plain.toml", "later": "plain-later.toml", "held-out": "plain-held-out.toml"}
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
COLLECTION = "customer"


class PlainQuestion(NamedTuple):
    """A question that one sentence, clause or cell answers, with its right answers."""

    question: str
    answers: tuple[str, ...]
    pages: tuple[str, ...]


class PlainAnswer(NamedTuple):
    """What a job answered; the confidence and the route are None where no answer is given."""

    asked: PlainQuestion
    answer: str
    confidence: float | None
    route: AnswerRoute | None

    @property
    def is_right(self) -> bool:
        """True if the answer says what a right one says, with the same numbers in digits."""
        return bool(self.answer) and any(
            is_right_answer(self.answer, (each,)) and _numbers(self.answer) == _numbers(each)
            for each in self.asked.answers
        )

    @property
    def rated(self) -> RatedAnswer | None:
        """The answer as calibrations take it; None without an answer."""
        if not self.answer or self.confidence is None:
            return None
        return RatedAnswer(self.confidence, self.is_right, self.route)

    @property
    def line(self) -> str:
        """The answer as one line of the table."""
        mark = "right" if self.is_right else "wrong" if self.answer else "open"
        sure = "" if self.confidence is None else f"{self.confidence:.2f}"
        return f"{mark:5}  {sure:4}  {self.route or '':9}  {self.asked.question}  {self.answer}"


def _numbers(text: str) -> list[str]:
    return sorted(each.replace(",", "") for each in _NUMBER.findall(text))


def plain_questions(which: str = "plain") -> tuple[PlainQuestion, ...]:
    """Return the questions of one of the `FILES`."""
    rows = tomllib.loads((FOLDER / FILES[which]).read_text("utf-8"))["question"]
    return tuple(
        PlainQuestion(row["question"], tuple(row["answers"]), tuple(row["pages"])) for row in rows
    )


def ask(client: Client, which: str, preset: str, model: str) -> Iterator[PlainAnswer]:
    """Yield each question's answer, in order; all jobs are submitted at once."""
    client.wait_for_upload(client.add_documents(COLLECTION, FOLDER / "documents").id)
    asked = [
        (each, client.submit(each.question, preset=preset, model=model, collection=COLLECTION))
        for each in plain_questions(which)
    ]
    for question, job in asked:
        ended = client.wait(job.job_id)
        if ended.answer is None:
            yield PlainAnswer(question, "", None, None)
            continue
        report = client.report(job.job_id)
        named = getattr(report, "route", None)  # a field that the client gives no type
        route = None if named is None else AnswerRoute(named)
        yield PlainAnswer(question, str(ended.answer), report.confidence, route)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.evals.customer.plain_questions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("which", nargs="?", choices=FILES, default="plain", help="the questions")
    parser.add_argument("--preset", default="research")
    parser.add_argument("--model", default=EXTRACTIVE_MODEL)
    chosen = parser.parse_args()
    right = wrong = total = 0
    with Client.local() as client:
        for each in ask(client, chosen.which, chosen.preset, chosen.model):
            print(each.line, flush=True)
            total += 1
            right += each.is_right
            wrong += bool(each.answer) and not each.is_right
    print(f"{right} of {total} right, {wrong} wrong")


if __name__ == "__main__":
    main()
