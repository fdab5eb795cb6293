"""The stepper by rules: the next search, another way after a failure, and the end."""

from dataclasses import replace

from roles.extractive.agenda import Agenda, agenda_of, said_of
from roles.extractive.planning import Step, inputs_for, reference
from roles.extractive.progress import Progress, outputs_of, progress_of
from roles.extractive.replanning import MORE_HITS
from roles.extractive.text import words
from roles.extractive.toolbox import SearchTool
from roles.extractive.working import TRIES, another_way
from roles.node_planner import NodeTask
from roles.stepper import DraftCall, StepAnswer


def next_step(task: NodeTask) -> StepAnswer:
    """The next call, the outputs once they are there, or why there will be none."""
    one = agenda_of(task)
    outputs = outputs_of(one, task)
    if outputs:
        return StepAnswer(thought="What was promised is found.", outputs=outputs)
    if task.must_end:
        return StepAnswer(give_up=f"Not found when the work had to end: {task.must_end}")
    calls = _calls(one, progress_of(one, task.trace), len(task.trace))
    if calls:
        return StepAnswer(thought=f"Still to find: {calls[0].description}", calls=calls)
    return StepAnswer(give_up=_why(one))


def _why(one: Agenda) -> str:
    if one.tool is None:
        return "What is given does not show it, and there is no tool to search with."
    return f"Searched in {TRIES} ways, and nothing shows it: {one.question.text[:300]}"


def _calls(one: Agenda, progress: Progress, taken: int) -> list[DraftCall]:
    """The searches that can be made now; none once each way was tried."""
    if one.tool is None or not one.hops or taken >= TRIES * len(one.hops) + 1:
        return []
    calls = []
    for hop in progress.open_hops(one):
        attempt = progress.failures.get(hop.id, 0)
        if attempt >= TRIES:
            return []
        again = another_way(one, hop, attempt, progress.said.get(hop.id, ""))
        calls.append(_call(_going_on(again, hop, progress), one.tool, MORE_HITS if attempt else 0))
    return calls


def _going_on(again: Step, hop: Step, progress: Progress) -> Step:
    """The search with what the hop before it found, by reference where that is a name."""
    before = progress.found.get(hop.after)
    if before is None:
        return again
    name = next((each for each in before.found if reference(hop.after, each) in hop.query), "")
    value = before.found.get(name) or next(iter(before.found.values()), "")
    told = " ".join(each.text for each in words(str(value)))[:_LONGEST_PART]
    is_name = bool(name) and isinstance(value, str) and len(words(value)) <= _LONGEST_NAME
    is_name = is_name and hop.after not in progress.read
    rest = again.query.replace(reference(hop.after, name), " ")
    query = f"{reference(before.id, name) if is_name else told} {rest}"
    first = said_of(again.wants[0], told)
    return replace(again, query=" ".join(query.split()), wants=(first, *again.wants[1:]))


_LONGEST_NAME = 12
_LONGEST_PART = 200


def _call(step: Step, tool: SearchTool, hits: int) -> DraftCall:
    return DraftCall(
        tool=tool.name,
        description=f"Search for: {step.about}"[:500],
        inputs=inputs_for(tool, step.query, hits),
        expects=list(step.wants),
    )
