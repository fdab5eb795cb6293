"""Show a plan to a model in the same fields in which the model writes one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, JsonValue, PlainSerializer

from holdfast.models.plans.kpi_chain_format import from_listing
from holdfast.models.plans.research_plan import FIRST_QUERIES, EntityType, Task, TaskKind
from holdfast.models.text.reference_marks import disarm_references

_NOT_SHOWN = frozenset({"parent"})
"""The ids of steps say whose they are."""


def shown_plan(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """The tasks as a prompt shows them: no text in a result works as a reference."""
    return tuple(_as_shown(task) for task in tasks)


def _as_shown(task: Task) -> Task:
    values: Any = disarm_references(dict(task.result))
    return task.model_copy(update={"parent": "", "result": values})


def _read(value: object) -> object:
    """The tasks of a prompt; earlier releases wrote them with the names of Listing 1."""
    if not isinstance(value, list | tuple):
        return value
    return tuple(_task(each) for each in value)


def _task(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    if "task_id" in value:
        try:
            return _as_shown(from_listing(dict(value)))
        except KeyError as missing:
            raise ValueError(f"the task has no field {missing}") from missing
    of_agent = {} if "kind" in value else {"kind": TaskKind.AGENT, "include_context": True}
    task = Task.model_validate(_with_queries_as_input({**of_agent, **value}))
    return task.model_copy(
        update={"inputs": tuple(each.with_reference_flag() for each in task.inputs)}
    )


def _written(tasks: Sequence[Task]) -> list[dict[str, JsonValue]]:
    return [_task_in_json(each) for each in tasks]


def _task_in_json(task: Task) -> dict[str, JsonValue]:
    """The task without its empty fields; what is default in a draft is default here."""
    content = task.model_dump(mode="json", exclude_defaults=True, exclude=set(_NOT_SHOWN))
    for given in content.get("inputs", ()):
        given.pop("is_reference", None)
    result = content.pop("result", {})
    if task.agent:  # a sub-question is written without a kind, and shows context by default
        content.pop("kind")
        content |= _queries_apart(content)
        content.pop("include_context", None)
        content |= {} if task.include_context else {"include_context": False}
    shown = {**content, "status": task.status.value}
    return {**shown, "result": result} if result else shown


def _queries_apart(content: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The first queries under the name that a draft has for them, taken out of the inputs."""
    inputs = content.pop("inputs", None)
    listed = inputs if isinstance(inputs, list) else []
    rest = [each for each in listed if isinstance(each, dict) and each["name"] != FIRST_QUERIES]
    queries = [each["value"] for each in listed if isinstance(each, dict) and each not in rest]
    shown: dict[str, JsonValue] = {"inputs": [*rest]} if rest else {}
    return {**shown, FIRST_QUERIES: queries[0]} if queries else shown


def _with_queries_as_input(content: dict[str, Any]) -> dict[str, Any]:
    queries = content.pop(FIRST_QUERIES, None)
    if not queries:
        return content
    first = {"name": FIRST_QUERIES, "type": EntityType.ARRAY, "value": queries}
    return {**content, "inputs": [*content.get("inputs", ()), first]}


ShownPlan: TypeAlias = Annotated[
    tuple[Task, ...],
    BeforeValidator(_read),
    PlainSerializer(_written, return_type=list[dict[str, Any]], when_used="json"),
]
"""The tasks of a plan in a prompt, each with its status and, when done, its result."""
