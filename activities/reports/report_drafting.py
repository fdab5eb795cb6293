"""Draft a report in one model call, or group by group if the inputs are too long for one call."""

import json
from collections.abc import Mapping, Sequence
from functools import partial

from pydantic import JsonValue

from holdfast.activities.runtime.bounded_gather import gather_bounded
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.errors import ReportInvalid
from holdfast.models.plans.research_plan import Plan
from holdfast.models.reports.report_writer_messages import (
    CondensedGroup,
    EvidenceItem,
    SynthesiserAnswer,
    SynthesiserTask,
)
from holdfast.models.wire import call_places
from holdfast.planning.plans.downstream_tasks import owning_task
from holdfast.planning.reports.citation_marks import without_citation_marks
from holdfast.planning.reports.report_groups import group_of, needs_groups
from holdfast.planning.reports.statement_faults import statement_faults, unknown_id_faults
from holdfast.roles.reports.condenser import (
    CONDENSER,
    MOST_STATEMENTS,
    CondenserAnswer,
    CondenserTask,
)
from holdfast.roles.reports.synthesiser import SYNTHESISER

_AT_ONCE = 3
_LONGEST_QUOTE = 300
"""The maximum length of a quote that a group's summary cites already."""


async def draft_report(
    model_caller: ModelCaller, task: SynthesiserTask, *, place: str = ""
) -> SynthesiserAnswer:
    """Return the synthesiser's draft, with known ids only and without citation marks.

    Raises:
        ReportInvalid: none of the answers was valid.
        Passing: the model is busy.
        Lasting: the model refused.
    """

    def check(answer: SynthesiserAnswer) -> Sequence[str]:
        return statement_faults(answer, task)

    dialogue = await model_caller.ask(SYNTHESISER, task, place=place, check=check)
    if dialogue.answer is None:
        raise ReportInvalid("; ".join(dialogue.faults))
    return without_citation_marks(dialogue.answer)


async def condense_if_long(
    model_caller: ModelCaller, task: SynthesiserTask, plan: Plan, owners: Mapping[str, str]
) -> SynthesiserTask:
    """Return the task, with a summary of each group if it is too long for one call.

    `owners` maps each evidence id to its task. The groups are condensed in parallel, one call each.
    """
    parts = (*task.results, *task.evidence)
    if not needs_groups(sum(len(each.model_dump_json()) for each in parts), len(task.results)):
        return task
    jobs = _condenser_tasks(task, plan, owners)
    reads = [partial(_condense_group, model_caller, job, n) for n, job in enumerate(jobs, start=1)]
    groups = await gather_bounded(reads, at_once=_AT_ONCE)
    cited = {name for group in groups for each in group.statements for name in each.evidence}
    evidence = tuple(_shorten_quote(each) for each in task.evidence if each.id in cited)
    bare = tuple(
        each.model_copy(update={"values": _drop_long_values(each.values)}) for each in task.results
    )
    return task.model_copy(update={"groups": tuple(groups), "evidence": evidence, "results": bare})


def _condenser_tasks(
    task: SynthesiserTask, plan: Plan, owners: Mapping[str, str]
) -> list[CondenserTask]:
    """Return one group for each agent, for each tool without an agent, and for reasoning.

    A group that found nothing has nothing to condense.
    """
    of_evidence = {
        name: group_of(plan.by_id[owning_task(plan, owner)]) for name, owner in owners.items()
    }
    names = dict.fromkeys(
        [*(each.agent for each in task.results if each.values), *of_evidence.values()]
    )
    return [
        CondenserTask(
            question=task.question,
            group=name,
            results=tuple(each for each in task.results if each.agent == name),
            evidence=tuple(each for each in task.evidence if of_evidence[each.id] == name),
        )
        for name in names
    ]


async def _condense_group(
    model_caller: ModelCaller, task: CondenserTask, number: int
) -> CondensedGroup:
    known = {item.id for item in task.evidence}

    def check(answer: CondenserAnswer) -> Sequence[str]:
        count = len(answer.statements)
        if count > MOST_STATEMENTS:
            return [f"there are {count} statements; keep the {MOST_STATEMENTS} most important ones"]
        bare = [each.text[:60] for each in answer.statements if known and not each.evidence]
        faults = [f"the statement {text!r} cites no evidence" for text in bare]
        return [*unknown_id_faults(answer.statements, known), *faults]

    dialogue = await model_caller.ask(
        CONDENSER, task, place=call_places.group_place(number), check=check
    )
    if dialogue.answer is None:
        raise ReportInvalid(f"group {task.group!r} was not condensed: {'; '.join(dialogue.faults)}")
    return CondensedGroup(group=task.group, statements=tuple(dialogue.answer.statements))


def _shorten_quote(item: EvidenceItem) -> EvidenceItem:
    """Return the evidence with a shortened quote, which is still verbatim."""
    return item.model_copy(update={"quote": item.quote[:_LONGEST_QUOTE]})


def _drop_long_values(values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        name: value
        for name, value in values.items()
        if len(json.dumps(value, ensure_ascii=False)) <= _LONGEST_QUOTE
    }
