"""Name the work of each model role as a person says it; the ledger keeps the roles' own names."""

from collections.abc import Mapping

from holdfast.models.wire.role_names import RoleName

_WORK: Mapping[str, str] = {
    RoleName.PLANNER: "planning",
    RoleName.REPLANNER: "planning again",
    RoleName.REVISER: "revising the plan",
    RoleName.REPAIRER: "repairing the plan",
    RoleName.GAP_PLANNER: "planning for what is missing",
    RoleName.STEP_PLANNER: "planning steps",
    RoleName.OBJECTIVES: "setting objectives",
    RoleName.STEPPER: "choosing the next step",
    RoleName.LOOP_AGENT: "searching and answering",
    RoleName.COMPACTOR: "shortening the dialogue",
    RoleName.ANSWER_JUDGE: "judging the answer",
    RoleName.ASSESSOR: "judging the last step",
    RoleName.EXTRACTOR: "reading what was found",
    RoleName.MATCHER: "matching values",
    RoleName.REASONER: "drawing conclusions",
    RoleName.ANSWERER: "answering",
    RoleName.VERIFIER: "checking results",
    RoleName.SENTENCE_CHECKER: "checking sentences",
    RoleName.SENTENCE_CORRECTOR: "correcting sentences",
    RoleName.SYNTHESISER: "writing the report",
    RoleName.CONDENSER: "condensing results",
    RoleName.CLAIM_MATCHER: "comparing reports",
}


def work_of_role(role: str) -> str:
    """The work of the role in words; of a role of the installation's own, its name."""
    return _WORK.get(role, role.replace("_", " "))
