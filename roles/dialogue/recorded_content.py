"""Compare a recorded request with today's: the same content may have other words around it.

A request of a dialogue is the system message, the typed task, and then in turn the model's replies
and their faults. Its content is the model, the replies, and the fields of the task that come from
the job. No content are the system message, the answer's schema, the faults, the fields that a
release brings (`models.calls.release_fields`), and the fields that today's task does not know. A
field that a prompt leaves out has its default. So a release finds the answers that an earlier one
recorded in the same place. Steering, another result of an earlier task or another reply are
content: then the model is asked.
"""

from typing import Any

from pydantic import BaseModel, ValidationError

from holdfast.models.calls.model_requests import ModelRequest
from holdfast.models.calls.release_fields import is_from_release
from holdfast.roles.dialogue.role_definition import Role, TaskT


def asks_the_same(role: Role[Any, Any], recorded: ModelRequest, request: ModelRequest) -> bool:
    """True if the recorded answer also answers `request`."""
    if recorded.model != request.model or _replies(recorded) != _replies(request):
        return False
    tasks = recorded_task(role, _prompt(recorded)), recorded_task(role, _prompt(request))
    return None not in tasks and has_same_content(*tasks)


def recorded_task(role: Role[TaskT, Any], prompt: str) -> TaskT | None:
    """Return the task in a recorded prompt; None if a release wrote it in another form."""
    try:
        return role.task.model_validate_json(prompt, extra="ignore")
    except ValidationError:
        return None


def with_release_fields_of(current: TaskT, recorded: TaskT) -> TaskT:
    """The recorded task with today's tools and instructions, of which a prompt has only words."""
    names = [name for name, each in type(current).model_fields.items() if is_from_release(each)]
    return recorded.model_copy(update={name: getattr(current, name) for name in names})


def has_same_content(recorded: object, current: object) -> bool:
    """True if all content of `recorded` is equal in `current`."""
    if isinstance(recorded, BaseModel):
        if not isinstance(current, type(recorded)):
            return False
        return all(
            has_same_content(getattr(recorded, name), getattr(current, name))
            for name in recorded.model_fields_set | current.model_fields_set
            if not is_from_release(type(recorded).model_fields[name])
        )
    if isinstance(recorded, tuple) and isinstance(current, tuple):
        return len(recorded) == len(current) and all(map(has_same_content, recorded, current))
    return recorded == current


def _prompt(request: ModelRequest) -> str:
    return next((each.content for each in request.messages if each.role == "user"), "")


def _replies(request: ModelRequest) -> tuple[str, ...]:
    return tuple(each.content for each in request.messages if each.role == "assistant")
