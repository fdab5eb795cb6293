"""Define what a contestant is given and delivers."""

from dataclasses import dataclass
from typing import Protocol

from holdfast.evals.peers.question_sets import PeerQuestion, QuestionSet
from holdfast.models.frozen_model import Frozen

ANSWER_LABEL = "Answer:"
CITE_AND_SAY = (
    f"Begin with a line `{ANSWER_LABEL} ...` that has the answer itself. Cite the title of the "
    "passage in [brackets] after every statement. Say what the documents do not state."
)
"""The last sentences of the prompts of those who bring no form of their own."""


@dataclass(frozen=True)
class RunOrder:
    """One question for one contestant."""

    run: str
    """The model's name in the run's requests."""
    question: PeerQuestion
    given: QuestionSet
    address: str
    """The metered endpoint, without `/v1`."""


class Delivered(Frozen):
    """What a contestant delivered, and how much of it can be checked by a program."""

    text: str
    """Everything that a reader is shown."""
    answer: str = ""
    """The answer itself where it stands apart, otherwise the text."""
    citations: int = 0
    citations_that_exist: int = 0
    """Citations whose passage or document is there."""
    quotes: int = 0
    quotes_that_stand: int = 0
    """Quotes that stand word for word where their citation says."""
    searches: int = 0
    failure: str = ""
    """Why nothing was delivered."""


class Contestant(Protocol):
    """Whoever answers the questions."""

    async def answer(self, order: RunOrder) -> Delivered:
        """Return what the contestant delivers for the question."""
        ...
