"""Stepper by rules: make the next search, retry a failed search, or end the task."""

from dataclasses import replace

from holdfast.models.tasks.agent_role_task import AgentRoleTask
from holdfast.planning.plans.search_tool_choice import SearchTool
from holdfast.roles.agents.stepper import DraftCall, StepperAnswer
from holdfast.roles.extractive.agents.search_progress import (
    SearchProgress,
    promised_outputs,
    search_progress,
)
from holdfast.roles.extractive.agents.step_planner_rules import MOST_TRIES, retry_search
from holdfast.roles.extractive.planning.planner_rules import (
    SearchStep,
    entity_reference,
    search_inputs,
)
from holdfast.roles.extractive.planning.replanner_rules import MORE_HITS
from holdfast.roles.extractive.planning.search_agenda import (
    SearchAgenda,
    agenda_for_agent,
    described_with,
)
from holdfast.roles.extractive.text.words_and_sentences import words


def next_step(task: AgentRoleTask) -> StepperAnswer:
    """The next call, the outputs once they are there, or why there will be none."""
    one = agenda_for_agent(task)
    outputs = promised_outputs(one, task)
    if outputs:
        return StepperAnswer(thought="What was promised is found.", outputs=outputs)
    if task.must_end:
        return StepperAnswer(give_up=f"Not found when the work had to end: {task.must_end}")
    calls = _calls(one, search_progress(one, task.trace), len(task.trace))
    if calls:
        return StepperAnswer(thought=f"Still to find: {calls[0].description}", calls=calls)
    return StepperAnswer(give_up=_why(one))


def _why(one: SearchAgenda) -> str:
    if one.tool is None:
        return "What is given does not show it, and there is no tool to search with."
    return f"Searched in {MOST_TRIES} ways, and nothing shows it: {one.question.text[:300]}"


def _calls(one: SearchAgenda, progress: SearchProgress, taken: int) -> list[DraftCall]:
    """The searches that can be made now; none once each way was tried."""
    if one.tool is None or not one.searches or taken >= MOST_TRIES * len(one.searches) + 1:
        return []
    calls = []
    for hop in progress.open_searches(one):
        attempt = progress.failures.get(hop.id, 0)
        if attempt >= MOST_TRIES:
            return []
        again = retry_search(one, hop, attempt, progress.said.get(hop.id, ""))
        calls.append(
            _call(_with_earlier_value(again, hop, progress), one.tool, MORE_HITS if attempt else 0)
        )
    return calls


def _with_earlier_value(again: SearchStep, hop: SearchStep, progress: SearchProgress) -> SearchStep:
    """The search with what the hop before it found, by reference where that is a name."""
    before = progress.found.get(hop.after)
    if before is None:
        return again
    name = next(
        (each for each in before.found if entity_reference(hop.after, each) in hop.query), ""
    )
    value = before.found.get(name) or next(iter(before.found.values()), "")
    told = " ".join(each.text for each in words(str(value)))[:_LONGEST_PART]
    is_name = bool(name) and isinstance(value, str) and len(words(value)) <= _LONGEST_NAME
    is_name = is_name and hop.after not in progress.read
    rest = again.query.replace(entity_reference(hop.after, name), " ")
    query = f"{entity_reference(before.id, name) if is_name else told} {rest}"
    first = described_with(again.wants[0], told)
    return replace(again, query=" ".join(query.split()), wants=(first, *again.wants[1:]))


_LONGEST_NAME = 12
_LONGEST_PART = 200


def _call(step: SearchStep, tool: SearchTool, hits: int) -> DraftCall:
    return DraftCall(
        tool=tool.name,
        description=f"Search for: {step.about}"[:500],
        inputs=search_inputs(tool, step.query, hits),
        expects=list(step.wants),
    )
