"""Claim matcher role: pair the claims of two reports that rules could not match."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from holdfast.models.answer_draft import Draft
from holdfast.models.frozen_model import Frozen
from holdfast.models.text.meant_ids import bare_id
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role

_ClaimId = Annotated[str, AfterValidator(bare_id), StringConstraints(to_upper=True)]
"""`a1` and `[A1]` are A1."""


class ShownClaim(Frozen):
    """A claim of a report."""

    id: str = Field(description="A1, A2 and so on in the first report, B1, B2 in the second")
    text: str


class ClaimMatcherTask(Frozen):
    """What the claim matcher is given: the claims of two reports that are left over."""

    questions: tuple[str, ...]
    """One if both reports answer the same question."""
    first: tuple[ShownClaim, ...]
    second: tuple[ShownClaim, ...]


class PairedClaims(Draft):
    """A claim of each report that make the same statement."""

    first: _ClaimId
    second: _ClaimId
    why: str = Field(default="", description="what differs, in a few words; empty if nothing does")
    same_value: bool = Field(description="false if they cannot both be true")


class ClaimMatcherAnswer(Draft):
    """The pairs; a claim in none of them has no partner."""

    pairs: list[PairedClaims] = Field(default_factory=list)


CLAIM_MATCHER = Role(
    name=RoleName.CLAIM_MATCHER.value,
    instructions="""\
Claims of two reports, `first` and `second`, are left over, because their words are too unlike. Pair
those that state the same fact about the same subject, be it in other words or with another value
(name, number, date, cause, yes or no). `same_value` says whether both can be true. A bare value
answers the reports' question, or each report its own of the two `questions`.
- Another subject, property, time or place is no pair, and a broader or narrower claim is none.
- A claim is in one pair at most, and often in none. When in doubt, leave it out: a false pair hides
  that a claim is new or gone.
Example: A1 "Ida Voss drew up Halm Tower." with B2 "The architect of Halm Tower is Jan Orb." is
{"first":"A1","second":"B2","why":"another architect","same_value":false}
""",
    foreign_fields=("questions", "first", "second"),
    task=ClaimMatcherTask,
    answer=ClaimMatcherAnswer,
)
