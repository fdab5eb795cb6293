"""Having the report drafted: in one call, or group by group where there is too much for one."""

import json
from collections.abc import Mapping, Sequence
from functools import partial

from pydantic import JsonValue

from activities.asking import Desk
from activities.citing import statement_faults, unknown_ids, without_marks
from activities.together import side_by_side
from models.errors import ReportInvalid
from models.plan import Plan
from planning.resting import owner_of
from planning.sections import group_of, needs_groups
from roles.condenser import CONDENSER, MOST_STATEMENTS, CondenserAnswer, CondenserTask
from roles.synthesiser import (
    SYNTHESISER,
    Condensed,
    EvidenceItem,
    SynthesiserAnswer,
    SynthesiserTask,
)

_AT_ONCE = 3
_LONGEST_QUOTE = 300
"""Of evidence that a group's summary cites already, for whoever integrates the summaries."""


async def drafted(desk: Desk, task: SynthesiserTask, *, place: str = "") -> SynthesiserAnswer:
    """The report that the synthesiser writes, whose ids are all known; without marks of its own.

    Raises:
        ReportInvalid: none of its answers was valid.
        Passing: the model is busy.
        Lasting: the model refused.
    """

    def check(answer: SynthesiserAnswer) -> Sequence[str]:
        return statement_faults(answer, task)

    asked = await desk.ask(SYNTHESISER, task, place=place, check=check)
    if asked.answer is None:
        raise ReportInvalid("; ".join(asked.faults))
    return without_marks(asked.answer)


async def condensed(
    desk: Desk, task: SynthesiserTask, plan: Plan, owners: Mapping[str, str]
) -> SynthesiserTask:
    """The task as it is; or, where it is too much for one call, with a summary of each group.

    `owners` says which task each id of evidence is of. The groups are condensed side by side, in
    one call each.
    """
    parts = (*task.results, *task.evidence)
    if not needs_groups(sum(len(each.model_dump_json()) for each in parts), len(task.results)):
        return task
    jobs = _groups(task, plan, owners)
    reads = [partial(_condense, desk, job, n) for n, job in enumerate(jobs, start=1)]
    groups = await side_by_side(reads, at_once=_AT_ONCE)
    cited = {name for group in groups for each in group.statements for name in each.evidence}
    evidence = tuple(_cut(each) for each in task.evidence if each.id in cited)
    bare = tuple(
        each.model_copy(update={"values": _cut_values(each.values)}) for each in task.results
    )
    return task.model_copy(update={"groups": tuple(groups), "evidence": evidence, "results": bare})


def _groups(task: SynthesiserTask, plan: Plan, owners: Mapping[str, str]) -> list[CondenserTask]:
    """A group for each agent; of tasks without one, for each tool, and for deductions."""
    of_evidence = {
        name: group_of(plan.by_id[owner_of(plan, owner)]) for name, owner in owners.items()
    }
    names = dict.fromkeys([*(each.agent for each in task.results), *of_evidence.values()])
    return [
        CondenserTask(
            question=task.question,
            group=name,
            results=tuple(each for each in task.results if each.agent == name),
            evidence=tuple(each for each in task.evidence if of_evidence[each.id] == name),
        )
        for name in names
    ]


async def _condense(desk: Desk, task: CondenserTask, number: int) -> Condensed:
    known = {item.id for item in task.evidence}

    def check(answer: CondenserAnswer) -> Sequence[str]:
        count = len(answer.statements)
        if count > MOST_STATEMENTS:
            return [f"there are {count} statements; keep the {MOST_STATEMENTS} most important ones"]
        bare = [each.text[:60] for each in answer.statements if known and not each.evidence]
        faults = [f"the statement {text!r} cites no evidence" for text in bare]
        return [*unknown_ids(answer.statements, known), *faults]

    asked = await desk.ask(CONDENSER, task, place=f"group{number}", check=check)
    if asked.answer is None:
        raise ReportInvalid(f"group {task.group!r} was not condensed: {'; '.join(asked.faults)}")
    return Condensed(group=task.group, statements=tuple(asked.answer.statements))


def _cut(item: EvidenceItem) -> EvidenceItem:
    """The evidence with the beginning of its quote, which is a quote as well."""
    return item.model_copy(update={"quote": item.quote[:_LONGEST_QUOTE]})


def _cut_values(values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        name: value
        for name, value in values.items()
        if len(json.dumps(value, ensure_ascii=False)) <= _LONGEST_QUOTE
    }
