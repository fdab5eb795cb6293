"""Name the routes by which a job can come to its answer; a calibration rates each of them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import Field


class AnswerRoute(StrEnum):
    """How an answer was reached, as far as the plan and the answer show it."""

    OPEN = "open"
    """The question has no short answer: it asks why or how, or for an account."""
    STATED = "stated"
    """One quote says the answer and most of what the question asks."""
    SENTENCE = "sentence"
    """The answer has more words than a short answer has."""
    LOOP = "loop"
    """A cited loop answered after few searches."""
    LONG_LOOP = "long_loop"
    """A cited loop answered after more searches."""
    CONCLUDED = "concluded"
    """The report's writer concluded the answer from the results."""
    AGENT = "agent"
    """An agent answered the last task."""
    YES_OR_NO = "yes_or_no"
    CHOSEN = "chosen"
    """Two values were compared, and one of the things that the question names was chosen."""
    SHARED = "shared"
    """The answer was deduced from two values or more, and is none of the things named."""
    ECHOED = "echoed"
    """Most words of the answer stand in the question."""
    PASSAGE = "passage"
    """The answer was read out of a passage that was taken because no value was sure enough."""
    REPLANNED = "replanned"
    """The answer is a value, or an agent's, that was found after a replan."""
    CHAINED = "chained"
    """The answer is a value of the first plan that depends on another value."""
    DIRECT = "direct"
    """The answer is a value that the first plan found with one search."""
    ANY = "any"
    """In a table: the share over all answers, for the routes that have no row of their own."""


RouteTable: TypeAlias = Mapping[AnswerRoute, Annotated[float, Field(ge=0, le=1)]]
"""The share of right answers by route."""
