"""Contradictions between results: seen from both sides, settled by one that looked elsewhere."""

from collections.abc import Iterable, Mapping, Sequence, Set

from models.agents import AgentBrief
from models.base import Frozen
from models.verification import Completeness, Contradiction, Recommendation, Verification

DISPUTED_AT_MOST = 0.8
"""The completeness of a result that another one contradicts."""

Pair = frozenset[str]
"""The tasks that contradict each other; one alone contradicts itself."""


class Settlement(Frozen):
    """What a task found that looked elsewhere for who is right."""

    by: str
    tasks: tuple[str, ...]
    winner: str
    """The task whose claim it agrees with; it agrees with exactly one."""


def pair(contradiction: Contradiction) -> Pair:
    """What tells contradictions apart, from whichever side they are seen."""
    return frozenset(contradiction.tasks)


def reviewed(
    verdicts: Sequence[Verification],
    before: Mapping[str, Verification],
    settlements: Sequence[Settlement],
    repairs: Mapping[str, tuple[str, ...]],
) -> tuple[Verification, ...]:
    """The verdicts once every contradiction is known to both sides, and who settled it.

    `before` are the verdicts of the last round; `repairs` the tasks that look elsewhere, with the
    tasks whose contradiction they are to settle. A complete result that is contradicted by another
    is partial until that is settled; then the one that was wrong lacks what was found instead.
    """
    asked = {each.task_id: each for each in verdicts if not each.is_carried}
    kept = [_with(each, _standing(each, asked, repairs)) for each in verdicts]
    seen = _mirrored(kept)
    known = _settled_before(before.values())
    decided = {frozenset(each.tasks): each for each in settlements}
    return tuple(_judged(_settled(each, known, decided), decided) for each in seen)


def _standing(
    verdict: Verification,
    asked: Mapping[str, Verification],
    repairs: Mapping[str, tuple[str, ...]],
) -> Iterable[Contradiction]:
    """Those that the other side, asked in this round, sees as well; none about a repair itself."""
    for each in verdict.contradictions:
        if any(_is_about(each, by, tasks) for by, tasks in repairs.items()):
            continue
        others = pair(each) - {verdict.task_id}
        is_gone = verdict.is_carried and any(
            other in asked and pair(each) not in _pairs(asked[other]) for other in others
        )
        if not is_gone:
            yield each


def _is_about(contradiction: Contradiction, repair: str, tasks: Iterable[str]) -> bool:
    """Whether it says no more than that the repair disagrees with a side, as one of them must."""
    return repair in contradiction.tasks and pair(contradiction) <= {repair, *tasks}


def _pairs(verdict: Verification) -> Set[Pair]:
    return {pair(each) for each in verdict.contradictions}


def _mirrored(verdicts: Sequence[Verification]) -> list[Verification]:
    """The verdicts with what only the other side reported, seen from theirs."""
    told = [each for verdict in verdicts for each in verdict.contradictions]
    seen = []
    for verdict in verdicts:
        own = _pairs(verdict)
        others = {
            pair(each): _turned(each)
            for each in told
            if verdict.task_id in each.tasks and pair(each) not in own
        }
        seen.append(_with(verdict, (*verdict.contradictions, *others.values())))
    return seen


def _turned(each: Contradiction) -> Contradiction:
    return each.model_copy(
        update={"one": each.other, "other": each.one, "tasks": tuple(reversed(each.tasks))}
    )


def _settled_before(verdicts: Iterable[Verification]) -> dict[Pair, str]:
    return {
        pair(each): each.settled_by
        for verdict in verdicts
        for each in verdict.contradictions
        if each.settled_by
    }


def _settled(
    verdict: Verification, known: Mapping[Pair, str], decided: Mapping[Pair, Settlement]
) -> Verification:
    def by(each: Contradiction) -> str:
        found = decided.get(pair(each))
        return found.by if found else known.get(pair(each), each.settled_by)

    marked = [each.model_copy(update={"settled_by": by(each)}) for each in verdict.contradictions]
    return _with(verdict, marked)


def _judged(verdict: Verification, decided: Mapping[Pair, Settlement]) -> Verification:
    lost = [
        found.by
        for each in verdict.contradictions
        if (found := decided.get(pair(each))) and found.winner != verdict.task_id
    ]
    if lost:
        return _lost(verdict, lost)
    if any(not each.settled_by for each in verdict.contradictions):
        return _disputed(verdict)
    was_disputed = verdict.is_carried and verdict.status is Completeness.PARTIAL
    if was_disputed and verdict.recommendation is Recommendation.ACCEPT:
        return verdict.model_copy(update={"status": Completeness.COMPLETE})
    return verdict


def _lost(verdict: Verification, lost: Sequence[str]) -> Verification:
    why = tuple(f"{by} looked elsewhere and found otherwise" for by in lost)
    return verdict.model_copy(
        update={
            "status": Completeness.PARTIAL,
            "completeness": min(verdict.completeness, DISPUTED_AT_MOST),
            "missing": (*verdict.missing, *why),
            "recommendation": Recommendation.RETRY,
            "is_carried": False,
        }
    )


def _disputed(verdict: Verification) -> Verification:
    if verdict.status is not Completeness.COMPLETE:
        return verdict
    return verdict.model_copy(
        update={
            "status": Completeness.PARTIAL,
            "completeness": min(verdict.completeness, DISPUTED_AT_MOST),
            "missing": (),
            "recommendation": Recommendation.ACCEPT,
        }
    )


def _with(verdict: Verification, contradictions: Iterable[Contradiction]) -> Verification:
    return verdict.model_copy(update={"contradictions": tuple(contradictions)})


def once_each(verdicts: Iterable[Verification]) -> tuple[Contradiction, ...]:
    """Every contradiction once, though both sides tell of it."""
    found: dict[Pair, Contradiction] = {}
    for verdict in verdicts:
        for each in verdict.contradictions:
            found.setdefault(pair(each), each)
    return tuple(found.values())


def unsettled(
    verdicts: Iterable[Verification], tried: Iterable[Sequence[str]] = ()
) -> tuple[Contradiction, ...]:
    """Those that are open; not those that a task has looked into (`tried`) already."""
    done = {frozenset(each) for each in tried}
    known = once_each(verdicts)
    return tuple(each for each in known if not each.settled_by and pair(each) not in done)


def elsewhere(
    agents: Sequence[AgentBrief], used_agents: Set[str], used_tools: Set[str]
) -> tuple[str, ...]:
    """The agents that would look in another place than the sides did; none where there is none.

    Those that have a tool which neither side called; failing these, other agents with tools.
    """
    able = [each for each in agents if each.tools]
    fresh = [each.name for each in able if set(each.tools) - used_tools]
    return tuple(fresh or [each.name for each in able if each.name not in used_agents])
