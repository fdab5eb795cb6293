"""What a round of verification starts from, read from PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.findings import Finding
from models.jobs import JobRequest
from models.plan import Plan, Task, TaskStatus
from models.verification import Contradiction, StopCheck, Verification
from planning.contradictions import unsettled
from planning.verdicts import accepted, is_carried, last_by_task, unasked, verifiable
from storage import escalations, findings, plans, verifications
from storage.database import Database
from storage.escalations import Ruling
from storage.plans import StoredTask


@dataclass(frozen=True)
class Round:
    """What a round of verification starts from."""

    request: JobRequest
    tasks: tuple[StoredTask, ...]
    findings: Mapping[str, Finding]
    ledger: Sequence[StopCheck]
    before: Mapping[str, Verification]
    """The verdicts of the last round."""
    rulings: Mapping[str, Ruling]

    @property
    def sub_questions(self) -> tuple[Task, ...]:
        return tuple(each.task for each in self.tasks)

    def dispute_of(self, task_id: str) -> Contradiction | None:
        """The contradiction that this task is to settle."""
        pair = frozenset(self.findings[task_id].settles)
        open_ones = unsettled(self.before.values()) if pair else ()
        return next((each for each in open_ones if frozenset(each.tasks) == pair), None)

    def standing(self, stored: StoredTask) -> Verification | None:
        """The verdict for which nobody is asked, if there is one."""
        task, last = stored.task, self.before.get(stored.task.id)
        ruling = self.rulings.get(task.id)
        if last and ruling and ruling.accepts and ruling.attempt == last.attempt:
            return accepted(last)
        if last and is_carried(task, stored.attempt, last):
            return last.model_copy(update={"is_carried": True})
        if task.status is not TaskStatus.DONE:
            why = stored.failure.first_line if stored.failure else ""
            return unasked(task, stored.attempt, why)
        return None

    @property
    def repairs(self) -> dict[str, tuple[str, ...]]:
        """The tasks that look elsewhere, with the tasks whose contradiction they are to settle."""
        found = ((each.id, self.findings[each.id].settles) for each in self.sub_questions)
        return {name: settles for name, settles in found if settles}


async def load_round(db: Database, job_id: str, request: JobRequest) -> Round:
    """The sub-questions with what they found, and all that was said of them before."""
    tasks = await plans.load_tasks(db, job_id)
    asked = {each.id for each in verifiable(Plan(tasks=tuple(e.task for e in tasks)))}
    ledger = await verifications.rounds_of(db, job_id)
    verdicts = await verifications.verdicts_of(db, job_id)
    last = verdicts.get(ledger[-1].iteration, ()) if ledger else ()
    return Round(
        request=request,
        tasks=tuple(each for each in tasks if each.task.id in asked),
        findings=await findings.findings_of(db, job_id),
        ledger=ledger,
        before=last_by_task(last),
        rulings=await escalations.rulings_of(db, job_id),
    )
