"""Pause, resume, cancel, retry, steer and answer jobs, through the workflow or in PostgreSQL.

If the job's workflow is open, it gets an update, which it may refuse. If the job has ended, or
Temporal has lost its workflow, the job is changed in PostgreSQL and started again from there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from holdfast.client import Holdfast
from holdfast.models.errors import BadInput, ServiceDown
from holdfast.models.jobs.job_record import Job, JobStatus, StopReason
from holdfast.models.jobs.job_state import JobState
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.questions.control_requests import (
    ControlRequest,
    RerunScope,
    ResumeRequest,
    RetryRequest,
    SteerRequest,
)
from holdfast.models.questions.user_questions import AnswerRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.questions.answer_choices import check_answer
from holdfast.planning.scheduler.rerun_scope import retry_scope, tasks_to_resume
from holdfast.planning.scheduler.state_transitions import rebuild_state
from holdfast.storage.jobs import job_control_rows, job_rows
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.questions import question_rows
from holdfast.storage.views import job_queries
from holdfast.temporal.temporal_connection import connect
from holdfast.temporal.workflow_handle import (
    cancel_workflow,
    find_open_workflow,
    send_update,
    wait_until_closed,
)
from holdfast.temporal.workflow_start import start_workflow

if TYPE_CHECKING:
    from temporalio.client import Client, WorkflowHandle


@dataclass(frozen=True)
class JobController:
    """Controls jobs on behalf of the user `by`, whom the jobs' logs name."""

    holdfast: Holdfast
    by: str

    async def pause(self, job_id: str) -> None:
        """Start no more tasks of the job; running tasks finish.

        Raises:
            NotFound: there is no such job.
            BadInput: the job has ended, or is paused.
            ServiceDown: Temporal or the workers do not answer, or the workflow is lost.
        """
        job, handle = await self._running(job_id, "pause")
        await send_update(job.id, handle, "pause", ControlRequest(by=self.by))

    async def cancel(self, job_id: str) -> None:
        """Stop the job's calls in flight and end the job; its findings are kept.

        If no worker answers, the job is cancelled as soon as a worker does.

        Raises:
            NotFound: there is no such job.
            BadInput: the job has ended.
            ServiceDown: Temporal does not answer.
        """
        job = await self._unfinished(job_id, "cancel")
        temporal = await self._temporal()
        handle = await find_open_workflow(temporal, job_id)
        if handle is None:
            await self._cancel_lost(job)
            return
        try:
            await send_update(job.id, handle, "cancel", ControlRequest(by=self.by))
        except ServiceDown:
            await cancel_workflow(job.id, handle)
            async with self.holdfast.db.job(job_id) as write:
                write.event(EventKind.JOB_CANCELLING, by=self.by)

    async def steer(self, job_id: str, words: str) -> None:
        """Give guidance for every later planning of the job.

        Raises:
            NotFound: there is no such job.
            BadInput: the job is done, or about to end.
            ServiceDown: Temporal or the workers do not answer.
        """
        db = self.holdfast.db
        job = await job_rows.load_job(db, job_id)
        if job.status is JobStatus.DONE and job.stop_reason is not StopReason.PLANNED:
            raise BadInput(f"job {job_id} is done; it will not be planned again")
        handle = None if job.status.is_final else await self._handle(job)
        number = await job_control_rows.propose_guidance(db, job_id, words, self.by)
        try:
            if handle is not None:
                await send_update(
                    job.id, handle, "steer", SteerRequest(by=self.by, guidance=number)
                )
                return
            async with job_rows.unchanged_job(db, job) as write:
                await job_control_rows.accept_guidance(write, number)
                write.event(EventKind.JOB_STEERED, by=self.by, guidance=number)
        except BadInput:
            # Not after a timeout: the workflow may still receive the request.
            await job_control_rows.withdraw_guidance(db, number)
            raise

    async def answer(self, job_id: str, question: int, choice: str, words: str) -> None:
        """Answer an open question of the job with a choice, with text, or with both.

        Raises:
            NotFound: there is no such job or question.
            BadInput: the question is no longer open, or does not take this answer.
            ServiceDown: Temporal or the workers do not answer.
        """
        db = self.holdfast.db
        job, handle = await self._running(job_id, "answer")
        stored = await question_rows.load_question(db, job_id, question)
        check_answer(stored.kind, choice, has_words=bool(words))
        number = (
            await job_control_rows.propose_guidance(db, job_id, words, self.by) if words else None
        )
        request = AnswerRequest(by=self.by, question=question, choice=choice, words=number)
        try:
            await send_update(job.id, handle, "answer", request)
        except BadInput as error:
            # Not after a timeout: the workflow may still receive the request.
            if number is not None:
                await job_control_rows.withdraw_guidance(db, number)
            reason = await question_rows.refusal_reason(db, job_id, question)
            # Temporal cuts long messages.
            if reason.startswith(str(error)[:100]):
                # The words, a cap or a plan, cannot be used; the choice was checked before.
                raise BadInput(reason, field="text") from error
            raise

    async def resume(self, job_id: str, strategy: Strategy | None = None) -> None:
        """Continue the job with everything it has found, under another strategy if one is given.

        A paused job continues. A failed or cancelled job is reopened and tries its failed tasks
        again. A job that was only planned runs its plan. A job whose workflow Temporal has lost is
        started again.

        Raises:
            NotFound: there is no such job.
            BadInput: the job is done, or running, or would end again at once.
            ServiceDown: Temporal or the workers do not answer.
        """
        job = await job_rows.load_job(self.holdfast.db, job_id)
        temporal = await self._temporal()
        if job.stop_reason is StopReason.PLANNED:
            planned = strategy or job.request.strategy
            strategy = planned.model_copy(update={"plan_only": False})
        elif job.status is JobStatus.DONE:
            raise BadInput(f"job {job_id} is done; `holdfast retry {job_id} TASK` runs tasks again")
        if job.status.is_final:
            await wait_until_closed(temporal, job_id)
            await self._reopen(job, strategy)
        elif (handle := await find_open_workflow(temporal, job_id)) is None:
            await self._restart(job, strategy)
        elif job.status is not JobStatus.PAUSED:
            raise BadInput(f"job {job_id} is {job.status.value}; there is nothing to resume")
        else:
            await send_update(
                job.id, handle, "resume", ResumeRequest(by=self.by, strategy=strategy)
            )
            return
        await self._start(temporal, job)

    async def preview_retry(self, job_id: str, names: Sequence[str]) -> RerunScope:
        """The tasks that a retry of these tasks runs again, and the tasks that it keeps.

        Raises:
            NotFound: there is no such job or task.
            BadInput: a task was replaced, has not run, is running, or could not run.
        """
        job = await job_rows.load_job(self.holdfast.db, job_id)
        return retry_scope(await self._state(job), names)

    async def retry(self, job_id: str, names: Sequence[str]) -> RerunScope:
        """Run tasks and the tasks that depend on them again; returns these and the kept tasks.

        Raises:
            NotFound: there is no such job or task.
            BadInput: a task was replaced, has not run, is running, or could not run.
            ServiceDown: Temporal or the workers do not answer.
        """
        job = await job_rows.load_job(self.holdfast.db, job_id)
        scope = retry_scope(await self._state(job), names)
        temporal = await self._temporal()
        if not job.status.is_final:
            handle = await self._handle(job)
            request = RetryRequest(by=self.by, tasks=tuple(names))
            answer = await send_update(job.id, handle, "retry", request, RerunScope)
            return RerunScope.model_validate(answer)
        await wait_until_closed(temporal, job_id)
        async with job_rows.unchanged_job(self.holdfast.db, job) as write:
            await job_control_rows.record_rerun(write, names, scope.rerun, self.by)
            await job_control_rows.reopen_job(write)
        await self._start(temporal, job)
        return scope

    async def write_partial_report(self, job_id: str) -> bool:
        """Write a report of what an ended job found; False if the job has a report.

        Raises:
            NotFound: there is no such job.
            BadInput: the job has not ended, or found nothing.
            ServiceDown: Temporal does not answer.
        """
        job = await job_rows.load_job(self.holdfast.db, job_id)
        if not job.status.is_final:
            raise BadInput(
                f"job {job_id} is {job.status.value}; cancel it first, its findings are kept"
            )
        state = await self._state(job)
        if state.has_report:
            return False
        if not state.count(TaskStatus.DONE):
            raise BadInput(f"job {job_id} found nothing to report")
        temporal = await self._temporal()
        await wait_until_closed(temporal, job_id)
        async with job_rows.unchanged_job(self.holdfast.db, job) as write:
            await job_control_rows.reopen_job_for_report(write)
            write.event(EventKind.JOB_REOPENED, by=self.by, to="report")
        await self._start(temporal, job)
        return True

    async def _reopen(self, job: Job, strategy: Strategy | None) -> None:
        state = await self._state(job)
        again = tasks_to_resume(replace(state, strategy=strategy or state.strategy))
        async with job_rows.unchanged_job(self.holdfast.db, job) as write:
            if again:
                await job_control_rows.rerun_tasks(write, again)
            await job_control_rows.reopen_job(write, strategy=strategy)
            write.event(EventKind.JOB_RESUMED, by=self.by, again=list(again))

    async def _restart(self, job: Job, strategy: Strategy | None) -> None:
        if strategy is not None:
            raise BadInput(
                f"the workflow of {job.id} is lost in Temporal; resume it first without "
                "changes, then pause it and resume it with other settings"
            )
        async with job_rows.unchanged_job(self.holdfast.db, job) as write:
            await job_control_rows.resume_from_lost_run(write)
            write.event(EventKind.JOB_RESUMED, by=self.by, lost="workflow")

    async def _cancel_lost(self, job: Job) -> None:
        async with job_rows.unchanged_job(self.holdfast.db, job) as write:
            await job_control_rows.release_from_lost_run(write)
            await plan_change_rows.cancel_open_tasks(write)
            write.event(EventKind.JOB_CANCELLING, by=self.by, lost="workflow")
            await job_rows.store_job_end(write, JobStatus.CANCELLED, StopReason.CANCELLED, "")

    async def _state(self, job: Job) -> JobState:
        """The state that the next run of the job starts from, with the tasks that run now."""
        db, is_over = self.holdfast.db, job.status.is_final
        states = await task_queries.task_states(db, job.id, of_new_run=is_over)
        return rebuild_state(job.request.strategy, await job_queries.job_counts(db, job.id), states)

    async def _unfinished(self, job_id: str, what: str) -> Job:
        job = await job_rows.load_job(self.holdfast.db, job_id)
        if job.status.is_final:
            raise BadInput(f"job {job_id} is {job.status.value}; there is nothing to {what}")
        return job

    async def _running(self, job_id: str, what: str) -> tuple[Job, "WorkflowHandle[Any, Any]"]:
        job = await self._unfinished(job_id, what)
        return job, await self._handle(job)

    async def _handle(self, job: Job) -> "WorkflowHandle[Any, Any]":
        handle = await find_open_workflow(await self._temporal(), job.id)
        if handle is None:
            latest = await job_rows.load_job(self.holdfast.db, job.id)
            if latest.status.is_final:
                raise BadInput(f"job {job.id} has ended and is {latest.status.value}")
            raise ServiceDown(
                f"Temporal runs no workflow of {job.id}: it has ended or its data are lost; "
                f"a worker starts it again within seconds, or `holdfast resume {job.id}` does"
            )
        return handle

    async def _temporal(self) -> "Client":
        return await connect(self.holdfast.settings, self.holdfast.endpoints)

    async def _start(self, temporal: "Client", job: Job) -> None:
        await start_workflow(temporal, self.holdfast.settings.task_queue, job.id, job.request)
