"""Make the spans of a job's trace from its rows: those that will not change any more."""

from collections import defaultdict
from collections.abc import Iterator

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.traces.trace_spans import (
    SpanKind,
    TracedCall,
    TracedJob,
    TracedTask,
    TraceSpan,
)
from holdfast.planning.traces.span_attributes import (
    call_attributes,
    job_attributes,
    task_attributes,
)
from holdfast.planning.traces.span_ids import call_span_id, job_span_id, task_span_id, trace_id

_SETTLED = frozenset({CallStatus.DONE, CallStatus.REFUSED})
"""A failed call may be sent again until its job has ended."""
_Attempt = tuple[str, int]


def settled_spans(job: TracedJob) -> tuple[TraceSpan, ...]:
    """Return the spans of what is over: settled calls, and all else once the job has ended.

    A call's span comes before the spans around it, because these end later. An attempt at a task
    that has only calls (a person had the task run again) lasts from its first call to its last.
    """
    spans = [_call_span(job, call) for call in job.calls if _is_over(job, call)]
    if job.finished_at is None:
        return tuple(spans)
    return (*spans, *_task_spans(job), *_job_span(job))


def _is_over(job: TracedJob, call: TracedCall) -> bool:
    return job.finished_at is not None or call.status in _SETTLED


def _call_span(job: TracedJob, call: TracedCall) -> TraceSpan:
    is_tool = call.kind is SpanKind.TOOL_CALL
    return TraceSpan(
        trace_id=trace_id(job.job_id),
        span_id=call_span_id(job.job_id, call),
        parent_id=_around(job, call.task_id, call.attempt),
        kind=call.kind,
        name=f"execute_tool {call.target}" if is_tool else f"chat {call.target}",
        started_at=call.started_at,
        finished_at=max(call.started_at, call.finished_at or job.finished_at or call.started_at),
        attributes=call_attributes(job.job_id, call),
        error="" if call.status is CallStatus.DONE else call.status.value,
    )


def _around(job: TracedJob, task_id: str, attempt: int) -> str:
    """Return the id of the span around a call or a step: its task's, or the job's."""
    if any(task.task_id == task_id for task in job.tasks):
        return task_span_id(job.job_id, task_id, attempt)
    return job_span_id(job.job_id, job.attempt)


def _job_span(job: TracedJob) -> Iterator[TraceSpan]:
    if job.finished_at is None:
        return
    yield TraceSpan(
        trace_id=trace_id(job.job_id),
        span_id=job_span_id(job.job_id, job.attempt),
        kind=SpanKind.JOB,
        name=f"invoke_workflow {job.preset}",
        started_at=job.started_at or job.finished_at,
        finished_at=job.finished_at,
        attributes=job_attributes(job),
        error="" if job.status == "done" else job.stop_reason or job.status,
    )


def _task_spans(job: TracedJob) -> Iterator[TraceSpan]:
    calls: defaultdict[_Attempt, list[TracedCall]] = defaultdict(list)
    for call in job.calls:
        calls[call.task_id, call.attempt].append(call)
    known = {task.task_id: task for task in job.tasks}
    attempts = {(task.task_id, task.attempt) for task in job.tasks if task.started_at}
    attempts |= {place for place in calls if place[0] in known}
    for task_id, attempt in sorted(attempts):
        task = known[task_id]
        if attempt != task.attempt:
            task = task.model_copy(
                update={"attempt": attempt, "started_at": None, "finished_at": None}
            )
        yield _task_span(job, task, calls[task_id, attempt])


def _task_span(job: TracedJob, task: TracedTask, calls: list[TracedCall]) -> TraceSpan:
    begins = [each.started_at for each in calls]
    ends = [each.finished_at for each in calls if each.finished_at]
    started_at = min([*begins, *filter(None, [task.started_at])])
    finished_at = max([started_at, *ends, *filter(None, [task.finished_at])])
    agent = next((each for each in job.tasks if each.task_id == task.parent), None)
    return TraceSpan(
        trace_id=trace_id(job.job_id),
        span_id=task_span_id(job.job_id, task.task_id, task.attempt),
        parent_id=(
            task_span_id(job.job_id, agent.task_id, agent.attempt)
            if agent is not None
            else job_span_id(job.job_id, job.attempt)
        ),
        kind=SpanKind.TASK,
        name=f"invoke_agent {task.agent}" if task.agent else f"task {task.kind}",
        started_at=started_at,
        finished_at=finished_at,
        attributes=task_attributes(job.job_id, task),
        error="failed" if task.status == "failed" else "",
    )
