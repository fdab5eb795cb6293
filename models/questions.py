"""Questions to people, and how every question was answered: durable, with a deadline."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from models.base import Frozen


class QuestionKind(StrEnum):
    """What an answer decides."""

    APPROVAL = "approval"
    """Whether the plan is to be worked."""
    QUESTION = "question"
    """What an agent needs to know to go on."""
    ESCALATION = "escalation"
    """What is to become of a result that the verifier cannot accept by itself."""
    BUDGET = "budget"
    """Whether to raise the cap, to report now, or to stop."""


class Origin(StrEnum):
    """Where an answer came from; the user is asked last (WAVE-05)."""

    MEMORY = "memory"
    EVIDENCE = "evidence"
    TASK = "task"
    USER = "user"
    DEFAULT = "default"


class OpenQuestion(Frozen):
    """A question that waits, as the workflow knows it: no words, they are in PostgreSQL."""

    id: int
    kind: QuestionKind
    task_id: str = ""
    deadline: datetime | None = None
    """When the default answers it; none: it waits for somebody."""


class Question(Frozen):
    """A question with its words and, once there is one, its answer."""

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
    origin: Origin | None = None
    answered_by: str = ""
    trail: tuple[str, ...] = Field(
        default=(), description="who was asked before, and what came of it"
    )
    asked_at: datetime
    answered_at: datetime | None = None


class AnswerRequest(Frozen):
    """Answer a question; the words are in PostgreSQL already, under the number `words`."""

    by: str = Field(max_length=200)
    question: int
    choice: str = Field(default="", max_length=40)
    """What the workflow must know of the answer: `approve`, `refuse`, `raise`, `report`, `stop`."""
    words: int | None = None
