"""The knowledge base: entities and concepts with their facts, read from KoPL's JSON format."""

import difflib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast.evals.kopl.typed_values import Value, read_stored_value


class UnknownName(ValueError):
    """A name that is not in the knowledge base; the message lists the nearest that are."""


@dataclass(frozen=True)
class Fact:
    """An attribute with its value, or a relation with its direction and object."""

    key: str
    value: Value | None
    direction: str
    object: str
    qualifiers: Mapping[str, tuple[Value, ...]]


@dataclass(frozen=True)
class Thing:
    """An entity or a concept."""

    id: str
    name: str
    concepts: tuple[str, ...]
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class KnowledgeBase:
    """All things by id; concepts are things that others are instances of."""

    things: Mapping[str, Thing]
    concept_ids: frozenset[str]
    by_name: Mapping[str, tuple[str, ...]] = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> "KnowledgeBase":
        """The knowledge base in the file."""
        raw = json.loads(path.read_text(encoding="utf-8"))
        things = {name: _concept(name, each) for name, each in raw["concepts"].items()}
        things |= {name: _entity(name, each) for name, each in raw["entities"].items()}
        names: dict[str, list[str]] = defaultdict(list)
        for thing in things.values():
            names[thing.name].append(thing.id)
        by_name = {name: tuple(ids) for name, ids in names.items()}
        return cls(things, frozenset(raw["concepts"]), by_name)

    def named(self, name: str) -> tuple[str, ...]:
        """The ids of that name.

        Raises:
            UnknownName: there is none.
        """
        return self.by_name[check_name("entity", name, self.by_name)]

    def is_a(self, thing: Thing, concept: str) -> bool:
        """Whether it is an instance of the concept, or of one below it."""
        return any(concept in self._above[each] for each in thing.concepts)

    @cached_property
    def _above(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(_upwards(name, self.things)) for name in self.concept_ids}

    @cached_property
    def keys(self) -> frozenset[str]:
        """The names of attributes."""
        return frozenset(f.key for t in self.things.values() for f in t.facts if f.value)

    @cached_property
    def relations(self) -> frozenset[str]:
        return frozenset(f.key for t in self.things.values() for f in t.facts if f.object)

    @cached_property
    def qualifiers(self) -> frozenset[str]:
        every = (f.qualifiers for t in self.things.values() for f in t.facts)
        return frozenset(name for each in every for name in each)

    @cached_property
    def concept_names(self) -> dict[str, str]:
        return {self.things[each].name: each for each in self.concept_ids}


def check_name(what: str, name: str, among: Iterable[str]) -> str:
    """The name, which is one of these.

    Raises:
        UnknownName: it is not; the ten nearest are in the message.
    """
    there = among if isinstance(among, Mapping | frozenset) else frozenset(among)
    if name not in there:
        near = difflib.get_close_matches(name, list(there), n=10, cutoff=0.3)
        raise UnknownName(f"there is no {what} {name!r}; nearest: {', '.join(near) or 'none'}")
    return name


def _upwards(name: str, things: Mapping[str, Thing]) -> set[str]:
    found, left = set[str](), [name]
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left += things[each].concepts
    return found


def _concept(name: str, raw: Mapping[str, Any]) -> Thing:
    return Thing(name, raw["name"], tuple(raw.get("subclassOf", ())))


def _entity(name: str, raw: Mapping[str, Any]) -> Thing:
    facts = [
        Fact(each["key"], read_stored_value(each["value"]), "", "", _qualified(each))
        for each in raw["attributes"]
    ]
    facts += [
        Fact(each["relation"], None, each["direction"], each["object"], _qualified(each))
        for each in raw["relations"]
    ]
    return Thing(name, raw["name"], tuple(raw["instanceOf"]), tuple(facts))


def _qualified(raw: Mapping[str, Any]) -> dict[str, tuple[Value, ...]]:
    found: Mapping[str, Sequence[dict[str, Any]]] = raw.get("qualifiers") or {}
    return {
        name: tuple(read_stored_value(each) for each in values) for name, values in found.items()
    }
