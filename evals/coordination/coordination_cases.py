"""Read the cases of the coordination benchmark: facts, parts of a plan, conclusions."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Self

from pydantic import model_validator

from holdfast.evals.measures.question_files import EvaluationQuestion
from holdfast.models.frozen_model import Frozen

_FILE = Path(__file__).parent / "cases.toml"
LAST_VALUE = "{last}"
"""Stands in a look-up for the value that was found or given last."""


class CaseFact(Frozen):
    """What the look-up tool of a counter answers."""

    counter: str
    question: str
    answer: str


class CasePart(Frozen):
    """A sub-question, and the look-ups that its agent makes in order."""

    id: str
    question: str
    agent: str
    lookups: tuple[str, ...]
    after: tuple[str, ...] = ()
    first_attempt: int | None = None
    """How many look-ups the agent makes without a hint; None: all."""


class CaseAnswer(Frozen):
    """What is concluded from facts."""

    answer: str
    needs: tuple[str, ...] = ()


class CoordinationCase(Frozen):
    """One case of the benchmark."""

    id: str
    pattern: str
    question: str
    right: str
    shows: str
    facts: tuple[CaseFact, ...]
    parts: tuple[CasePart, ...]
    answers: tuple[CaseAnswer, ...]
    opposed: tuple[str, ...] = ()
    confirms: str = ""
    settled_by: CasePart | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        known = {each.answer for each in self.facts}
        unknown = [need for each in self.answers for need in each.needs if need not in known]
        if unknown:
            raise ValueError(f"case {self.id!r} concludes from what nobody knows: {unknown[0]!r}")
        if self.conclusion(known) != self.right:
            raise ValueError(f"case {self.id!r} does not follow from all of its facts")
        return self

    @property
    def asked(self) -> EvaluationQuestion:
        """The case as a question that a comparison asks."""
        return EvaluationQuestion(self.id, self.question, (self.right,), self.pattern, ())

    def conclusion(self, known: frozenset[str] | set[str]) -> str:
        """The answer that follows from these facts."""
        return next(each.answer for each in self.answers if known.issuperset(each.needs))

    def facts_in(self, text: str) -> frozenset[str]:
        """The facts that a text states letter by letter."""
        return frozenset(each.answer for each in self.facts if each.answer in text)

    def facts_of(self, part: CasePart) -> frozenset[str]:
        """The facts that the part's look-ups find, if each is made."""
        found, last = set(), self._last_before(part)
        for lookup in part.lookups:
            last = self.fact(lookup.replace(LAST_VALUE, last)).answer
            found.add(last)
        return frozenset(found)

    def fact(self, question: str) -> CaseFact:
        """The fact that answers a look-up."""
        return next(each for each in self.facts if each.question == question)

    def _last_before(self, part: CasePart) -> str:
        before = [each for each in self.parts if each.id in part.after]
        found = [fact for each in before for fact in sorted(self.facts_of(each))]
        return found[-1] if found else ""


@cache
def coordination_cases() -> tuple[CoordinationCase, ...]:
    """The seven cases of the benchmark."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["cases"]
    return tuple(CoordinationCase.model_validate(row) for row in rows)
