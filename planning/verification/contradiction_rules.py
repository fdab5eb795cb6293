"""Match contradictions between results, and settle a contradiction by a tie-breaker task."""

from collections.abc import Iterable, Mapping, Sequence, Set

from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    Contradiction,
    Recommendation,
    Verification,
)

DISPUTED_COMPLETENESS = 0.8
"""The completeness of a result that another result contradicts."""

TaskPair = frozenset[str]
"""The tasks that contradict each other; a single task contradicts itself."""


class Settlement(Frozen):
    """The decision of a tie-breaker task between two contradicting results."""

    by: str
    tasks: tuple[str, ...]
    winner: str
    """The task whose claim the tie-breaker confirms; exactly one of the two."""


def task_pair(contradiction: Contradiction) -> TaskPair:
    """Return the key of a contradiction; both sides have the same key."""
    return frozenset(contradiction.tasks)


def review_contradictions(
    verdicts: Sequence[Verification],
    before: Mapping[str, Verification],
    settlements: Sequence[Settlement],
    repairs: Mapping[str, tuple[str, ...]],
) -> tuple[Verification, ...]:
    """Return the verdicts with each contradiction on both sides and with its settlement.

    `before` are the verdicts of the last round; `repairs` are the tie-breaker tasks, each with the
    tasks whose contradiction it settles. A complete result that another result contradicts is
    partial until the contradiction is settled; then the wrong result lacks the confirmed claim.
    """
    asked = {each.task_id: each for each in verdicts if not each.is_carried_over}
    kept = [
        _replace_contradictions(each, _confirmed_contradictions(each, asked, repairs))
        for each in verdicts
    ]
    seen = _add_other_side(kept)
    known = _earlier_settlements(before.values())
    decided = {frozenset(each.tasks): each for each in settlements}
    return tuple(_apply_settlements(_mark_settled(each, known, decided), decided) for each in seen)


def _confirmed_contradictions(
    verdict: Verification,
    asked: Mapping[str, Verification],
    repairs: Mapping[str, tuple[str, ...]],
) -> Iterable[Contradiction]:
    """Keep contradictions that the other side's new verdict confirms, except about tie-breakers."""
    for each in verdict.contradictions:
        if any(_is_about_tie_breaker(each, by, tasks) for by, tasks in repairs.items()):
            continue
        others = task_pair(each) - {verdict.task_id}
        is_gone = verdict.is_carried_over and any(
            other in asked and task_pair(each) not in _task_pairs(asked[other]) for other in others
        )
        if not is_gone:
            yield each


def _is_about_tie_breaker(contradiction: Contradiction, repair: str, tasks: Iterable[str]) -> bool:
    """True if the contradiction is only between a tie-breaker and one of the two claims."""
    return repair in contradiction.tasks and task_pair(contradiction) <= {repair, *tasks}


def _task_pairs(verdict: Verification) -> Set[TaskPair]:
    return {task_pair(each) for each in verdict.contradictions}


def _add_other_side(verdicts: Sequence[Verification]) -> list[Verification]:
    """Return the verdicts with contradictions that only the other side reported."""
    told = [each for verdict in verdicts for each in verdict.contradictions]
    seen = []
    for verdict in verdicts:
        own = _task_pairs(verdict)
        others = {
            task_pair(each): _swap_sides(each)
            for each in told
            if verdict.task_id in each.tasks and task_pair(each) not in own
        }
        seen.append(_replace_contradictions(verdict, (*verdict.contradictions, *others.values())))
    return seen


def _swap_sides(each: Contradiction) -> Contradiction:
    return each.model_copy(
        update={"one": each.other, "other": each.one, "tasks": tuple(reversed(each.tasks))}
    )


def _earlier_settlements(verdicts: Iterable[Verification]) -> dict[TaskPair, str]:
    return {
        task_pair(each): each.settled_by
        for verdict in verdicts
        for each in verdict.contradictions
        if each.settled_by
    }


def _mark_settled(
    verdict: Verification, known: Mapping[TaskPair, str], decided: Mapping[TaskPair, Settlement]
) -> Verification:
    def by(each: Contradiction) -> str:
        found = decided.get(task_pair(each))
        return found.by if found else known.get(task_pair(each), each.settled_by)

    marked = [each.model_copy(update={"settled_by": by(each)}) for each in verdict.contradictions]
    return _replace_contradictions(verdict, marked)


def _apply_settlements(
    verdict: Verification, decided: Mapping[TaskPair, Settlement]
) -> Verification:
    lost = [
        found.by
        for each in verdict.contradictions
        if (found := decided.get(task_pair(each))) and found.winner != verdict.task_id
    ]
    if lost:
        return _reject_result(verdict, lost)
    if any(not each.settled_by for each in verdict.contradictions):
        return _dispute_result(verdict)
    was_disputed = verdict.is_carried_over and verdict.status is Completeness.PARTIAL
    if was_disputed and verdict.recommendation is Recommendation.ACCEPT:
        return verdict.model_copy(update={"status": Completeness.COMPLETE})
    return verdict


def _reject_result(verdict: Verification, lost: Sequence[str]) -> Verification:
    why = tuple(f"{by} looked elsewhere and found otherwise" for by in lost)
    return verdict.model_copy(
        update={
            "status": Completeness.PARTIAL,
            "completeness": min(verdict.completeness, DISPUTED_COMPLETENESS),
            "missing": (*verdict.missing, *why),
            "recommendation": Recommendation.RETRY,
            "is_carried_over": False,
        }
    )


def _dispute_result(verdict: Verification) -> Verification:
    if verdict.status is not Completeness.COMPLETE:
        return verdict
    return verdict.model_copy(
        update={
            "status": Completeness.PARTIAL,
            "completeness": min(verdict.completeness, DISPUTED_COMPLETENESS),
            "missing": (),
            "recommendation": Recommendation.ACCEPT,
        }
    )


def _replace_contradictions(
    verdict: Verification, contradictions: Iterable[Contradiction]
) -> Verification:
    return verdict.model_copy(update={"contradictions": tuple(contradictions)})


def distinct_contradictions(verdicts: Iterable[Verification]) -> tuple[Contradiction, ...]:
    """Every contradiction once, in the words of the side that reports it first.

    Two verdicts that report the same pair of tasks mean the same contradictions; one verdict may
    report several of a pair, which differ in their claims.
    """
    by_pair: dict[TaskPair, tuple[Contradiction, ...]] = {}
    for verdict in verdicts:
        own: dict[TaskPair, dict[frozenset[str], Contradiction]] = {}
        for each in verdict.contradictions:
            claims = frozenset((each.one, each.other))
            own.setdefault(task_pair(each), {}).setdefault(claims, each)
        for pair, distinct in own.items():
            by_pair.setdefault(pair, tuple(distinct.values()))
    return tuple(each for distinct in by_pair.values() for each in distinct)


def unsettled_contradictions(
    verdicts: Iterable[Verification], tried: Iterable[Sequence[str]] = ()
) -> tuple[Contradiction, ...]:
    """One open contradiction of each pair of tasks, since one tie-breaker settles the pair.

    `tried` are the pairs that a tie-breaker has looked into already.
    """
    done = {frozenset(each) for each in tried}
    unsettled: dict[TaskPair, Contradiction] = {}
    for each in distinct_contradictions(verdicts):
        if not each.settled_by and task_pair(each) not in done:
            unsettled.setdefault(task_pair(each), each)
    return tuple(unsettled.values())


def independent_agents(
    agents: Sequence[AgentBrief], used_agents: Set[str], used_tools: Set[str]
) -> tuple[str, ...]:
    """Return agents that would use other tools than both sides did, if there are any.

    Agents with a tool that neither side called come first; otherwise other agents with tools.
    """
    able = [each for each in agents if each.tools]
    fresh = [each.name for each in able if set(each.tools) - used_tools]
    return tuple(fresh or [each.name for each in able if each.name not in used_agents])
