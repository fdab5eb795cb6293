"""Read and change the leaves of a nested JSON value (its texts, numbers and names)."""

from collections.abc import Callable, Container, Iterator

from pydantic import JsonValue


def map_leaves(value: JsonValue, change: Callable[[JsonValue], JsonValue]) -> JsonValue:
    """The value with `change` applied to every leaf and to every name of an object."""
    if isinstance(value, list):
        return [map_leaves(item, change) for item in value]
    if isinstance(value, dict):
        return {str(change(name)): map_leaves(item, change) for name, item in value.items()}
    return change(value)


def map_texts(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """The value with `change` applied to every text and to every name of an object."""
    return map_leaves(value, lambda leaf: change(leaf) if isinstance(leaf, str) else leaf)


def texts_in(value: JsonValue, left_out: Container[str] = ()) -> Iterator[str]:
    """Every text of the value but those of fields that are left out; names of fields are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in left_out:
                yield from texts_in(each, left_out)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each, left_out)
