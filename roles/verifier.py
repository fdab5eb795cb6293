"""The verifier: whether a result answers its sub-question, and what it lacks (VMAO)."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue

from models.base import Frozen
from models.findings import Passage
from models.plan import Expected
from models.verification import Completeness, Recommendation
from roles.base import Role
from roles.drafts import Draft


class ResultValue(Frozen):
    """An entity of a result."""

    name: str
    value: JsonValue
    description: str = ""
    confidence: float | None = None


class OtherResult(Frozen):
    """The result of another sub-question, to compare with."""

    id: str
    sub_question: str
    values: tuple[ResultValue, ...]


class Dispute(Frozen):
    """Two claims of which at most one is true."""

    one: str
    other: str


class VerifierTask(Frozen):
    """What the verifier is given."""

    question: str = Field(description="the user's question; the sub-question serves it")
    id: str
    sub_question: str
    criteria: str = Field(default="", description="when the result counts as complete")
    expects: tuple[Expected, ...] = ()
    result: tuple[ResultValue, ...]
    evidence: tuple[Passage, ...] = ()
    context: tuple[OtherResult, ...] = Field(
        default=(), description="results that this one was worked from"
    )
    others: tuple[OtherResult, ...] = Field(
        default=(), description="further results that may contradict this one"
    )
    settles: Dispute | None = Field(
        default=None, description="the contradiction for whose sake this was looked up elsewhere"
    )


def _claim(value: object) -> object:
    """A contradiction as plain text is read as well: VMAO's own form."""
    return {"claim": value} if isinstance(value, str) else value


class Claim(Draft):
    """Something in the result that cannot be true together with something else."""

    claim: str = Field(description="what the result says")
    against: str = Field(default="", description="what contradicts it")
    other: str = Field(
        default="", description="the id of the result that says so; empty: the result itself"
    )


class VerifierAnswer(Draft):
    """The verdict on one result."""

    status: Completeness = Field(validation_alias=AliasChoices("status", "verification_status"))
    completeness: float = Field(
        ge=0, le=1, description="0 to 1",
        validation_alias=AliasChoices("completeness", "completeness_score"),
    )  # fmt: skip
    missing: list[str] = Field(
        default_factory=list, description="each thing that is asked for and not there",
        validation_alias=AliasChoices("missing", "missing_aspects"),
    )  # fmt: skip
    contradictions: list[Annotated[Claim, BeforeValidator(_claim)]] = Field(default_factory=list)
    confidence: float = Field(ge=0, le=1, description="0 to 1: how sure this verdict is")
    recommendation: Recommendation = Field(
        description="accept; retry: another attempt may do better; escalate: a person must judge"
    )
    sides_with: Literal["one", "other", "neither"] = Field(
        default="neither", description="where there is `settles`: which claim this result supports"
    )


VERIFIER = Role(
    name="verifier",
    instructions="""\
You verify one result of a research job. You did not work it; judge what is there, add nothing to
it. Go by five criteria:
1. Completeness: every part of the sub-question and each of the `criteria` is answered, and every
   required entity in `expects` has a value.
2. Evidence: each value is stated by a quote; what matters is stated by more than one source.
3. Sources: each quote has a title and an address, and its date fits what is asked.
4. Specificity: names, figures, units and periods, not generalities.
5. Contradictions: within the result, with what it was worked from, and with the other results.
The sub-question serves `question`. A result that answers a sub-question which misreads the
question is not complete, however well it is supported: say so in `missing`.

`status` is `complete` when nothing that matters is missing, `partial` when something useful is
there, else `incomplete`; `completeness` says how much of what is asked is there. Name in `missing`
each thing that another attempt should look for, in words to search by. Report a contradiction only
where both claims cannot be true: other wording, rounding or another period is none. Recommend
`accept`, `retry`, or `escalate` where only a person can judge. Where there is `settles`, say in
`sides_with` which of the two claims this result supports, and do not report that one again.
""",
    foreign=("result", "evidence", "context", "others", "settles"),
    task=VerifierTask,
    answer=VerifierAnswer,
)


def known_ids(task: VerifierTask) -> Mapping[str, OtherResult]:
    """The results that a contradiction may name."""
    return {each.id: each for each in (*task.context, *task.others)}
