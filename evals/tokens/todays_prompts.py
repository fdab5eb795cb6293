"""Write the prompt of a recorded input as today's code sends it to an endpoint."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.evals.tokens.prompt_parts import prompt_parts
from holdfast.evals.tokens.recorded_requests import DEFAULT_FILE, RecordedRequest
from holdfast.models.answer_draft import Draft
from holdfast.models.calls.model_requests import Message, ModelRequest
from holdfast.models.frozen_model import Frozen
from holdfast.models.loop.loop_functions import (
    ANSWER,
    ASK,
    SEARCH,
    SPLIT,
    USE,
    AskArguments,
    LoopAnswer,
    SearchArguments,
    SplitArguments,
    UseArguments,
)
from holdfast.models.loop.loop_messages import LoopTask
from holdfast.roles.agents.answerer import ANSWERER
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.dialogue.model_dialogue import opening_request
from holdfast.roles.dialogue.recorded_content import recorded_task
from holdfast.roles.dialogue.role_definition import NEVER_OBEY, Role
from holdfast.roles.endpoints.chat_request import (
    NATIVE_FUNCTIONS,
    RESPONSE_FORMATS,
    chat_body,
    messages_with_schema,
)
from holdfast.roles.loop.answer_judge import ANSWER_JUDGE
from holdfast.roles.loop.compactor import COMPACTOR
from holdfast.roles.loop.loop_agent import INSTRUCTIONS, ROLE, offered_functions
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER, STEP_PLANNER
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.planning.planner import (
    AGENT_TASK_PLANNER,
    CONTINUED_PLANNER,
    PLANNER,
    ContinuedPlannerTask,
)
from holdfast.roles.planning.replanner import (
    AGENT_TASK_REPLANNER,
    LOOP_TASK_REPLANNER,
    REPLANNER,
    STEP_REPLANNER,
    LoopReplannerTask,
)
from holdfast.roles.planning.reviser import REVISER
from holdfast.roles.reports.claim_matcher import CLAIM_MATCHER
from holdfast.roles.reports.condenser import CONDENSER
from holdfast.roles.reports.sentence_corrector import SENTENCE_CORRECTOR
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.matcher import MATCHER
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.roles.verification.sentence_checker import SENTENCE_CHECKER
from holdfast.roles.verification.verifier import VERIFIER

_AnyRole = Role[Any, Any]
FUNCTIONS: Mapping[str, type[Draft]] = {
    SEARCH: SearchArguments,
    USE: UseArguments,
    ASK: AskArguments,
    SPLIT: SplitArguments,
    ANSWER: LoopAnswer,
}
"""The functions of a loop by their names, with the types of their arguments."""
RENAMED_ROLES: Mapping[str, str] = json.loads(
    DEFAULT_FILE.with_name("renamed_roles.json").read_text("utf-8")
)
"""Names of roles at commit b141a55 that have another name today."""


def _planner(prompt: str) -> _AnyRole:
    task = recorded_task(CONTINUED_PLANNER, prompt)
    if not isinstance(task, ContinuedPlannerTask) or not task.agents:
        return PLANNER
    return CONTINUED_PLANNER if task.found else AGENT_TASK_PLANNER


def _replanner(prompt: str) -> _AnyRole:
    task = recorded_task(LOOP_TASK_REPLANNER, prompt)
    if not isinstance(task, LoopReplannerTask) or not task.agents:
        is_step = task is not None and "." in task.failed_task_id
        return STEP_REPLANNER if is_step else REPLANNER
    return LOOP_TASK_REPLANNER if task.found else AGENT_TASK_REPLANNER


_CHOSEN: Mapping[str, Callable[[str], _AnyRole]] = {
    PLANNER.name: _planner,
    REPLANNER.name: _replanner,
}
_ROLES: Mapping[str, _AnyRole] = {
    role.name: role
    for role in (
        STEP_PLANNER,
        OBJECTIVES,
        REPAIRER,
        STEPPER,
        ASSESSOR,
        REVISER,
        MATCHER,
        EXTRACTOR,
        REASONER,
        ANSWERER,
        SYNTHESISER,
        VERIFIER,
        GAP_PLANNER,
        CONDENSER,
        SENTENCE_CHECKER,
        SENTENCE_CORRECTOR,
        ANSWER_JUDGE,
        COMPACTOR,
        CLAIM_MATCHER,
    )
}

PROMPTS: Mapping[str, _AnyRole] = {
    **_ROLES,
    PLANNER.name: PLANNER,
    "planner of sub-questions": AGENT_TASK_PLANNER,
    "planner after a loop": CONTINUED_PLANNER,
    REPLANNER.name: REPLANNER,
    "replanner of steps": STEP_REPLANNER,
    "replanner of sub-questions": AGENT_TASK_REPLANNER,
    "replanner of loops": LOOP_TASK_REPLANNER,
}
"""Every prompt of a role by its name; a role may have several."""


class TodaysPrompt(Frozen):
    """A recorded input in today's words."""

    messages: tuple[str, ...]
    parts: Mapping[str, int]
    """Characters by part."""


def todays_prompt(request: RecordedRequest, rung: str) -> TodaysPrompt | None:
    """The prompt of the same input; None if today's roles take no such input.

    `rung` is one of `RESPONSE_FORMATS`. At `json_schema` the endpoint shows the schema to the
    model, so the prompt does not repeat it.
    """
    if request.functions:
        return _loop_prompt(request, rung)
    role = role_of(request)
    task = None if role is None else recorded_task(role, request.prompt)
    if role is None or task is None:
        return None
    return _prompt_of(role, task, request.later_messages, rung)


def role_of(request: RecordedRequest) -> Role[Any, Any] | None:
    """Return today's role of a recorded request; None if no role has its name."""
    name = RENAMED_ROLES.get(request.role, request.role)
    choose = _CHOSEN.get(name)
    return choose(request.prompt) if choose else _ROLES.get(name)


def prompt_name(role: Role[Any, Any]) -> str:
    """Return the name in `PROMPTS` of a role's prompt."""
    return next(name for name, each in PROMPTS.items() if each is role)


def _loop_prompt(request: RecordedRequest, rung: str) -> TodaysPrompt:
    """The turn of a loop; where schemas are enforced, its functions are native tool calls."""
    task = LoopTask.model_validate(request.task)
    opening = (
        Message(role="system", content=INSTRUCTIONS),
        Message(role="user", content=task.model_dump_json(exclude_defaults=True)),
    )
    functions = offered_functions({name: FUNCTIONS[name] for name in request.functions})
    asked = ModelRequest(model="any", role=ROLE, messages=opening, functions=functions)
    is_native = rung == RESPONSE_FORMATS[0]
    messages = asked.messages if is_native else messages_with_schema(asked)
    body = chat_body(asked, messages, NATIVE_FUNCTIONS if is_native else rung, {}, "any")
    system, prompt = (str(each["content"]) for each in body["messages"])
    instructions = len(INSTRUCTIONS) - len(NEVER_OBEY)
    tools = len(json.dumps(body.get("tools", []), ensure_ascii=False)) if is_native else 0
    parts = Counter(
        instructions=instructions,
        notice=len(NEVER_OBEY),
        tools=tools + len(system) - len(INSTRUCTIONS),
        data=len(prompt),
        feedback=sum(map(len, request.later_messages)),
    )
    return TodaysPrompt(messages=(system, prompt, *request.later_messages), parts=parts)


def _prompt_of(role: _AnyRole, task: Frozen, later: Sequence[str], rung: str) -> TodaysPrompt:
    request = opening_request(role, task, model_name="any")
    is_told = rung == RESPONSE_FORMATS[0]
    messages = request.messages if is_told else messages_with_schema(request)
    body = chat_body(request, messages, rung, {}, "any")
    system, prompt = (str(each["content"]) for each in body["messages"])
    instructions = len(role.instructions.rstrip())
    parts = Counter(
        instructions=instructions,
        notice=len(role.system) - instructions,
        schema=len(system) - len(role.system),
        feedback=sum(map(len, later)),
    )
    parts.update(prompt_parts(prompt))
    return TodaysPrompt(messages=(system, prompt, *later), parts=parts)
