"""The built-in model: reads the typed task of a request and plays the role by rules."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from models.completions import Completion, ModelRequest
from models.errors import ModelUnusable
from roles.answerer import AnswererTask
from roles.condenser import CondenserTask
from roles.extractive.answering import answer
from roles.extractive.assessing import assess
from roles.extractive.condensing import check_sentences, condense
from roles.extractive.extraction import extract
from roles.extractive.graphs import plan_graph, replan_graph
from roles.extractive.matching import match
from roles.extractive.planning import plan
from roles.extractive.reasoning import reason
from roles.extractive.replanning import replan
from roles.extractive.revising import revise
from roles.extractive.reworking import replan_steps
from roles.extractive.stepping import next_step
from roles.extractive.synthesis import synthesise
from roles.extractive.verifying import fill, verify
from roles.extractive.working import objectives, plan_node, repair
from roles.extractor import ExtractorTask
from roles.gap_planner import GapTask
from roles.matcher import MatcherTask
from roles.node_planner import NodeTask
from roles.planner import PlannerTask
from roles.reasoner import ReasonerTask
from roles.replanner import ReplannerTask
from roles.reviser import ReviserTask
from roles.sentence_checker import SentenceCheckerTask
from roles.synthesiser import SynthesiserTask
from roles.verifier import VerifierTask

NAME = "extractive"


def _planned(task: PlannerTask) -> BaseModel:
    """A plan of calls, or of sub-questions where there are agents to work them."""
    return plan_graph(task) if task.agents else plan(task)


def _replanned(task: ReplannerTask) -> BaseModel:
    """The same of the continuation; one agent's steps end with what that agent promised."""
    if task.agents:
        return replan_graph(task)
    return replan_steps(task) if task.expects else replan(task)


_PLAYERS: dict[str, Callable[[str], BaseModel]] = {
    "planner": lambda text: _planned(PlannerTask.model_validate_json(text)),
    "replanner": lambda text: _replanned(ReplannerTask.model_validate_json(text)),
    "node_planner": lambda text: plan_node(NodeTask.model_validate_json(text)),
    "objectives": lambda text: objectives(NodeTask.model_validate_json(text)),
    "repairer": lambda text: repair(NodeTask.model_validate_json(text)),
    "stepper": lambda text: next_step(NodeTask.model_validate_json(text)),
    "assessor": lambda text: assess(NodeTask.model_validate_json(text)),
    "reviser": lambda text: revise(ReviserTask.model_validate_json(text)),
    "matcher": lambda text: match(MatcherTask.model_validate_json(text)),
    "extractor": lambda text: extract(ExtractorTask.model_validate_json(text)),
    "reasoner": lambda text: reason(ReasonerTask.model_validate_json(text)),
    "answerer": lambda text: answer(AnswererTask.model_validate_json(text)),
    "synthesiser": lambda text: synthesise(SynthesiserTask.model_validate_json(text)),
    "verifier": lambda text: verify(VerifierTask.model_validate_json(text)),
    "gap_planner": lambda text: fill(GapTask.model_validate_json(text)),
    "condenser": lambda text: condense(CondenserTask.model_validate_json(text)),
    "sentence_checker": lambda text: check_sentences(SentenceCheckerTask.model_validate_json(text)),
}


@dataclass(frozen=True)
class ExtractiveModel:
    """Plays every role without a key, a network or weights; the same task gets the same reply."""

    async def complete(self, request: ModelRequest) -> Completion:
        """The reply to one request; it costs no tokens.

        Raises:
            ModelUnusable: the role is not one that the rules play, or its task is malformed.
        """
        return Completion(text=reply(request).model_dump_json(), model=NAME)


def reply(request: ModelRequest) -> BaseModel:
    """The role's answer to the task in the first user message.

    Raises:
        ModelUnusable: the role is not one that the rules play, or its task is malformed.
    """
    player = _PLAYERS.get(request.role)
    task = next((each.content for each in request.messages if each.role == "user"), None)
    if player is None or task is None:
        known = ", ".join(sorted(_PLAYERS))
        raise ModelUnusable(f"extractive plays {known}; it cannot play {request.role!r}")
    try:
        return player(task)
    except ValidationError as error:
        raise ModelUnusable(f"the task of role {request.role!r} is malformed: {error}") from error
