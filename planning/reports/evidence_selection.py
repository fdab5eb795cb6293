"""Select the evidence for a report, and give each piece the id by which it is cited."""

from collections.abc import Iterable, Sequence

from holdfast.models.evidence.evidence import (
    StoredEvidence,
)
from holdfast.models.loop.loop_results import LoopResult
from holdfast.models.plans.research_plan import Plan, Task, TaskStatus
from holdfast.models.reports.report_writer_messages import EvidenceItem
from holdfast.models.text.passage_titles import title_with_headings
from holdfast.models.text.words import words_of
from holdfast.models.verification.verification_verdicts import Contradiction
from holdfast.planning.plans.downstream_tasks import owning_task
from holdfast.planning.plans.plan_graph import upstream_tasks

_MOST_EVIDENCE = 200


_EACH_SIDE = 2
"""How many passages are cited for one side of a contradiction."""


_MIN_LETTERS = 3
"""Letters of a word that counts when a claim is compared with quotes."""


def supporting_evidence(plan: Plan, found: Sequence[StoredEvidence]) -> list[StoredEvidence]:
    """The evidence behind the final answer, in order of the plan.

    Without an answer, the evidence of all that was found: the report then says that. An agent's
    evidence is that of its steps; a step that was superseded after it had found something counts,
    since what all of an agent's attempts found is kept.
    """
    final = next((t for t in plan.live if t.is_final and t.status is TaskStatus.DONE), None)
    wanted = upstream_tasks(plan, final.id) if final else {task.id for task in plan.live}
    wanted |= {task.id for task in plan.tasks if task.parent in wanted and _has_findings(task)}
    place = {task.id: n for n, task in enumerate(plan.tasks)}
    chosen = [item for item in found if item.task_id in wanted]
    chosen.sort(key=lambda item: (place[item.task_id], item.id))
    # Two entities may have the same quote: a reader wants to see it once.
    once = {(item.source_id, item.start, item.end): item for item in reversed(chosen)}
    return list(reversed(once.values()))[:_MOST_EVIDENCE]


def _has_findings(step: Task) -> bool:
    return not step.status.is_discarded or bool(step.result)


def evidence_items(
    found: Iterable[StoredEvidence], loops: Iterable[LoopResult] = ()
) -> tuple[EvidenceItem, ...]:
    """The evidence under the ids by which the writer may cite it: E1, E2 and so on.

    What `loops` proved with a quote is their sentence.
    """
    proven = {n: each.text for loop in loops for each in loop.sentences for n in each.evidence_ids}
    return tuple(
        EvidenceItem(
            id=name,
            title=source_title(item),
            quote=item.quote,
            shows=proven.get(item.id) or _evidence_summary(item),
        )
        for name, item in evidence_by_citation_id(found).items()
    )


def evidence_by_citation_id(found: Iterable[StoredEvidence]) -> dict[str, StoredEvidence]:
    """The evidence by the ids under which the writer knows it."""
    return {f"E{n}": item for n, item in enumerate(found, start=1)}


def source_title(item: StoredEvidence) -> str:
    """The source's title with its headings."""
    return title_with_headings(item.title, item.heading)


def titled_source_text(item: StoredEvidence) -> str:
    """The text of the source below its title: a sentence that cites the source may name both."""
    return f"{source_title(item)}\n{item.source_text}"


def _evidence_summary(item: StoredEvidence) -> str:
    about = f" ({item.description})" if item.description else ""
    return f"{item.entity}{about}: {item.value}"[:500]


def evidence_of_both_sides(
    contradiction: Contradiction, plan: Plan, found: Sequence[StoredEvidence]
) -> tuple[list[StoredEvidence], list[StoredEvidence]]:
    """The evidence of both sides: from their tasks, the quotes nearest to each claim."""
    tasks = contradiction.tasks
    ones, others = tasks[:1], tasks[1:] or tasks[:1]
    return (
        _most_similar_evidence(contradiction.one, _evidence_of_tasks(ones, plan, found)),
        _most_similar_evidence(contradiction.other, _evidence_of_tasks(others, plan, found)),
    )


def _evidence_of_tasks(
    names: Iterable[str], plan: Plan, found: Iterable[StoredEvidence]
) -> list[StoredEvidence]:
    wanted = set(names)
    return [each for each in found if {each.task_id, owning_task(plan, each.task_id)} & wanted]


def _most_similar_evidence(claim: str, found: list[StoredEvidence]) -> list[StoredEvidence]:
    words = words_of(claim, _MIN_LETTERS)

    def shared(item: StoredEvidence) -> int:
        return len(words & words_of(item.quote, _MIN_LETTERS))

    return sorted(found, key=shared, reverse=True)[:_EACH_SIDE]
