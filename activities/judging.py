"""One result before the verifier: what it is shown, and what its answer means."""

from collections.abc import Iterable, Mapping, Sequence

from models.base import Frozen
from models.findings import Finding
from models.plan import Task, TaskStatus
from models.verification import (
    Completeness,
    Contradiction,
    Recommendation,
    Verification,
)
from planning.contradictions import Settlement
from roles.verifier import (
    Claim,
    Dispute,
    OtherResult,
    ResultValue,
    VerifierAnswer,
    VerifierTask,
    known_ids,
)
from storage.plans import StoredTask

_MOST_OTHERS = 20
_LONGEST_VALUE = 1000
_SIDES = {"one": 0, "other": 1}


class Judged(Frozen):
    """The verdict on one result; what it settled where it was to settle something."""

    verdict: Verification
    settlement: Settlement | None = None
    tokens: int = 0


def question_of(
    stored: StoredTask,
    question: str,
    tasks: Sequence[Task],
    findings: Mapping[str, Finding],
    dispute: Contradiction | None,
) -> VerifierTask:
    """What the verifier is shown of one result, of what it rests on, and of the others."""
    task, finding = stored.task, findings[stored.task.id]
    done = [each for each in tasks if each.status is TaskStatus.DONE and each.id != task.id]
    needed = set(task.depends_on)
    return VerifierTask(
        question=question,
        id=task.id,
        sub_question=task.description,
        criteria=task.criteria,
        expects=task.expects,
        result=_values(finding),
        evidence=finding.passages,
        context=_results((each for each in done if each.id in needed), findings),
        others=_results(_nearest(task, done, needed), findings),
        settles=Dispute(one=dispute.one, other=dispute.other) if dispute else None,
    )


def _values(finding: Finding) -> tuple[ResultValue, ...]:
    return tuple(
        ResultValue(
            name=each.name,
            value=each.value,
            description=each.description,
            confidence=each.confidence,
        )
        for each in finding.entities
    )


def _results(tasks: Iterable[Task], findings: Mapping[str, Finding]) -> tuple[OtherResult, ...]:
    return tuple(
        OtherResult(
            id=task.id,
            sub_question=task.description,
            values=tuple(_brief(each) for each in _values(findings[task.id])),
        )
        for task in tasks
        if task.id in findings and findings[task.id].entities
    )


def _brief(each: ResultValue) -> ResultValue:
    """A long account is cut: it is there to be compared with, not to be judged."""
    if isinstance(each.value, str) and len(each.value) > _LONGEST_VALUE:
        return each.model_copy(update={"value": each.value[:_LONGEST_VALUE]})
    return each


def _nearest(task: Task, done: Sequence[Task], needed: set[str]) -> list[Task]:
    """The other results that have most words in common with this one, in order of the plan."""
    own = _words(task)
    others = [each for each in done if each.id not in needed]
    near = sorted(others, key=lambda each: -len(own & _words(each)))[:_MOST_OTHERS]
    return [each for each in others if each in near]


def _words(task: Task) -> set[str]:
    told = (task.description, *(f"{e.name} {e.description}" for e in task.expects))
    return {word for text in told for word in text.replace("_", " ").casefold().split()}


def faults(answer: VerifierAnswer, task: VerifierTask) -> list[str]:
    """What is wrong with a verdict, in words that its author can act on."""
    known = known_ids(task)
    found = [
        f"contradictions: there is no result {each.other!r} among those shown"
        for each in answer.contradictions
        if each.other and each.other not in known
    ]
    if answer.status is Completeness.COMPLETE and answer.missing:
        found.append("status is `complete`, but `missing` names something: one of them is wrong")
    return found


def judged(
    stored: StoredTask,
    answer: VerifierAnswer,
    dispute: Contradiction | None,
    model: str,
    tokens: int,
) -> Judged:
    """The verdict that the verifier's answer stands for."""
    task = stored.task
    verdict = Verification(
        task_id=task.id,
        attempt=stored.attempt,
        status=answer.status,
        completeness=answer.completeness,
        confidence=answer.confidence,
        missing=tuple(answer.missing),
        contradictions=tuple(_contradiction(task.id, each) for each in answer.contradictions),
        recommendation=answer.recommendation,
        model=model,
    )
    return Judged(verdict=verdict, settlement=_settlement(task.id, answer, dispute), tokens=tokens)


def _contradiction(task_id: str, claim: Claim) -> Contradiction:
    tasks = (task_id, claim.other) if claim.other else (task_id,)
    return Contradiction(one=claim.claim, other=claim.against, tasks=tasks)


def _settlement(
    task_id: str, answer: VerifierAnswer, dispute: Contradiction | None
) -> Settlement | None:
    """Settled only by a complete result that agrees with exactly one side."""
    if dispute is None or answer.sides_with not in _SIDES:
        return None
    if answer.status is not Completeness.COMPLETE:
        return None
    # One that contradicts itself has one task for both sides.
    winner = dispute.tasks[min(_SIDES[answer.sides_with], len(dispute.tasks) - 1)]
    return Settlement(by=task_id, tasks=dispute.tasks, winner=winner)


def unjudged(stored: StoredTask, why: str, model: str, tokens: int) -> Judged:
    """The verdict where the verifier gave none: not complete, and nobody knows what it lacks."""
    verdict = Verification(
        task_id=stored.task.id,
        attempt=stored.attempt,
        status=Completeness.INCOMPLETE,
        completeness=0.0,
        confidence=0.0,
        missing=(f"the verifier gave no valid verdict: {why}"[:500],),
        recommendation=Recommendation.RETRY,
        model=model,
    )
    return Judged(verdict=verdict, tokens=tokens)
