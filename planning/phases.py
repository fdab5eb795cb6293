"""Which phase of a job a model role belongs to: the one place that says so."""

from collections.abc import Mapping
from types import MappingProxyType

from models.spending import Phase

_ROLES: Mapping[Phase, tuple[str, ...]] = {
    Phase.PLANNING: ("planner",),
    Phase.EXECUTION: (
        "node_planner", "stepper", "assessor", "extractor", "reasoner", "answerer", "matcher",
    ),
    Phase.VERIFICATION: ("verifier",),
    Phase.REPLANNING: ("replanner", "repairer", "reviser", "gap_planner"),
    Phase.SYNTHESIS: ("synthesiser", "condenser", "sentence_checker"),
}  # fmt: skip

PHASES: Mapping[str, Phase] = MappingProxyType(
    {role: phase for phase, roles in _ROLES.items() for role in roles}
)

DEVIATION_ROLES = _ROLES[Phase.REPLANNING]
"""Who is asked when a job does not go as planned; what they write is reported apart (TDP-08)."""


def phase_of(role: str) -> Phase:
    """The phase of a role; one that is not listed works on tasks."""
    return PHASES.get(role, Phase.EXECUTION)
