"""KoPL's 27 functions over a knowledge base, as tools that take and return plain JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.evals.kopl.knowledge_base import Fact, KnowledgeBase, Thing, check_name
from holdfast.evals.kopl.kopl_arguments_and_results import (
    Entities,
    Found,
    Told,
    argument_value,
    is_argument_value,
    qualifier_values,
    verification_answer,
)
from holdfast.evals.kopl.typed_values import (
    Op,
    Value,
    ValueSort,
    is_true_comparison,
    parse_time,
    parse_value,
)

_SHOWN = 5


@dataclass(frozen=True)
class KoplTools:
    """The functions; their parameters are named as in the paper's tools."""

    base: KnowledgeBase

    def find_all(self) -> Found:
        """All entities and concepts."""
        count = len(self.base.things)
        return Found(entities=Entities(everything=True), count=count, names=[])

    def find(self, name: str) -> Found:
        """Entities with exactly that name."""
        return self._found(self.base.named(name))

    def filter_concept(self, entities: Entities, concept_name: str) -> Found:
        """Those that are instances of the concept or of one below it; each once."""
        concepts = self.base.concept_names
        concept = concepts[check_name("concept", concept_name, concepts)]
        kept = (each.id for each in self._things(entities) if self.base.is_a(each, concept))
        return self._found(dict.fromkeys(kept))

    def filter_str(self, entities: Entities, key: str, value: str) -> Found:
        """Those whose attribute is the string."""
        return self._by_attribute(entities, key, argument_value(value, ValueSort.STRING), "=")

    def filter_num(self, entities: Entities, key: str, value: str, op: Op) -> Found:
        """Those whose attribute is such a quantity; value: a number with its unit."""
        return self._by_attribute(entities, key, argument_value(value, ValueSort.QUANTITY), op)

    def filter_year(self, entities: Entities, key: str, value: str, op: Op) -> Found:
        """Those whose attribute is such a year, or a date in it."""
        return self._by_attribute(entities, key, argument_value(value, ValueSort.YEAR), op)

    def filter_date(self, entities: Entities, key: str, value: str, op: Op) -> Found:
        """Those whose attribute is such a date; value: yyyy-mm-dd."""
        return self._by_attribute(entities, key, argument_value(value, ValueSort.DATE), op)

    def qfilter_str(self, entities: Entities, qkey: str, qvalue: str) -> Found:
        """Those whose fact has the qualifier; right after a filter by attribute or a Relate."""
        return self._by_qualifier(entities, qkey, argument_value(qvalue, ValueSort.STRING), "=")

    def qfilter_num(self, entities: Entities, qkey: str, qvalue: str, op: Op) -> Found:
        """The same for a quantity."""
        return self._by_qualifier(entities, qkey, argument_value(qvalue, ValueSort.QUANTITY), op)

    def qfilter_year(self, entities: Entities, qkey: str, qvalue: str, op: Op) -> Found:
        """The same for a year."""
        return self._by_qualifier(entities, qkey, argument_value(qvalue, ValueSort.YEAR), op)

    def qfilter_date(self, entities: Entities, qkey: str, qvalue: str, op: Op) -> Found:
        """The same for a date."""
        return self._by_qualifier(entities, qkey, argument_value(qvalue, ValueSort.DATE), op)

    def relate(
        self, entities: Entities, relation: str, direction: Literal["forward", "backward"]
    ) -> Found:
        """What they are related to; one that is reached twice is there twice."""
        check_name("relation", relation, self.base.relations)
        reached = [
            (fact.object, self._mirrored(each, fact))
            for each in self._things(entities)
            for fact in each.facts
            if fact.object and fact.key == relation and fact.direction == direction
        ]
        return self._found([name for name, _ in reached], [at for _, at in reached])

    def both(self, l_entities: Entities, r_entities: Entities) -> Found:
        """Those that are in both."""
        right = {each.id for each in self._things(r_entities)}
        left = (each.id for each in self._things(l_entities))
        return self._found(dict.fromkeys(name for name in left if name in right))

    def either(self, l_entities: Entities, r_entities: Entities) -> Found:
        """Those that are in one of the two."""
        every = (*self._things(l_entities), *self._things(r_entities))
        return self._found(dict.fromkeys(each.id for each in every))

    def query_name(self, entities: Entities) -> Told:
        """Their names."""
        return Told(value=[each.name for each in self._things(entities)])

    def count(self, entities: Entities) -> Told:
        """How many they are."""
        return Told(value=sum(1 for _ in self._things(entities)))

    def select_between(
        self, l_entities: Entities, r_entities: Entities, key: str, op: Literal["less", "greater"]
    ) -> Told:
        """The name of the one whose quantity is smaller or greater."""
        every = [*self._things(l_entities), *self._things(r_entities)]
        return Told(value=self._extreme(every, key, largest=op == "greater")[0])

    def select_among(
        self, entities: Entities, key: str, op: Literal["smallest", "largest"]
    ) -> Told:
        """The names of those with the smallest or largest quantity."""
        every = list(self._things(entities))
        return Told(value=self._extreme(every, key, largest=op == "largest"))

    def query_attr(self, entities: Entities, key: str) -> Told:
        """The values of an attribute."""
        return Told(value=[value.text for _, value in self._attributes(entities, key)])

    def query_attr_under_condition(
        self, entities: Entities, key: str, qkey: str, qvalue: str
    ) -> Told:
        """The values of an attribute where a qualifier has that value."""
        check_name("qualifier", qkey, self.base.qualifiers)
        kept = [
            value.text
            for fact, value in self._attributes(entities, key)
            if any(is_argument_value(each, qvalue) for each in fact.qualifiers.get(qkey, ()))
        ]
        return Told(value=kept)

    def query_relation(self, s_entities: Entities, t_entities: Entities) -> Told:
        """What the first ones are related to the others by."""
        targets = {each.id for each in self._things(t_entities)}
        kept = (
            fact.key
            for each in self._things(s_entities)
            for fact in each.facts
            if fact.object in targets and fact.direction == "forward"
        )
        return Told(value=list(dict.fromkeys(kept)))

    def query_attr_qualifier(self, entities: Entities, key: str, value: str, qkey: str) -> Told:
        """The values of a qualifier of the attribute that has this value."""
        check_name("qualifier", qkey, self.base.qualifiers)
        return qualifier_values(
            (f for f, there in self._attributes(entities, key) if is_argument_value(there, value)),
            qkey,
        )

    def query_relation_qualifier(
        self, s_entities: Entities, t_entities: Entities, relation: str, qkey: str
    ) -> Told:
        """The values of a qualifier of the relation between them."""
        check_name("relation", relation, self.base.relations)
        check_name("qualifier", qkey, self.base.qualifiers)
        targets = {each.id for each in self._things(t_entities)}
        facts = (
            fact
            for each in self._things(s_entities)
            for fact in each.facts
            if fact.key == relation and fact.object in targets
        )
        return qualifier_values(facts, qkey)

    def verify_str(self, s_value: list[str], t_value: str) -> Told:
        """Whether the values are the string: yes, no, or not sure where only some are."""
        return verification_answer(
            s_value,
            "=",
            argument_value(t_value, ValueSort.STRING),
            lambda v: parse_value(v, ValueSort.STRING),
        )

    def verify_num(self, s_value: list[str], t_value: str, op: Op) -> Told:
        """The same for quantities."""
        asked = argument_value(t_value, ValueSort.QUANTITY)
        return verification_answer(s_value, op, asked, lambda v: parse_value(v, ValueSort.QUANTITY))

    def verify_year(self, s_value: list[str], t_value: str, op: Op) -> Told:
        """The same for years."""
        return verification_answer(s_value, op, argument_value(t_value, ValueSort.YEAR), parse_time)

    def verify_date(self, s_value: list[str], t_value: str, op: Op) -> Told:
        """The same for dates."""
        return verification_answer(s_value, op, argument_value(t_value, ValueSort.DATE), parse_time)

    # --- what they share

    def _things(self, entities: Entities) -> Iterator[Thing]:
        ids = self.base.things if entities.everything else entities.ids
        for each in ids:
            yield self.base.things[check_name("entity id", each, self.base.things)]

    def _found(self, ids: Sequence[str] | dict[str, None], facts: Sequence[int] = ()) -> Found:
        names = [self.base.things[each].name for each in list(ids)[:_SHOWN]]
        return Found(
            entities=Entities(ids=list(ids), facts=list(facts)), count=len(ids), names=names
        )

    def _by_attribute(self, entities: Entities, key: str, asked: Value, op: Op) -> Found:
        check_name("attribute", key, self.base.keys)
        kept = [
            (each.id, at)
            for each in self._things(entities)
            for at, fact in enumerate(each.facts)
            if fact.value and fact.key == key and is_true_comparison(fact.value, op, asked)
        ]
        return self._found([name for name, _ in kept], [at for _, at in kept])

    def _by_qualifier(self, entities: Entities, qkey: str, asked: Value, op: Op) -> Found:
        check_name("qualifier", qkey, self.base.qualifiers)
        if len(entities.facts) != len(entities.ids):
            raise ValueError("these entities carry no facts: filter by attribute or Relate first")
        kept = [
            (name, at)
            for name, at in zip(entities.ids, entities.facts, strict=True)
            if any(
                is_true_comparison(value, op, asked)
                for value in self.base.things[name].facts[at].qualifiers.get(qkey, ())
            )
        ]
        return self._found([name for name, _ in kept], [at for _, at in kept])

    def _mirrored(self, thing: Thing, fact: Fact) -> int:
        """The same fact as the one it leads to has it: with the same qualifiers."""
        other = self.base.things[fact.object].facts
        same = [
            at
            for at, each in enumerate(other)
            if each.object == thing.id and each.key == fact.key and each.direction != fact.direction
        ]
        equal = [at for at in same if other[at].qualifiers == fact.qualifiers]
        return next(iter([*equal, *same]), 0)

    def _attributes(self, entities: Entities, key: str) -> Iterator[tuple[Fact, Value]]:
        check_name("attribute", key, self.base.keys)
        for each in self._things(entities):
            yield from ((f, f.value) for f in each.facts if f.value and f.key == key)

    def _extreme(self, things: Sequence[Thing], key: str, *, largest: bool) -> list[str]:
        """The names with the extreme quantity, in the unit that most of them have."""
        check_name("attribute", key, self.base.keys)
        held = [
            (fact.value, each.name)
            for each in things
            for fact in each.facts
            if fact.key == key and fact.value and fact.value.sort is ValueSort.QUANTITY
        ]
        if not held:
            raise ValueError(f"none of these has a quantity {key!r}")
        unit = Counter(value.unit for value, _ in held).most_common(1)[0][0]
        amounts = [(value.amount, name) for value, name in held if value.unit == unit]
        best = (max if largest else min)(amount for amount, _ in amounts)
        return list(dict.fromkeys(name for amount, name in amounts if amount == best))
