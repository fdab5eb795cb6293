"""Say with a value that a deduction takes what the value means, and how sure it is."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from holdfast.models.plans.research_plan import Task
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.text.reference_marks import whole_reference
from holdfast.planning.plans.entity_references import parse_reference, references_in

KnownValues = Mapping[str, Mapping[str, EntityValue]]
"""The entities of tasks by task and name."""


def explained_inputs(
    task: Task, inputs: Sequence[NamedValue], known: KnownValues
) -> tuple[NamedValue, ...]:
    """The resolved inputs, each with what the entities are that it was taken from."""
    return tuple(
        _explained(given, _sources(written.value, known))
        for written, given in zip(task.inputs, inputs, strict=True)
    )


def explained_context(
    task: Task, context: Sequence[NamedValue], known: KnownValues
) -> tuple[NamedValue, ...]:
    """The results of dependencies, named `T1.name`, with what they are, but for whole inputs.

    A value without a description is shown as well: only its name says what the value is.
    """
    given = _whole_inputs(task)
    explained = [_explained(each, _named(each.name, known)) for each in context]
    return tuple(each for each in explained if each.name not in given or not each.description)


def _whole_inputs(task: Task) -> set[str]:
    """The entities that an input of the task is as a whole, named `T1.name`."""
    written = [each.value for each in task.inputs if isinstance(each.value, str)]
    references = [
        parse_reference(path) for path in map(whole_reference, written) if path is not None
    ]
    return {f"{each.task_id}.{each.entity}" for each in references if each.is_plain}


def _sources(written: JsonValue, known: KnownValues) -> list[EntityValue]:
    found = (known.get(each.task_id, {}).get(each.entity or "") for each in references_in(written))
    return [each for each in found if each is not None]


def _named(name: str, known: KnownValues) -> list[EntityValue]:
    task_id, _, entity = name.rpartition(".")
    found = known.get(task_id, {}).get(entity)
    return [] if found is None else [found]


def _explained(given: NamedValue, sources: Sequence[EntityValue]) -> NamedValue:
    """The value with the meaning of its sources, and the confidence of the least sure one."""
    if not sources:
        return given
    sure = [each.confidence for each in sources if each.confidence is not None]
    about = dict.fromkeys(each.description for each in sources if each.description)
    return given.model_copy(
        update={"description": "; ".join(about), "confidence": min(sure, default=None)}
    )
