"""Build the verifier's task for one result, and turn the verifier's answer into a verdict."""

from collections.abc import Mapping, Sequence

from holdfast.models.calls.job_setting import JobSetting
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import Task
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.tasks.task_finding import TaskFinding
from holdfast.models.text.meant_ids import meant_id
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
    ResultToVerify,
    ResultValue,
    VerdictDraft,
    VerifierAnswer,
    VerifierTask,
)
from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.planning.verification.contradiction_rules import Settlement

_MOST_RESULTS = 10
_MOST_TOKENS = 12_000
"""Of the results that one call judges; a result that is longer has a call of its own."""
_MOST_OTHERS = 20
_LONGEST_VALUE = 1000
_SIDES = {"one": 0, "other": 1}


class ResultVerdict(Frozen):
    """The verdict on one result, and the contradiction that the result settled, if any."""

    verdict: Verification
    settlement: Settlement | None = None
    tokens: int = 0


def result_to_verify(
    stored: StoredTask,
    finding: TaskFinding,
    dispute: Contradiction | None,
    tried: tuple[str, ...],
) -> ResultToVerify:
    """The result of one sub-question as the verifier sees it."""
    task = stored.task
    return ResultToVerify(
        id=task.id,
        sub_question=task.description,
        criteria=task.criteria,
        expects=task.expects,
        result=_result_values(finding),
        evidence=finding.passages,
        tried=tried,
        depends_on=task.depends_on,
        settles=DisputedClaims(one=dispute.one, other=dispute.other) if dispute else None,
    )


def verifier_tasks(
    question: str,
    setting: JobSetting,
    results: Sequence[ResultToVerify],
    standing: Sequence[OtherResult],
    guidance: tuple[str, ...] = (),
) -> list[VerifierTask]:
    """The verifier's tasks of one round: one, unless the results are too much for one prompt.

    Results of another call, or with a verdict, are shown to be compared with.
    """
    return [
        VerifierTask(
            collection=setting.collection,
            today=setting.today,
            question=question,
            guidance=guidance,
            results=batch,
            others=_near(batch, [*standing, *(e.as_other for e in results if e not in batch)]),
        )
        for batch in _batches(results)
    ]


def tasks_by_result(task: VerifierTask) -> list[VerifierTask]:
    """The tasks that judge each result of a task by itself, next to all other results."""
    return [
        task.model_copy(
            update={
                "results": (each,),
                "others": _near(
                    (each,), [*task.others, *(e.as_other for e in task.results if e is not each)]
                ),
            }
        )
        for each in task.results
    ]


def _batches(results: Sequence[ResultToVerify]) -> list[tuple[ResultToVerify, ...]]:
    batches: list[tuple[ResultToVerify, ...]] = []
    room = 0
    for each in results:
        size = estimate_tokens(each.model_dump_json(exclude_defaults=True))
        if batches and size <= room and len(batches[-1]) < _MOST_RESULTS:
            batches[-1] = (*batches[-1], each)
            room -= size
        else:
            batches.append((each,))
            room = _MOST_TOKENS - size
    return batches


def _near(
    batch: Sequence[ResultToVerify], others: Sequence[OtherResult]
) -> tuple[OtherResult, ...]:
    """What the batch was worked from, and the results with most words in common with it."""
    needed = {name for each in batch for name in each.depends_on}
    own = {word for each in batch for word in _words(each.as_other)}
    ranked = sorted(others, key=lambda each: (each.id not in needed, -len(own & _words(each))))
    chosen = {each.id for each in ranked[:_MOST_OTHERS]}
    return tuple(_shortened_result(each) for each in others if each.id in chosen)


def _words(result: OtherResult) -> set[str]:
    told = (result.sub_question, *(f"{e.name} {e.description}" for e in result.values))
    return {word for text in told for word in text.replace("_", " ").casefold().split()}


def other_result(task: Task, finding: TaskFinding) -> OtherResult:
    """A result that has its verdict, to compare others with."""
    return OtherResult(id=task.id, sub_question=task.description, values=_result_values(finding))


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


def _shortened_result(result: OtherResult) -> OtherResult:
    """The result with its long accounts cut: it is there to be compared with, not to be judged."""
    return result.model_copy(update={"values": tuple(map(_shortened_value, result.values))})


def _shortened_value(each: ResultValue) -> ResultValue:
    if isinstance(each.value, str) and len(each.value) > _LONGEST_VALUE:
        return each.model_copy(update={"value": each.value[:_LONGEST_VALUE]})
    return each


def verdicts_by_result(answer: VerifierAnswer, task: VerifierTask) -> Mapping[str, VerdictDraft]:
    """The verdicts by the id of their result; one alone may leave the id out."""
    if len(task.results) == len(answer.verdicts) == 1:
        return {task.results[0].id: answer.verdicts[0]}
    return dict(zip(_judged_ids(answer, task), answer.verdicts, strict=True))


def _judged_ids(answer: VerifierAnswer, task: VerifierTask) -> list[str]:
    known = [each.id for each in task.results]
    return [meant_id(each.id, known) for each in answer.verdicts]


def verdict_faults(answer: VerifierAnswer, task: VerifierTask) -> list[str]:
    """The faults of the verdicts, in words that the verifier can act on."""
    verdicts = verdicts_by_result(answer, task)
    given = _judged_ids(answer, task)
    known = {each.id for each in task.results} | {each.id for each in task.others}
    found = [
        f"there is not one verdict on {each.id}"
        for each in task.results
        if each.id not in verdicts or given.count(each.id) > 1
    ]
    for name, verdict in verdicts.items():
        found += [
            f"contradictions of {name}: there is no other result {each.other!r} among those shown"
            for each in verdict.contradictions
            if each.other and (each.other not in known or each.other == name)
        ]
        if verdict.status is Completeness.COMPLETE and verdict.missing:
            found.append(
                f"{name}: status is `complete`, but `missing` names something: one of them is wrong"
            )
    return found


def verdict_from_answer(
    stored: StoredTask,
    answer: VerdictDraft,
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
    task_id: str, answer: VerdictDraft, dispute: Contradiction | None
) -> Settlement | None:
    """The settlement by a complete result that agrees with exactly one side; else None."""
    if dispute is None or answer.sides_with not in _SIDES:
        return None
    if answer.status is not Completeness.COMPLETE:
        return None
    # One that contradicts itself has one task for both sides.
    winner = dispute.tasks[min(_SIDES[answer.sides_with], len(dispute.tasks) - 1)]
    return Settlement(by=task_id, dispute=dispute, winner=winner)


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
