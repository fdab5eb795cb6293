"""Define questions to people: kind, choices, deadline, answer, and the origin of the answer."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from holdfast.models.frozen_model import Frozen


class QuestionKind(StrEnum):
    """The subject of a question."""

    APPROVAL = "approval"
    """Approve the plan before it runs."""
    QUESTION = "question"
    """An agent's question."""
    ESCALATION = "escalation"
    """Accept, retry or explain a result that the verifier escalated."""
    BUDGET = "budget"
    """Raise the budget, report now, or stop."""


class QuestionStatus(StrEnum):
    """The status of a question."""

    OPEN = "open"
    """The question waits for an answer."""
    ANSWERED = "answered"
    WITHDRAWN = "withdrawn"
    """The question needs no answer any more."""


class AnswerOrigin(StrEnum):
    """The origin of an answer; the user is asked last (WAVE-05)."""

    MEMORY = "memory"
    EVIDENCE = "evidence"
    TASK = "task"
    USER = "user"
    DEFAULT = "default"


class OpenQuestion(Frozen):
    """An open question as the workflow knows it; its text is in PostgreSQL."""

    id: int
    kind: QuestionKind
    task_id: str = ""
    deadline: datetime | None = None
    """The time of the default answer; None: the question waits for a person."""


class UserQuestion(Frozen):
    """A question with its text and its answer, if there is one."""

    id: int
    job_id: str
    task_id: str = ""
    kind: QuestionKind
    text: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    deadline: datetime | None = None
    is_open: bool = True
    answer: str | None = None
    origin: AnswerOrigin | None = None
    answered_by: str = ""
    trail: tuple[str, ...] = Field(
        default=(), description="who was asked before, and what came of it"
    )
    asked_at: datetime
    answered_at: datetime | None = None


class AnswerRequest(Frozen):
    """Answer a question; free text is in PostgreSQL already, under the number `words`."""

    by: str = Field(max_length=200)
    question: int
    choice: str = Field(default="", max_length=40)
    """The choice: `approve`, `refuse`, `raise`, `report` or `stop`."""
    words: int | None = None
