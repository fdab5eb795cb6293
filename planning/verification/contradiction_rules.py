"""Match contradictions between results, and settle a contradiction by a tie-breaker task."""

from collections.abc import Iterable, Mapping, Sequence, Set

from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.tasks.task_finding import TaskFinding
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    Contradiction,
    Recommendation,
    Verification,
)
from holdfast.planning.verification.same_dispute import same_disputes, task_pair

DISPUTED_COMPLETENESS = 0.8
"""The completeness of a result that another result contradicts."""


class Settlement(Frozen):
    """The decision of a tie-breaker task between two contradicting claims."""

    by: str
    dispute: Contradiction
    """The contradiction that is settled; others of the same tasks stay open."""
    winner: str
    """The task whose claim the tie-breaker confirms; exactly one of the two."""


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
    known = distinct_contradictions(before.values())
    return tuple(
        _apply_settlements(_mark_settled(each, known, settlements), settlements)
        for each in _add_other_side(kept)
    )


def _confirmed_contradictions(
    verdict: Verification,
    asked: Mapping[str, Verification],
    repairs: Mapping[str, tuple[str, ...]],
) -> Iterable[Contradiction]:
    """Keep contradictions that the other side's new verdict confirms, except about tie-breakers."""
    gone = _withdrawn(verdict, asked) if verdict.is_carried_over else frozenset()
    for at, each in enumerate(verdict.contradictions):
        is_of_tie_breaker = any(
            _is_about_tie_breaker(each, by, tasks) for by, tasks in repairs.items()
        )
        if at not in gone and not is_of_tie_breaker:
            yield each


def _withdrawn(verdict: Verification, asked: Mapping[str, Verification]) -> Set[int]:
    """The places of the contradictions that the new verdict on the other side does not report."""
    own = verdict.contradictions
    gone: set[int] = set()
    for other in {name for each in own for name in each.tasks} - {verdict.task_id}:
        if other in asked:
            seen = same_disputes(own, asked[other].contradictions)
            gone |= {at for at, e in enumerate(own) if other in e.tasks and at not in seen}
    return gone


def _is_about_tie_breaker(contradiction: Contradiction, repair: str, tasks: Iterable[str]) -> bool:
    """True if the contradiction is only between a tie-breaker and one of the two claims."""
    return repair in contradiction.tasks and task_pair(contradiction) <= {repair, *tasks}


def _add_other_side(verdicts: Sequence[Verification]) -> list[Verification]:
    """Return the verdicts with contradictions that only the other side reported."""
    whole = list(verdicts)
    for at, verdict in enumerate(whole):
        own = list(verdict.contradictions)
        for teller in verdicts:
            if teller.task_id == verdict.task_id:
                continue
            told = [each for each in teller.contradictions if verdict.task_id in each.tasks]
            seen = set(same_disputes(told, own))
            own += [_swap_sides(each) for n, each in enumerate(told) if n not in seen]
        whole[at] = _replace_contradictions(verdict, own)
    return whole


def _swap_sides(each: Contradiction) -> Contradiction:
    return each.model_copy(
        update={"one": each.other, "other": each.one, "tasks": tuple(reversed(each.tasks))}
    )


def _mark_settled(
    verdict: Verification, known: Sequence[Contradiction], decided: Sequence[Settlement]
) -> Verification:
    own = verdict.contradictions
    places = same_disputes(own, known)
    earlier = {at: known[n].settled_by for at, n in places.items() if known[n].settled_by}
    now = {at: each.by for at, each in _decisions(verdict, decided).items()}
    marked = (
        each.model_copy(update={"settled_by": (earlier | now).get(at, each.settled_by)})
        for at, each in enumerate(own)
    )
    return _replace_contradictions(verdict, marked)


def _decisions(verdict: Verification, decided: Sequence[Settlement]) -> dict[int, Settlement]:
    """The settlements by the place of their contradiction in the verdict."""
    found = same_disputes(verdict.contradictions, [each.dispute for each in decided])
    return {at: decided[n] for at, n in found.items()}


def _apply_settlements(verdict: Verification, decided: Sequence[Settlement]) -> Verification:
    lost = [
        found.by
        for _, found in sorted(_decisions(verdict, decided).items())
        if found.winner != verdict.task_id
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


def dispute_of_tie_breaker(finding: TaskFinding) -> Contradiction | None:
    """Return the contradiction that a tie-breaker decides, None for other tasks."""
    if not finding.tie_breaker_for:
        return None
    one, other = finding.disputed_claims
    return Contradiction(one=one, other=other, tasks=finding.tie_breaker_for)


def distinct_contradictions(verdicts: Iterable[Verification]) -> tuple[Contradiction, ...]:
    """Every contradiction once, in the words of the side that reports it first.

    One verdict may report several of the same tasks, which differ in their claims.
    """
    found: list[Contradiction] = []
    for verdict in verdicts:
        own = {(task_pair(e), frozenset((e.one, e.other))): e for e in verdict.contradictions[::-1]}
        distinct = list(own.values())[::-1]
        seen = same_disputes(distinct, found)
        found += [each for at, each in enumerate(distinct) if at not in seen]
    return tuple(found)


def unsettled_contradictions(
    verdicts: Iterable[Verification], tried: Sequence[Contradiction] = ()
) -> tuple[Contradiction, ...]:
    """Return the open contradictions; `tried` are those that a tie-breaker has looked into."""
    distinct = distinct_contradictions(verdicts)
    done = same_disputes(distinct, tried)
    return tuple(each for at, each in enumerate(distinct) if not each.settled_by and at not in done)


def independent_agents(
    agents: Sequence[AgentBrief], used_agents: Set[str], used_tools: Set[str]
) -> tuple[str, ...]:
    """Return agents that would use other tools than both sides did, if there are any.

    Agents with a tool that neither side called come first; otherwise other agents with tools.
    """
    able = [each for each in agents if each.tools]
    fresh = [each.name for each in able if set(each.tools) - used_tools]
    return tuple(fresh or [each.name for each in able if each.name not in used_agents])
