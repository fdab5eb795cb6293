"""Define the names of the model roles, which recorded calls, events and statistics keep."""

from enum import StrEnum


class RoleName(StrEnum):
    """A role that a model plays; several prompts may share one role."""

    PLANNER = "planner"
    REPLANNER = "replanner"
    REVISER = "reviser"
    REPAIRER = "repairer"
    GAP_PLANNER = "gap_planner"
    STEP_PLANNER = "step_planner"
    OBJECTIVES = "objectives"
    STEPPER = "stepper"
    LOOP_AGENT = "loop_agent"
    COMPACTOR = "compactor"
    ANSWER_JUDGE = "answer_judge"
    ASSESSOR = "assessor"
    EXTRACTOR = "extractor"
    MATCHER = "matcher"
    REASONER = "reasoner"
    ANSWERER = "answerer"
    VERIFIER = "verifier"
    SENTENCE_CHECKER = "sentence_checker"
    SENTENCE_CORRECTOR = "sentence_corrector"
    SYNTHESISER = "synthesiser"
    CONDENSER = "condenser"
    CLAIM_MATCHER = "claim_matcher"
