"""What people do to jobs: pause, resume, cancel, retry, steer.

A job whose workflow is open is reached by an update, which the workflow may refuse. One that has
ended, or whose workflow Temporal has lost, is changed in PostgreSQL and started again from there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.client import Holdfast, start_workflow
from holdfast.reaching import ask, open_workflow, stop, until_closed
from holdfast.temporal import connect
from models.control import (
    Asking,
    Control,
    Rerun,
    ResumeRequest,
    RetryRequest,
    SteerRequest,
)
from models.errors import BadInput, ServiceDown
from models.jobs import FINAL, Job, JobStatus, StopReason
from models.plan import TaskStatus
from models.questions import AnswerRequest
from models.state import JobState
from models.strategy import Strategy
from planning.answers import check_answer
from planning.rerun import resumed, retried
from planning.state import rebuilt
from storage import control, jobs, plans, questions, views

if TYPE_CHECKING:
    from temporalio.client import Client, WorkflowHandle


@dataclass(frozen=True)
class Controller:
    """Acts on jobs in the name of `by`, whom the jobs' logs will name."""

    holdfast: Holdfast
    by: str

    async def pause(self, job_id: str) -> None:
        """Let nothing more of the job start; what runs comes to its end.

        Raises:
            NotFound: there is no such job.
            BadInput: it has ended, or is paused.
            ServiceDown: Temporal or the workers do not answer, or nobody works the job.
        """
        job, handle = await self._working(job_id, "pause")
        await ask(job.id, handle, "pause", Asking(by=self.by))

    async def cancel(self, job_id: str) -> None:
        """Stop the job's calls in flight and end it; what it found is kept.

        Where no worker answers it is cancelled once one does.

        Raises:
            NotFound: there is no such job.
            BadInput: it has ended.
            ServiceDown: Temporal does not answer.
        """
        job = await self._unfinished(job_id, "cancel")
        temporal = await self._temporal()
        handle = await open_workflow(temporal, job_id)
        if handle is None:
            await self._cancel_lost(job)
            return
        try:
            await ask(job.id, handle, "cancel", Asking(by=self.by))
        except ServiceDown:
            await stop(job.id, handle)
            async with self.holdfast.db.job(job_id) as write:
                write.event(f"job.{Control.CANCELLING.value}", by=self.by)

    async def steer(self, job_id: str, words: str) -> None:
        """Tell every later planning of the job something.

        Raises:
            NotFound: there is no such job.
            BadInput: it is done, or about to end.
            ServiceDown: Temporal or the workers do not answer.
        """
        db = self.holdfast.db
        job = await jobs.load(db, job_id)
        if job.status is JobStatus.DONE and job.stop_reason is not StopReason.PLANNED:
            raise BadInput(f"job {job_id} is done; nothing of it will be planned any more")
        handle = None if job.status in FINAL else await self._handle(job)
        number = await control.give_guidance(db, job_id, words, self.by)
        try:
            if handle is not None:
                await ask(job.id, handle, "steer", SteerRequest(by=self.by, guidance=number))
                return
            async with jobs.as_read(db, job) as write:
                await control.accept_guidance(write, number)
                write.event(f"job.{Control.STEERED.value}", by=self.by, guidance=number)
        except BadInput:
            # Not where nobody answered: the request may still come to the workflow's ears.
            await control.withdraw_guidance(db, number)
            raise

    async def answer(self, job_id: str, question: int, choice: str, words: str) -> None:
        """Answer an open question of the job with a choice, with words, or with both.

        Raises:
            NotFound: there is no such job or question.
            BadInput: the question is open no more, or this is no answer to it.
            ServiceDown: Temporal or the workers do not answer.
        """
        db = self.holdfast.db
        job, handle = await self._working(job_id, "answer")
        asked = await questions.load(db, job_id, question)
        check_answer(asked.kind, choice, has_words=bool(words))
        number = await control.give_guidance(db, job_id, words, self.by) if words else None
        request = AnswerRequest(by=self.by, question=question, choice=choice, words=number)
        try:
            await ask(job.id, handle, "answer", request)
        except BadInput as error:
            # Not where nobody answered: the request may still come to the workflow's ears.
            if number is not None:
                await control.withdraw_guidance(db, number)
            faults = await questions.refused_because(db, job_id, question)
            # What comes through Temporal is cut.
            is_cut = faults.startswith(str(error)[:100])
            raise BadInput(faults if is_cut else str(error)) from error

    async def resume(self, job_id: str, strategy: Strategy | None = None) -> None:
        """Let the job go on with all it had, under another strategy where one is given.

        A paused job goes on where it stopped. One that failed or was cancelled is reopened, and
        what failed is tried again. One that was only planned is worked. One whose workflow Temporal
        has lost is started again.

        Raises:
            NotFound: there is no such job.
            BadInput: it is done, or being worked, or would end again at once.
            ServiceDown: Temporal or the workers do not answer.
        """
        job = await jobs.load(self.holdfast.db, job_id)
        temporal = await self._temporal()
        if job.stop_reason is StopReason.PLANNED:
            given = strategy or job.request.strategy
            strategy = given.model_copy(update={"plan_only": False})
        elif job.status is JobStatus.DONE:
            raise BadInput(f"job {job_id} is done; `holdfast retry {job_id} TASK` runs tasks again")
        if job.status in FINAL:
            await until_closed(temporal, job_id)
            await self._reopen(job, strategy)
        elif (handle := await open_workflow(temporal, job_id)) is None:
            await self._restart(job, strategy)
        elif job.status is not JobStatus.PAUSED:
            raise BadInput(f"job {job_id} is {job.status.value}; there is nothing to resume")
        else:
            await ask(job.id, handle, "resume", ResumeRequest(by=self.by, strategy=strategy))
            return
        await self._start(temporal, job)

    async def preview_retry(self, job_id: str, names: Sequence[str]) -> Rerun:
        """What retrying these tasks runs again, and what it keeps.

        Raises:
            NotFound: there is no such job or task.
            BadInput: a task was replaced, has not run, is running, or would not get to run.
        """
        job = await jobs.load(self.holdfast.db, job_id)
        return retried(await self._state(job), names)

    async def retry(self, job_id: str, names: Sequence[str]) -> Rerun:
        """Run tasks again with what rests on them; gives what runs again and what is kept.

        Raises:
            NotFound: there is no such job or task.
            BadInput: a task was replaced, has not run, is running, or would not get to run.
            ServiceDown: Temporal or the workers do not answer.
        """
        job = await jobs.load(self.holdfast.db, job_id)
        chosen = retried(await self._state(job), names)
        temporal = await self._temporal()
        if job.status not in FINAL:
            handle = await self._handle(job)
            asking = RetryRequest(by=self.by, tasks=tuple(names))
            told = await ask(job.id, handle, "retry", asking, Rerun)
            return Rerun.model_validate(told)
        await until_closed(temporal, job_id)
        async with jobs.as_read(self.holdfast.db, job) as write:
            await control.retry(write, names, chosen.again, self.by)
            await control.reopen(write)
        await self._start(temporal, job)
        return chosen

    async def report_what_there_is(self, job_id: str) -> bool:
        """Have the findings of a job that has ended written up; false where they are already.

        Raises:
            NotFound: there is no such job.
            BadInput: it has not ended, or found nothing.
            ServiceDown: Temporal does not answer.
        """
        job = await jobs.load(self.holdfast.db, job_id)
        if job.status not in FINAL:
            raise BadInput(
                f"job {job_id} is {job.status.value}; cancel it first, what it found is kept"
            )
        state = await self._state(job)
        if state.has_report:
            return False
        if not state.count(TaskStatus.DONE):
            raise BadInput(f"job {job_id} found nothing that could be reported")
        temporal = await self._temporal()
        await until_closed(temporal, job_id)
        async with jobs.as_read(self.holdfast.db, job) as write:
            await control.reopen_to_report(write)
            write.event("job.reopened", by=self.by, to="report")
        await self._start(temporal, job)
        return True

    async def _reopen(self, job: Job, strategy: Strategy | None) -> None:
        state = await self._state(job)
        again = resumed(state.model_copy(update={"strategy": strategy or state.strategy}))
        async with jobs.as_read(self.holdfast.db, job) as write:
            if again:
                await control.run_again(write, again)
            await control.reopen(write, strategy=strategy)
            write.event(f"job.{Control.RESUMED.value}", by=self.by, again=list(again))

    async def _restart(self, job: Job, strategy: Strategy | None) -> None:
        if strategy is not None:
            raise BadInput(
                f"the workflow of {job.id} is lost in Temporal; resume it first as it is, then "
                "pause it and resume it with other settings"
            )
        async with jobs.as_read(self.holdfast.db, job) as write:
            await control.restart(write)
            write.event(f"job.{Control.RESUMED.value}", by=self.by, lost="workflow")

    async def _cancel_lost(self, job: Job) -> None:
        async with jobs.as_read(self.holdfast.db, job) as write:
            await control.restart(write)
            await plans.cancel_open_tasks(write)
            write.event(f"job.{Control.CANCELLING.value}", by=self.by, lost="workflow")
            await jobs.end(write, JobStatus.CANCELLED, StopReason.CANCELLED, "")

    async def _state(self, job: Job) -> JobState:
        """The job as its next run finds it; while one is at work, with what runs now."""
        db, is_over = self.holdfast.db, job.status in FINAL
        states = await plans.task_states(db, job.id, of_new_run=is_over)
        return rebuilt(job.request.strategy, await views.counts(db, job.id), states)

    async def _unfinished(self, job_id: str, what: str) -> Job:
        job = await jobs.load(self.holdfast.db, job_id)
        if job.status in FINAL:
            raise BadInput(f"job {job_id} is {job.status.value}; there is nothing to {what}")
        return job

    async def _working(self, job_id: str, what: str) -> tuple[Job, "WorkflowHandle[Any, Any]"]:
        job = await self._unfinished(job_id, what)
        return job, await self._handle(job)

    async def _handle(self, job: Job) -> "WorkflowHandle[Any, Any]":
        handle = await open_workflow(await self._temporal(), job.id)
        if handle is None:
            now = await jobs.load(self.holdfast.db, job.id)
            if now.status in FINAL:
                raise BadInput(f"job {job.id} has ended and is {now.status.value}")
            raise ServiceDown(
                f"Temporal works no job {job.id}: its workflow has ended there or its data are "
                f"gone; `holdfast resume {job.id}` goes on from PostgreSQL"
            )
        return handle

    async def _temporal(self) -> "Client":
        return await connect(self.holdfast.settings, self.holdfast.endpoints)

    async def _start(self, temporal: "Client", job: Job) -> None:
        await start_workflow(temporal, self.holdfast.settings.task_queue, job.id, job.request)
