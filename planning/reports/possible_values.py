"""Name the values that were found but not taken, because their confidence was too low."""

from collections.abc import Mapping, Sequence

from holdfast.models.evidence.evidence import NearestPassage, PossibleValue
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.tasks.task_failure import WeakValue
from holdfast.models.text.report_marks import without_marks
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text

_MOST_VALUES = 5
_MAX_VALUE_CHARS = 200
_LONGEST_NAME = 5
"""Words of the longest value that is listed though its quote says nothing else, as a cell does."""
_MAX_QUOTE_CHARS = 300


def possible_values(
    tasks: Sequence[StoredTask], threshold: float | None, *, answer: str | None
) -> tuple[PossibleValue, ...]:
    """Return the surest weak value of each entity that no task found, the surest first.

    An entity of two tasks is the same if one replaced the other or is a step of it, or if both
    say the same of the entity. A report with an answer needs only those of tasks that stayed in
    the plan: a replan found the others in another way; and none that is the answer. A value that
    is its whole quote answers nothing by itself: it is one of the nearest passages.
    """
    roots = {each.task.id: each.root for each in tasks}
    known = {
        key
        for each in tasks
        if each.task.status is TaskStatus.DONE
        for entity in each.task.expects
        if entity.name in each.task.result
        for key in _keys(entity.name, entity.description, each, roots)
    }
    known |= {_value_key(answer)} if answer is not None else set()
    weak = [
        (value, each)
        for each in tasks
        if each.failure is not None
        and not (answer is not None and each.task.status is TaskStatus.SUPERSEDED)
        for value in each.failure.weak_values
        if not _is_whole_quote(value)
    ]
    possible: list[PossibleValue] = []
    for value, each in sorted(weak, key=lambda pair: -pair[0].confidence):
        keys = _keys(value.name, value.description, each, roots)
        keys |= {_value_key(value_as_text(value.value))}
        if known.isdisjoint(keys):
            possible.append(_possible(value, each, threshold or 0.0))
            known.update(keys)
    return tuple(possible[:_MOST_VALUES])


def _is_whole_quote(weak: WeakValue) -> bool:
    said = without_marks(value_as_text(weak.value)).split()
    return len(said) > _LONGEST_NAME and said == without_marks(weak.quote).split()


def _value_key(text: str) -> tuple[str, ...]:
    return ("value", " ".join(text.casefold().split()))


def _keys(
    name: str, about: str, stored: StoredTask, roots: Mapping[str, str]
) -> set[tuple[str, ...]]:
    """The entity by what is said of it, and as that of a task, its steps and all replacements."""
    owner = roots.get(stored.task.parent, stored.root)
    return {(name, " ".join(about.casefold().split())), (name, "of", owner)}


def _without_label(about: str) -> str:
    """What the value is of, without a label that the words after it repeat or that says nothing."""
    label, _, rest = about.partition(": ")
    said = label.casefold()
    is_idle = rest.endswith("?") or said == "passage" or rest.casefold().startswith(said)
    return rest if rest and is_idle else about


def _possible(weak: WeakValue, stored: StoredTask, needed: float) -> PossibleValue:
    text = shorten_text(value_as_text(weak.value), _MAX_VALUE_CHARS)
    return PossibleValue(
        about=without_marks(_without_label(weak.description or stored.task.description)),
        value=without_marks(text) or text,
        confidence=weak.confidence,
        needed=needed,
        passage=_passage(weak),
    )


def _passage(weak: WeakValue) -> NearestPassage | None:
    quote = without_marks(shorten_text(" ".join(weak.quote.split()), _MAX_QUOTE_CHARS))
    if not quote:
        return None
    title = without_marks(" ".join(weak.title.split()))
    return NearestPassage(quote=quote, title=title, address=weak.address)
