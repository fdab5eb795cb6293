"""Describe what is wrong with a checked value, and where; in constant time."""

from typing import NamedTuple

_SHOWN_CHARS = 60
_PATH_CHARS = 200


class Place(NamedTuple):
    """A place inside the checked value: the last name or index on the way to it."""

    parent: "Place | None"
    part: str | int
    depth: int


class Fault(NamedTuple):
    """What is wrong, and at which place of the value; None is the whole value."""

    message: str
    place: Place | None

    @property
    def depth(self) -> int:
        return self.place.depth if self.place else 0

    @property
    def path(self) -> tuple[str | int, ...]:
        """The names and indexes that lead to the place, from the outside."""
        parts: list[str | int] = []
        place = self.place
        while place is not None:
            parts.append(place.part)
            place = place.parent
        return tuple(reversed(parts))

    @property
    def dotted_path(self) -> str:
        """The beginning of the path for a message: `lines.0.text`."""
        return ".".join(map(str, self.path))[:_PATH_CHARS]


def inside(place: Place | None, part: str | int) -> Place:
    """Return the place of a member or item of the value at `place`."""
    return Place(place, part, place.depth + 1 if place else 1)


def shown(value: object) -> str:
    """Return how a message names the value; a container is not written out."""
    match value:
        case str() if len(value) > _SHOWN_CHARS:
            return f"{value[:_SHOWN_CHARS]!r}..."
        case list():
            return f"an array of {len(value)} items"
        case dict():
            return f"an object of {len(value)} members"
        case int() if value.bit_length() > _SHOWN_CHARS:
            return "a long number"
    return repr(value)
