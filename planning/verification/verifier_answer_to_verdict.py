"""Build the verifier's task for one result, and turn the verifier's answer into a verdict."""

from collections.abc import Iterable, Mapping, Sequence

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import Task, TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.tasks.task_finding import TaskFinding
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    Contradiction,
    Recommendation,
    Verification,
)
from holdfast.models.verification.verifier_messages import (
    Claim,
    DisputedClaims,
    OtherResult,
    ResultValue,
    VerifierAnswer,
    VerifierTask,
)
from holdfast.planning.verification.contradiction_rules import Settlement

_MOST_OTHERS = 20
_LONGEST_VALUE = 1000
_SIDES = {"one": 0, "other": 1}


class ResultVerdict(Frozen):
    """The verdict on one result, and the contradiction that the result settled, if any."""

    verdict: Verification
    settlement: Settlement | None = None
    tokens: int = 0


def verifier_task(
    stored: StoredTask,
    question: str,
    tasks: Sequence[Task],
    findings: Mapping[str, TaskFinding],
    dispute: Contradiction | None,
) -> VerifierTask:
    """The verifier's task for one result: the result, its dependencies and similar results."""
    task, finding = stored.task, findings[stored.task.id]
    done = [each for each in tasks if each.status is TaskStatus.DONE and each.id != task.id]
    needed = set(task.depends_on)
    return VerifierTask(
        question=question,
        id=task.id,
        sub_question=task.description,
        criteria=task.criteria,
        expects=task.expects,
        result=_result_values(finding),
        evidence=finding.passages,
        context=_other_results((each for each in done if each.id in needed), findings),
        others=_other_results(_similar_tasks(task, done, needed), findings),
        settles=DisputedClaims(one=dispute.one, other=dispute.other) if dispute else None,
    )


def _result_values(finding: TaskFinding) -> tuple[ResultValue, ...]:
    return tuple(
        ResultValue(
            name=each.name,
            value=each.value,
            description=each.description,
            confidence=each.confidence,
        )
        for each in finding.entities
    )


def _other_results(
    tasks: Iterable[Task], findings: Mapping[str, TaskFinding]
) -> tuple[OtherResult, ...]:
    return tuple(
        OtherResult(
            id=task.id,
            sub_question=task.description,
            values=tuple(_shortened_result(each) for each in _result_values(findings[task.id])),
        )
        for task in tasks
        if task.id in findings and findings[task.id].entities
    )


def _shortened_result(each: ResultValue) -> ResultValue:
    """A long account is cut: it is there to be compared with, not to be judged."""
    if isinstance(each.value, str) and len(each.value) > _LONGEST_VALUE:
        return each.model_copy(update={"value": each.value[:_LONGEST_VALUE]})
    return each


def _similar_tasks(task: Task, done: Sequence[Task], needed: set[str]) -> list[Task]:
    """The other results that have most words in common with this one, in order of the plan."""
    own = _task_words(task)
    others = [each for each in done if each.id not in needed]
    near = sorted(others, key=lambda each: -len(own & _task_words(each)))[:_MOST_OTHERS]
    return [each for each in others if each in near]


def _task_words(task: Task) -> set[str]:
    told = (task.description, *(f"{e.name} {e.description}" for e in task.expects))
    return {word for text in told for word in text.replace("_", " ").casefold().split()}


def verdict_faults(answer: VerifierAnswer, task: VerifierTask) -> list[str]:
    """The faults of a verdict, in words that the verifier can act on."""
    known = results_by_id(task)
    found = [
        f"contradictions: there is no result {each.other!r} among those shown"
        for each in answer.contradictions
        if each.other and each.other not in known
    ]
    if answer.status is Completeness.COMPLETE and answer.missing:
        found.append("status is `complete`, but `missing` names something: one of them is wrong")
    return found


def verdict_from_answer(
    stored: StoredTask,
    answer: VerifierAnswer,
    dispute: Contradiction | None,
    model: str,
    tokens: int,
) -> ResultVerdict:
    """The verdict from the verifier's answer."""
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
    return ResultVerdict(
        verdict=verdict, settlement=_settlement(task.id, answer, dispute), tokens=tokens
    )


def _contradiction(task_id: str, claim: Claim) -> Contradiction:
    tasks = (task_id, claim.other) if claim.other else (task_id,)
    return Contradiction(one=claim.claim, other=claim.against, tasks=tasks)


def _settlement(
    task_id: str, answer: VerifierAnswer, dispute: Contradiction | None
) -> Settlement | None:
    """The settlement by a complete result that agrees with exactly one side; else None."""
    if dispute is None or answer.sides_with not in _SIDES:
        return None
    if answer.status is not Completeness.COMPLETE:
        return None
    # One that contradicts itself has one task for both sides.
    winner = dispute.tasks[min(_SIDES[answer.sides_with], len(dispute.tasks) - 1)]
    return Settlement(by=task_id, tasks=dispute.tasks, winner=winner)


def verdict_without_answer(stored: StoredTask, why: str, model: str, tokens: int) -> ResultVerdict:
    """The verdict if the verifier gave none: incomplete, with the reason as what is missing."""
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
    return ResultVerdict(verdict=verdict, tokens=tokens)


def results_by_id(task: VerifierTask) -> Mapping[str, OtherResult]:
    """The results that a contradiction may name."""
    return {each.id: each for each in (*task.context, *task.others)}
