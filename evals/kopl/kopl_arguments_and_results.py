"""Arguments and results of the KoPL tools, and the value checks that several tools share."""

from collections.abc import Callable, Iterator, Sequence

from pydantic import BaseModel, Field

from holdfast.evals.kopl.knowledge_base import Fact
from holdfast.evals.kopl.typed_values import (
    Op,
    Value,
    ValueSort,
    is_true_comparison,
    parse_time,
    parse_value,
)


class Entities(BaseModel):
    """A set of entities, as one tool gives it and others take it."""

    everything: bool = False
    ids: list[str] = Field(default_factory=list)
    facts: list[int] = Field(
        default_factory=list, description="which fact of each entity led to it; by its number"
    )


class Found(BaseModel):
    """What a tool that looks for entities gives."""

    entities: Entities
    count: int
    names: list[str]


class Told(BaseModel):
    """What a tool that asks for a value gives."""

    value: list[str] | str | int


def argument_value(text: str, sort: ValueSort) -> Value:
    """The argument as a value.

    Raises:
        ValueError: it is of another sort.
    """
    found = parse_value(text, sort)
    if found is None:
        raise ValueError(f"{text!r} is no {sort.value}")
    return found


def is_argument_value(there: Value, asked: str) -> bool:
    """Whether the value is what an argument names, of its own sort."""
    told = parse_time(asked) if there.is_time else parse_value(asked, there.sort)
    return told is not None and bool(is_true_comparison(there, "=", told))


def qualifier_values(facts: Iterator[Fact], qkey: str) -> Told:
    """The values that a qualifier has in these facts; each once."""
    values = (value.text for fact in facts for value in fact.qualifiers.get(qkey, ()))
    return Told(value=list(dict.fromkeys(values)))


def verification_answer(
    values: Sequence[str], op: Op, asked: Value, read: Callable[[str], Value | None]
) -> Told:
    """`yes`, `no`, or `not sure` where some match and some do not."""
    there = [read(each) for each in values]
    match = [each is not None and bool(is_true_comparison(each, op, asked)) for each in there]
    if not match or not any(match):
        return Told(value="no")
    return Told(value="yes" if all(match) else "not sure")
