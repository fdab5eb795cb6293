"""Name the values that were found but not taken, because their confidence was too low."""

from collections.abc import Iterable, Sequence

from holdfast.models.evidence.evidence import PossibleValue
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.tasks.task_failure import WeakValue
from holdfast.models.text.report_marks import without_marks
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text

_MOST_VALUES = 5
_MAX_VALUE_CHARS = 200


def possible_values(
    tasks: Sequence[StoredTask], threshold: float | None, *, is_answered: bool
) -> tuple[PossibleValue, ...]:
    """Return the surest weak value of each entity that no task found, the surest first.

    A report with an answer needs only those of tasks that stayed in the plan: a replan found the
    others in another way.
    """
    found = {name for each in tasks if each.task.status is TaskStatus.DONE for name in _names(each)}
    weak = [
        (value, each)
        for each in tasks
        if each.failure is not None
        and not (is_answered and each.task.status is TaskStatus.SUPERSEDED)
        for value in each.failure.weak_values
        if value.name not in found
    ]
    weak.sort(key=lambda pair: -pair[0].confidence)
    once = {value.name: _possible(value, each, threshold or 0.0) for value, each in reversed(weak)}
    return tuple(_by_confidence(once.values()))[:_MOST_VALUES]


def _names(stored: StoredTask) -> Iterable[str]:
    return (entity.name for entity in stored.task.expects if entity.name in stored.task.result)


def _possible(weak: WeakValue, stored: StoredTask, needed: float) -> PossibleValue:
    text = shorten_text(value_as_text(weak.value), _MAX_VALUE_CHARS)
    return PossibleValue(
        about=without_marks(weak.description or stored.task.description),
        value=without_marks(text) or text,
        confidence=weak.confidence,
        needed=needed,
    )


def _by_confidence(values: Iterable[PossibleValue]) -> list[PossibleValue]:
    return sorted(values, key=lambda each: -each.confidence)
