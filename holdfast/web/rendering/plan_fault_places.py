"""Find the field of the plan's form that each fault of an edited plan is about."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.web.rendering.plan_form import TaskFields, shown_id

_MAX_MESSAGE_CHARS = 100_000
"""So much of a message is placed; a plan of 500 tasks with a fault each needs half of it."""
_BEGINNING = "; task "
_ID = re.compile(r"(?P<mark>['\"])(?P<id>.*?)(?P=mark):? ")
_FIELDS = (
    ("inputs", re.compile(r"parameter\b|tool '[^']*' (needs|has no) |name:|value:")),
    ("id", re.compile(r"the id |an id |id:")),
    ("tool", re.compile(r"unknown tool|is a reasoning task but names the tool|tool")),
    ("agent", re.compile(r"unknown agent|agent")),
    ("needs", re.compile(r"depends on|its dependencies|the last task must not be needed")),
    ("outputs", re.compile(r"promises|the last task must yield|only the last task|no task may")),
    ("priority", re.compile(r"priority")),
    ("kind", re.compile(r"kind")),
    ("description", re.compile(r"has no description|description")),
)
"""The beginnings of faults by field; a fault of no field belongs to its task."""


class PlacedFaults(NamedTuple):
    """The faults of an edited plan, each once."""

    of_plan: tuple[str, ...]
    of_fields: Mapping[tuple[int, str], str]
    """By the place of the task and the name of the field; empty for the task as a whole."""


def place_faults(message: str, tasks: Sequence[TaskFields]) -> PlacedFaults:
    """The faults of a message that names tasks, at the fields of these tasks.

    The message quotes what its sender wrote, so its parts are looked at once each, from their
    beginning: a text that looks like many faults must not take long.
    """
    places = {shown_id(each.id): number for number, each in reversed(list(enumerate(tasks)))}
    first, *parts = f"; {message[:_MAX_MESSAGE_CHARS]}".split(_BEGINNING)
    of_plan = [first.removeprefix("; ")]
    of_fields: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    last = of_plan
    for part in parts:
        match = _ID.match(part)
        if match is None:
            # A text within a fault, which only looks like the beginning of another.
            last.append(_BEGINNING.removeprefix("; ") + part)
            continue
        index = places.get(f"{match['mark']}{match['id']}{match['mark']}")
        if index is None:
            last = of_plan
            last.append(_BEGINNING.removeprefix("; ") + part)
        else:
            words = part[match.end() :]
            last = of_fields[(index, _field(words))]
            last.append(words)
    return PlacedFaults(
        tuple(each for each in of_plan if each),
        {place: "; ".join(faults) for place, faults in of_fields.items()},
    )


def _field(words: str) -> str:
    return next((name for name, beginning in _FIELDS if beginning.match(words)), "")
