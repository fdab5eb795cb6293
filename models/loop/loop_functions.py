"""Define what the agent of a cited loop may call: search, use a tool, or answer."""

from pydantic import AliasChoices, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from holdfast.models.answer_draft import Confidence, Draft, DraftValue

SEARCH = "search"
USE = "use"
ASK = "ask"
SPLIT = "split"
ANSWER = "answer"
MOST_QUERIES = 4
"""Queries of one `search` call."""
MAX_QUERY_CHARS = 400


class SearchArguments(Draft):
    """The arguments of `search`."""

    queries: list[str] = Field(
        validation_alias=AliasChoices("queries", "query"),
        description=f"at most {MOST_QUERIES}; plain phrases, no operators",
    )


class UseInput(Draft):
    """One parameter of the tool."""

    name: str
    value: DraftValue


class UseArguments(Draft):
    """The arguments of `use`, which calls one tool."""

    tool: str
    inputs: list[UseInput] = Field(default_factory=list)

    @field_validator("inputs", mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        """The list that an object of the parameters means: most endpoints are offered an object.

        An object of a `name` and a `value` alone may be one element of the list, and is refused.
        """
        if isinstance(value, dict) and value.keys() != {"name", "value"}:
            return [{"name": name, "value": given} for name, given in value.items()]
        return value


class AskArguments(Draft):
    """The arguments of `ask`, which asks the user."""

    question: str
    default: str = ""
    """What is assumed if nobody answers."""


class SplitArguments(Draft):
    """The arguments of `split`, which ends the loop: the question is too wide for one agent."""

    sub_questions: list[str] = Field(
        validation_alias=AliasChoices("sub_questions", "questions"),
        description="each stands alone: who reads nothing else knows what to find out",
    )


class Cite(Draft):
    """A passage, and the words in it that show the sentence."""

    passage: int = Field(validation_alias=AliasChoices("passage", "p"))
    quote: str


class AnswerSentence(Draft):
    """One step of the reasoning, with its proof."""

    text: str
    cites: list[Cite] = Field(default_factory=list)
    replaces: int | None = None
    """In a correction: the number of the refused sentence."""


class PromisedValue(Draft):
    """A value that the task promises, with its proof."""

    name: str
    value: DraftValue
    cites: list[Cite] = Field(default_factory=list)
    confidence: Confidence | None = Field(default=None, description="0 to 1")


class LoopAnswer(Draft):
    """The arguments of `answer`, which ends the loop."""

    short: str = Field(
        description="the answer in the form that the question asks for; empty if unknown",
    )
    sentences: list[AnswerSentence]
    open: list[str] = Field(default_factory=list)


class SubQuestionAnswer(LoopAnswer):
    """The arguments of `answer` of an agent task of a plan."""

    contradicts: str = Field(
        default="",
        description="what shows that the question assumes something wrong; else leave it out",
    )


class PromisingAnswer(SubQuestionAnswer):
    """The arguments of `answer` where the task promises values; these are the short answer."""

    short: SkipJsonSchema[str] = ""
    sentences: list[AnswerSentence] = Field(
        default_factory=list, description="links that the quotes of no value show"
    )
    values: list[PromisedValue] = Field(description="each value in `expects`, by its name")
