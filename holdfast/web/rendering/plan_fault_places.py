"""Find the field of the plan's form that each fault of an edited plan is about."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from holdfast.web.rendering.plan_form import TaskFields

_OF_TASK = re.compile(r"(?:^|; )task (?P<mark>['\"])(?P<task>.*?)(?P=mark):? ")
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
    """The faults of a message that names tasks, at the fields of these tasks."""
    places = {each.id.strip(): number for number, each in reversed(list(enumerate(tasks)))}
    found = list(_OF_TASK.finditer(message))
    of_plan = [message[: found[0].start()] if found else message]
    of_fields: dict[tuple[int, str], str] = {}
    ends = chain((each.start() for each in found[1:]), (len(message),))
    for match, end in zip(found, ends, strict=False):
        words = message[match.end() : end]
        if match["task"] not in places:
            of_plan.append(message[match.start() : end].removeprefix("; "))
            continue
        place = (places[match["task"]], _field(words))
        of_fields[place] = f"{of_fields[place]}; {words}" if place in of_fields else words
    return PlacedFaults(tuple(each for each in of_plan if each), of_fields)


def _field(words: str) -> str:
    return next((name for name, beginning in _FIELDS if beginning.match(words)), "")
