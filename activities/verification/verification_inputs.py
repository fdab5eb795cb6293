"""Read what a verification round needs: tasks, findings, verdicts, and people's decisions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.research_plan import Plan, Task, TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.tasks.task_finding import TaskFinding
from holdfast.models.verification.verification_verdicts import (
    Contradiction,
    Verification,
)
from holdfast.models.verification.verifier_messages import OtherResult, ResultToVerify
from holdfast.planning.context.tried_calls import tried_calls
from holdfast.planning.verification.contradiction_rules import (
    dispute_of_tie_breaker,
    unsettled_contradictions,
)
from holdfast.planning.verification.same_dispute import same_disputes
from holdfast.planning.verification.verdict_and_retry_rules import (
    accept_verdict,
    is_carried_over,
    verdict_without_model,
    verdicts_by_task,
    verifiable_tasks,
)
from holdfast.planning.verification.verifier_answer_to_verdict import other_result, result_to_verify
from holdfast.storage.core.database import Database
from holdfast.storage.evidence import verification_rows
from holdfast.storage.plans import task_finding_queries, task_queries
from holdfast.storage.questions import escalation_rows
from holdfast.storage.questions.escalation_rows import Ruling


@dataclass(frozen=True)
class VerificationInputs:
    """The inputs of a verification round."""

    request: JobRequest
    tasks: tuple[StoredTask, ...]
    findings: Mapping[str, TaskFinding]
    before: Mapping[str, Verification]
    """The verdicts of the last round."""
    rulings: Mapping[str, Ruling]
    tried: Mapping[str, tuple[str, ...]]
    """The calls of all attempts so far, by sub-question."""

    @property
    def sub_questions(self) -> tuple[Task, ...]:
        return tuple(each.task for each in self.tasks)

    def stored(self, task_id: str) -> StoredTask:
        """Return the task of a result."""
        return next(each for each in self.tasks if each.task.id == task_id)

    def result_of(self, stored: StoredTask) -> ResultToVerify:
        """Return the result of a task as the verifier sees it."""
        name = stored.task.id
        return result_to_verify(
            stored, self.findings[name], self.dispute_of(name), self.tried.get(name, ())
        )

    def other_results(self, judged: Iterable[str]) -> list[OtherResult]:
        """Return the results that are not judged in this round, to compare with."""
        left_out = set(judged)
        return [
            other_result(task, self.findings[task.id])
            for task in self.sub_questions
            if task.status is TaskStatus.DONE
            and task.id not in left_out
            and self.findings[task.id].entities
        ]

    def dispute_of(self, task_id: str) -> Contradiction | None:
        """Return the contradiction that this tie-breaker task settles."""
        named = dispute_of_tie_breaker(self.findings[task_id])
        open_ones = unsettled_contradictions(self.before.values()) if named else ()
        place = same_disputes([named], open_ones).get(0) if named else None
        return None if place is None else open_ones[place]

    def standing(self, stored: StoredTask) -> Verification | None:
        """Return the verdict that needs no model call, if there is one."""
        task, last = stored.task, self.before.get(stored.task.id)
        ruling = self.rulings.get(task.id)
        if last and ruling and ruling.accepts and ruling.attempt == last.attempt:
            return accept_verdict(last)
        if last and is_carried_over(task, stored.attempt, last):
            return last.model_copy(update={"is_carried_over": True})
        if task.status is not TaskStatus.DONE:
            why = stored.failure.first_line if stored.failure else ""
            return verdict_without_model(task, stored.attempt, why)
        return None

    @property
    def repairs(self) -> dict[str, tuple[str, ...]]:
        """Return the tie-breaker tasks with the tasks whose contradiction they settle."""
        found = ((each.id, self.findings[each.id].tie_breaker_for) for each in self.sub_questions)
        return {name: pair for name, pair in found if pair}

    @property
    def looked_into(self) -> list[Contradiction]:
        """Return the contradictions that have a tie-breaker task."""
        found = (dispute_of_tie_breaker(self.findings[each.id]) for each in self.sub_questions)
        return [each for each in found if each]


async def load_verification_inputs(
    db: Database, job_id: str, request: JobRequest
) -> VerificationInputs:
    """Load the tasks to verify with their findings and earlier verdicts."""
    tasks = await task_queries.load_tasks(db, job_id)
    asked = {each.id for each in verifiable_tasks(Plan(tasks=tuple(e.task for e in tasks)))}
    ledger = await verification_rows.verification_rounds_of(db, job_id)
    verdicts = await verification_rows.verdicts_of(db, job_id)
    last = verdicts.get(ledger[-1].round, ()) if ledger else ()
    return VerificationInputs(
        request=request,
        tasks=tuple(each for each in tasks if each.task.id in asked),
        findings=await task_finding_queries.findings_of(db, job_id),
        before=verdicts_by_task(last),
        rulings=await escalation_rows.rulings_of(db, job_id),
        tried={name: tried_calls((each.task for each in tasks), name) for name in asked},
    )
