"""Read the typed task of a model request and play the requested role by rules."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic

from pydantic import BaseModel, ValidationError

from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.errors import ModelUnusable
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.follow_up import without_context
from holdfast.models.plans.plan_drafts import AgentPlanDraft
from holdfast.models.reports.report_writer_messages import SynthesiserTask
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.models.tasks.agent_role_task import AgentRoleTask
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.models.verification.gap_plan_drafts import GapPlannerTask
from holdfast.models.verification.verifier_messages import VerifierTask
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.agents.answerer import AnswererTask
from holdfast.roles.dialogue.role_definition import TaskT
from holdfast.roles.extractive.agents.assessor_rules import assess
from holdfast.roles.extractive.agents.known_item_answerer import answer
from holdfast.roles.extractive.agents.step_planner_rules import (
    objectives,
    plan_steps,
    repair_objectives,
)
from holdfast.roles.extractive.agents.step_replanner_rules import replan_steps
from holdfast.roles.extractive.agents.stepper_rules import next_step
from holdfast.roles.extractive.extraction.extractor_rules import extract_for_plan
from holdfast.roles.extractive.loop.loop_rules import play_loop
from holdfast.roles.extractive.planning.agent_plan_rules import plan_agent_tasks, replan_agent_tasks
from holdfast.roles.extractive.planning.planner_rules import plan_by_rules
from holdfast.roles.extractive.planning.replanner_rules import replan_by_rules
from holdfast.roles.extractive.planning.reviser_rules import revise
from holdfast.roles.extractive.questions.declined_questions import why_declined
from holdfast.roles.extractive.reports.condenser_rules import condense
from holdfast.roles.extractive.reports.sentence_corrector_rules import correct_by_rules
from holdfast.roles.extractive.reports.synthesiser_rules import synthesise
from holdfast.roles.extractive.tasks.matcher_rules import match
from holdfast.roles.extractive.tasks.reasoner_rules import reason_by_rules
from holdfast.roles.extractive.verification.gap_planner_rules import fill_gaps_by_rules
from holdfast.roles.extractive.verification.sentence_checker_rules import check_sentences
from holdfast.roles.extractive.verification.verifier_rules import verify
from holdfast.roles.planning.planner import ContinuedPlannerTask
from holdfast.roles.planning.replanner import LoopReplannerTask
from holdfast.roles.planning.reviser import ReviserTask
from holdfast.roles.reports.condenser import CondenserTask
from holdfast.roles.reports.sentence_corrector import SentenceCorrectorTask
from holdfast.roles.tasks.extractor import ExtractorTask
from holdfast.roles.tasks.matcher import MatcherTask
from holdfast.roles.tasks.reasoner import ReasonerTask
from holdfast.roles.verification.sentence_checker import SentenceCheckerTask


def _plan(task: ContinuedPlannerTask) -> BaseModel:
    """The plan: agent tasks if there are agents, else tool tasks.

    After a loop that declined the question it is empty: no search can find what is not stated.
    """
    if task.found is not None and (declined := why_declined(task.question)):
        return AgentPlanDraft(explanation=declined, tasks=[])
    return plan_agent_tasks(task) if task.agents else plan_by_rules(task)


def _replan(task: ReplannerTask) -> BaseModel:
    """The continuation: agent tasks, the steps of one agent task, or tool tasks."""
    if task.agents:
        return replan_agent_tasks(task)
    return replan_steps(task) if task.expects else replan_by_rules(task)


@dataclass(frozen=True)
class RoleRules(Generic[TaskT]):
    """The rules of one role, and the type of the task that they answer."""

    task: type[TaskT]
    rules: Callable[[TaskT], BaseModel]

    def answer(self, task: Frozen | None, prompt: str) -> BaseModel:
        """The answer to the typed task, or to the task in the prompt where there is none.

        Raises:
            ValidationError: it is no task of this role.
        """
        if task is None:
            return self.rules(_alone(self.task.model_validate_json(prompt)))
        return self.rules(_alone(self.task.model_validate(dict(task))))


def _alone(task: TaskT) -> TaskT:
    """The task without the questions that its question follows: rules take one question apart."""
    question = getattr(task, "question", "")
    return task.model_copy(update={"question": without_context(question)}) if question else task


_RULES_BY_ROLE: dict[str, RoleRules[Any]] = {
    RoleName.PLANNER: RoleRules(ContinuedPlannerTask, _plan),
    RoleName.REPLANNER: RoleRules(LoopReplannerTask, _replan),
    RoleName.STEP_PLANNER: RoleRules(AgentRoleTask, plan_steps),
    RoleName.OBJECTIVES: RoleRules(AgentRoleTask, objectives),
    RoleName.REPAIRER: RoleRules(AgentRoleTask, repair_objectives),
    RoleName.STEPPER: RoleRules(AgentRoleTask, next_step),
    RoleName.ASSESSOR: RoleRules(AgentRoleTask, assess),
    RoleName.REVISER: RoleRules(ReviserTask, revise),
    RoleName.MATCHER: RoleRules(MatcherTask, match),
    RoleName.EXTRACTOR: RoleRules(ExtractorTask, extract_for_plan),
    RoleName.REASONER: RoleRules(ReasonerTask, reason_by_rules),
    RoleName.ANSWERER: RoleRules(AnswererTask, answer),
    RoleName.SYNTHESISER: RoleRules(SynthesiserTask, synthesise),
    RoleName.VERIFIER: RoleRules(VerifierTask, verify),
    RoleName.GAP_PLANNER: RoleRules(GapPlannerTask, fill_gaps_by_rules),
    RoleName.CONDENSER: RoleRules(CondenserTask, condense),
    RoleName.SENTENCE_CHECKER: RoleRules(SentenceCheckerTask, check_sentences),
    RoleName.SENTENCE_CORRECTOR: RoleRules(SentenceCorrectorTask, correct_by_rules),
}


@dataclass(frozen=True)
class ExtractiveModel:
    """Plays every role without a key, a network or weights; the same task gets the same reply."""

    async def complete(
        self,
        request: ModelRequest,
        progress: CallProgress | None = None,  # noqa: ARG002 - a `Model`
    ) -> Completion:
        """The reply to one request; it costs no tokens.

        Raises:
            ModelUnusable: the role is not one that the rules play, or its task is malformed.
        """
        return Completion(text=play_role(request).model_dump_json(), model=EXTRACTIVE_MODEL)


def play_role(request: ModelRequest) -> BaseModel:
    """The answer of the rules to the task in the first user message.

    Raises:
        ModelUnusable: the role is not one that the rules play, or its task is malformed.
    """
    if request.role == RoleName.LOOP_AGENT:
        return play_loop(request)
    rules = _RULES_BY_ROLE.get(request.role)
    task = next((each.content for each in request.messages if each.role == "user"), None)
    if rules is None or task is None:
        roles = ", ".join(sorted(_RULES_BY_ROLE))
        raise ModelUnusable(f"extractive plays {roles}; it cannot play {request.role!r}")
    try:
        return rules.answer(request.task, task)
    except ValidationError as error:
        raise ModelUnusable(f"the task of role {request.role!r} is malformed: {error}") from error
