"""Map each model role to the phase of a job that its calls are counted in."""

from collections.abc import Mapping
from types import MappingProxyType

from holdfast.models.budget.spend_breakdown import Phase
from holdfast.models.wire.role_names import RoleName

_ROLES: Mapping[Phase, tuple[RoleName, ...]] = {
    Phase.PLANNING: (RoleName.PLANNER,),
    Phase.EXECUTION: (
        RoleName.STEP_PLANNER,
        RoleName.OBJECTIVES,
        RoleName.STEPPER,
        RoleName.LOOP_AGENT,
        RoleName.COMPACTOR,
        RoleName.ASSESSOR,
        RoleName.EXTRACTOR,
        RoleName.REASONER,
        RoleName.ANSWERER,
        RoleName.MATCHER,
    ),
    Phase.VERIFICATION: (RoleName.VERIFIER, RoleName.ANSWER_JUDGE),
    Phase.REPLANNING: (
        RoleName.REPLANNER,
        RoleName.REPAIRER,
        RoleName.REVISER,
        RoleName.GAP_PLANNER,
    ),
    Phase.SYNTHESIS: (
        RoleName.SYNTHESISER,
        RoleName.CONDENSER,
        RoleName.SENTENCE_CHECKER,
        RoleName.SENTENCE_CORRECTOR,
    ),
    Phase.COMPARISON: (RoleName.CLAIM_MATCHER,),
}

PHASE_BY_ROLE: Mapping[str, Phase] = MappingProxyType(
    {role: phase for phase, roles in _ROLES.items() for role in roles}
)

DEVIATION_ROLES = tuple(role.value for role in _ROLES[Phase.REPLANNING])
"""Roles that handle deviations from the plan; their output is reported apart (TDP-08)."""


def phase_of(role: str) -> Phase:
    """Return the phase of a role; a role that is not listed belongs to execution."""
    return PHASE_BY_ROLE.get(role, Phase.EXECUTION)
