"""Find the field of the plan's form that each fault of an edited plan is about."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.planning.plans.plan_edits import quoted_id
from holdfast.web.rendering.plan_form import TaskFields

_MAX_MESSAGE_CHARS = 100_000
"""The rest of a message is left out; a plan of 500 tasks with a fault each needs half of this."""
_QUOTED_ID = re.compile(r"(?P<id>(?P<mark>['\"]).*?(?P=mark)):? ")
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
    numbered = reversed(list(enumerate(tasks)))
    places = {quoted_id(each.id.strip()): number for number, each in numbered}
    first, *parts = f"; {message[:_MAX_MESSAGE_CHARS]}".split("; task ")
    of_plan = [first.removeprefix("; ")]
    of_fields: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    last = of_plan
    for part in parts:
        words, match = f"task {part}", _QUOTED_ID.match(part)
        # Without an id, it is a text within a fault that only looks like the beginning of another.
        if match is not None:
            index = places.get(match["id"])
            if index is None:
                last = of_plan
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
