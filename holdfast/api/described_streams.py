"""Describe the event streams in `/openapi.json`: names and data of events, and how to resume.

OpenAPI 3.1 has no words for Server-Sent Events, so the description of a stream has a member
`x-events`: for each name of an event, the JSON schema of its data.
"""

from typing import Any

from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.wire.event_kinds import EventKind

MEDIA_TYPE = "text/event-stream"
LAST_EVENT = "end"
_ENTRY = {"$ref": "#/components/schemas/EventView"}
_PARTS = (
    "output_item.added",
    "output_item.done",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "content_part.added",
    "content_part.done",
    "output_text.delta",
    "output_text.annotation.added",
    "output_text.done",
    "function_call_arguments.delta",
    "function_call_arguments.done",
)
_WHOLE = ("created", "in_progress", "completed", "failed", "incomplete")
_KEPT_OPEN = "It sends a comment every 15 seconds, and no `retry`. "


def job_stream() -> dict[str, Any]:
    """The description of the stream of a job's log: the content of an answer."""
    words = (
        "Server-Sent Events: one for each entry of the log, with its number as `id`, its kind as "
        f"`event` and the entry as `data`, then `{LAST_EVENT}` without an id. "
        + _KEPT_OPEN
        + "A client that was cut off sends the last `id` as `Last-Event-ID` or `?after=`, and gets "
        "exactly the missing events. `x-events` has the schema of each event's data."
    )
    events = {kind.value: _entry_schema(kind) for kind in EventKind} | {LAST_EVENT: _end_schema()}
    return _stream(words, events)


def response_stream() -> dict[str, Any]:
    """The description of the stream of a response: the content of an answer."""
    words = (
        "Server-Sent Events of the OpenAI Responses API: `event` and the member `type` of `data` "
        "are the name, and `sequence_number` counts them. "
        + _KEPT_OPEN
        + "`starting_after` goes on after one of them. The last one is `response.completed`, "
        "`response.failed` or `response.incomplete`. `x-events` has what each has in common."
    )
    events = {
        f"response.{name}": _response_schema(f"response.{name}", is_whole=is_whole)
        for names, is_whole in ((_WHOLE, True), (_PARTS, False))
        for name in names
    }
    return _stream(words, events)


RESUMING_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": name,
        "in": place,
        "required": False,
        "description": f"The number of the last entry that was received{more}.",
        "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
    }
    for name, place, more in (
        ("Last-Event-ID", "header", "; a browser sends it by itself"),
        ("after", "query", "; the header counts if both are there"),
    )
]


def _stream(words: str, events: dict[str, Any]) -> dict[str, Any]:
    return {MEDIA_TYPE: {"schema": {"description": words}, "x-events": events}}


def _entry_schema(kind: EventKind) -> dict[str, Any]:
    return {"allOf": [_ENTRY, {"properties": {"kind": {"const": kind.value}}}]}


def _end_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["job_id", "status", "stop_reason", "last_event"],
        "additionalProperties": False,
        "properties": {
            "job_id": {"type": "string"},
            "status": {"enum": [each.value for each in JobStatus if each.is_final]},
            "stop_reason": {"enum": [*(each.value for each in StopReason), None]},
            "last_event": {"type": "integer", "minimum": 1},
        },
    }


def _response_schema(name: str, *, is_whole: bool) -> dict[str, Any]:
    more = {"response": {"type": "object"}} if is_whole else {}
    return {
        "type": "object",
        "required": ["type", "sequence_number", *more],
        "properties": {
            "type": {"const": name},
            "sequence_number": {"type": "integer", "minimum": 0},
            **more,
        },
    }
