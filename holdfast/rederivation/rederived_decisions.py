"""Define what a rederivation says of each decision."""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import JsonValue, computed_field

from holdfast.models.frozen_model import Frozen


class DecisionKind(StrEnum):
    """What was decided by code over recorded answers."""

    PLAN_CHANGE = "plan change"
    VERDICT = "verdict"
    STOP_CONDITIONS = "stop conditions"
    DELIVERY_CHECK = "delivery check"


class Outcome(StrEnum):
    """How the derived decision compares with the stored one."""

    SAME = "same"
    DIFFERENT = "different"
    NOT_DERIVABLE = "not derivable"
    """What the decision was made from is not stored any more; the note says what."""


class RederivedDecision(Frozen):
    """One decision, derived again."""

    kind: DecisionKind
    name: str
    outcome: Outcome
    stored: JsonValue = None
    derived: JsonValue = None
    """Filled in where the two differ."""
    note: str = ""


class Rederivation(Frozen):
    """`holdfast rederive JOB`."""

    job_id: str
    decisions: tuple[RederivedDecision, ...]

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own pattern
    @property
    def counts(self) -> dict[str, int]:
        """How many decisions have each outcome."""
        return {
            each.value: sum(decision.outcome is each for decision in self.decisions)
            for each in Outcome
        }

    @property
    def is_same(self) -> bool:
        """True if no decision is different."""
        return all(each.outcome is not Outcome.DIFFERENT for each in self.decisions)


def compared(
    kind: DecisionKind, name: str, stored: JsonValue, derived: JsonValue
) -> RederivedDecision:
    """Return the comparison of a stored decision with the derived one."""
    if stored == derived:
        return RederivedDecision(kind=kind, name=name, outcome=Outcome.SAME)
    return RederivedDecision(
        kind=kind, name=name, outcome=Outcome.DIFFERENT, stored=stored, derived=derived
    )


def not_derivable(kind: DecisionKind, name: str, why: str) -> RederivedDecision:
    return RederivedDecision(kind=kind, name=name, outcome=Outcome.NOT_DERIVABLE, note=why)


def worst_first(decisions: Sequence[RederivedDecision]) -> list[RederivedDecision]:
    """Return the decisions that are not the same, those that differ first."""
    rank = {Outcome.DIFFERENT: 0, Outcome.NOT_DERIVABLE: 1}
    return sorted(
        (each for each in decisions if each.outcome in rank), key=lambda each: rank[each.outcome]
    )
