"""Name the attributes of spans, for collectors that know OpenTelemetry's or Phoenix's names.

OpenTelemetry's conventions for generative AI (`gen_ai.*`) are still in development and change
between releases; this is the only module that knows the names. Langfuse reads `gen_ai.*`, and
Phoenix `openinference.*` and `llm.*`. No attribute has a text of a question, a model or a tool.
"""

from holdfast.models.traces.trace_spans import SpanKind, TracedCall, TracedJob, TracedTask

Attributes = dict[str, str | int | float | bool]


def job_attributes(job: TracedJob) -> Attributes:
    """Return the attributes of a job's span."""
    return _named(
        "CHAIN",
        job.job_id,
        {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.request.model": job.model,
            "holdfast.job.preset": job.preset,
            "holdfast.job.status": job.status,
            "holdfast.job.stop_reason": job.stop_reason,
            "holdfast.job.attempt": job.attempt,
        },
    )


def task_attributes(job_id: str, task: TracedTask) -> Attributes:
    """Return the attributes of the span of an attempt at a task."""
    named: Attributes = {
        "gen_ai.operation.name": "invoke_agent" if task.agent else "invoke_workflow",
        "holdfast.task.id": task.task_id,
        "holdfast.task.kind": task.kind,
        "holdfast.task.attempt": task.attempt,
        "holdfast.task.status": task.status,
    }
    if task.agent:
        named["gen_ai.agent.name"] = task.agent
    return _named("AGENT" if task.agent else "CHAIN", job_id, named)


def call_attributes(job_id: str, call: TracedCall) -> Attributes:
    """Return the attributes of the span of a call."""
    shared: Attributes = {
        "holdfast.task.id": call.task_id,
        "holdfast.call.status": call.status.value,
        "holdfast.call.sends": call.sends,
        "holdfast.call.reused": call.reused,
    }
    if call.kind is SpanKind.TOOL_CALL:
        tool: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.target,
            "tool.name": call.target,
            "holdfast.call.is_repeated": call.is_repeated,
        }
        return _named("TOOL", job_id, tool | shared)
    model: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": call.target,
        "gen_ai.usage.input_tokens": call.input_tokens,
        "gen_ai.usage.output_tokens": call.output_tokens,
        "llm.model_name": call.target,
        "llm.token_count.prompt": call.input_tokens,
        "llm.token_count.completion": call.output_tokens,
        "llm.token_count.prompt_details.cache_read": call.cached_tokens,
        "holdfast.role": call.caller,
    }
    if call.cost is not None:
        model["holdfast.call.cost"] = call.cost
    return _named("LLM", job_id, model | shared)


def _named(kind: str, job_id: str, attributes: Attributes) -> Attributes:
    return attributes | {
        "openinference.span.kind": kind,
        "session.id": job_id,
        "gen_ai.conversation.id": job_id,
        "holdfast.job.id": job_id,
    }
