"""What a revision of the plan changed in tasks that had not begun."""

from pydantic import JsonValue

from models.base import Frozen


class Change(Frozen):
    """One field of an unfinished task, before and after a revision of the plan."""

    task: str
    field: str
    old: JsonValue = None
    new: JsonValue = None
