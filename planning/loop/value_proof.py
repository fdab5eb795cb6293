"""Prove the values that an agent's answer promises, by rules: quotes first, then the value itself.

A value is stated if every part of it (each element of a list) stands in its quotes or in the titles
of their documents. One that follows from its quotes, such as a difference, a count or a yes, is
derived: rules check its numbers and names as those of a sentence, and the judge has to confirm it.
A value may also come from what the task was given; then it needs no quote, as the task that it
comes from has proven it.
"""

import re
from calendar import month_name
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from holdfast.models.loop.loop_functions import PromisedValue
from holdfast.models.loop.loop_results import LinkStrength, ProvenQuote
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.text.storable_text import storable_value
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.loop.answer_proof import ProofGround
from holdfast.planning.reports.number_spellings import canonical_number, numbers_in
from holdfast.planning.results.value_types import convert_to_type, has_type, is_missing
from holdfast.planning.text.folded_text import fold_text

_MAX_CITES = 12
_MAX_DEPTH = 8
_MOST_PARTS = 300
_LONGEST_VALUE = 8_000
"""Characters of the whole value: names in it are compared with the names of the passages."""
_LONGEST_WHY = 500
_VERDICTS = frozenset(("yes", "no", "true", "false", "none", "both", "neither"))
"""Words that a value may begin with a capital letter though they name nothing."""
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_DATE = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)")


@dataclass(frozen=True)
class ValueProof:
    """A promised value after its proof."""

    name: str
    value: JsonValue
    claimed: float | None
    """The confidence that the agent gives."""
    quotes: tuple[ProvenQuote, ...] = ()
    is_stated: bool = False
    """True if its quotes, or the given values, contain it; False if it follows from them."""
    why_refused: str = ""
    strength: LinkStrength = LinkStrength.STATED

    def judged(self, strength: LinkStrength | None, why_refused: str) -> "ValueProof":
        """This value after the judge's word; without a strength the judge did not see it."""
        if strength is None:
            return self
        return replace(self, strength=strength, why_refused=why_refused)

    def refused(self, why: str) -> "ValueProof":
        """This value with the reason for which it is refused."""
        return replace(self, why_refused=why[:_LONGEST_WHY])


def prove_values(
    said: Iterable[PromisedValue],
    expects: Sequence[ExpectedEntity],
    ground: ProofGround,
    *,
    is_last: bool = False,
) -> tuple[ValueProof, ...]:
    """Return the proof of each promised value that is there; other names do not count.

    The first time, one wrong quote refuses its value, so that the agent corrects it. The last time
    (`is_last`) the quotes that stand decide: those in another passage than the cited one are taken
    from there, and the others are left out.
    """
    by_name = {each.name.strip().casefold(): each for each in said}
    named = ((entity, by_name.get(entity.name.casefold())) for entity in expects)
    return tuple(
        _prove(_with_quotes_that_stand(value, ground) if is_last else value, entity, ground)
        for entity, value in named
        if value is not None and not is_missing(value.value)
    )


def _with_quotes_that_stand(said: PromisedValue, ground: ProofGround) -> PromisedValue:
    """Return the value with the cites whose quotes stand; as it is if there is none."""
    found = [ground.place_of(cite) for cite in said.cites]
    standing = [cite for cite in found if cite is not None]
    return said.model_copy(update={"cites": standing}) if standing else said


def _prove(said: PromisedValue, entity: ExpectedEntity, ground: ProofGround) -> ValueProof:
    value = convert_to_type(storable_value(said.value), entity.type)
    proof = ValueProof(entity.name, value, said.confidence)
    if not has_type(value, entity.type):
        return proof.refused(f"it is not of the type {entity.type.value}")
    located = [ground.locate(cite) for cite in said.cites[:_MAX_CITES]]
    if faults := [each for each in located if isinstance(each, str)]:
        return proof.refused("; ".join(faults))
    quotes = tuple(dict.fromkeys(each for each in located if not isinstance(each, str)))
    if not quotes and not ground.given:
        return proof.refused("it cites no passage: cite one, or name it in `open`")
    parts = tuple(map(_date_in_words, _parts(value)))
    if sum(map(len, parts)) > _LONGEST_VALUE or len(parts) > _MOST_PARTS:
        return proof.refused(
            f"it is too long to check ({_LONGEST_VALUE:,} characters, {_MOST_PARTS} parts)"
        )
    numbers = [cite.passage for cite in said.cites[:_MAX_CITES]]
    shown = [quote.quote for quote in quotes] + ground.titles(numbers) if quotes else ground.given
    if parts and _stand_in(parts, shown):
        return replace(proof, quotes=quotes, is_stated=True)
    # A sentence's first word is no name, whatever its capital letter; a value's may be one.
    told = ", ".join(f"is {part}" for part in parts if part.casefold() not in _VERDICTS)
    if faults := ground.unsupported(told, quotes, numbers):
        return proof.refused("; ".join(faults))
    return replace(proof, quotes=quotes)


def _parts(value: JsonValue, depth: int = 0) -> Iterator[str]:
    """Yield the texts and numbers in the value; a yes or no stands in no text."""
    if isinstance(value, bool) or value is None or depth > _MAX_DEPTH:
        return
    if isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _parts(each, depth + 1)
    else:
        yield " ".join(value_as_text(value).split())


def _date_in_words(part: str) -> str:
    """Return 1911-05-23 as 23 May 1911, since texts have no such dates; other texts as they are."""
    match = _DATE.fullmatch(part)
    if match is None or not 1 <= int(match["month"]) < len(month_name):
        return part
    return f"{int(match['day'])} {month_name[int(match['month'])]} {match['year']}"


def _stand_in(parts: Iterable[str], texts: Iterable[str]) -> bool:
    """True if each part stands in the texts, as whole words or as a number in any spelling."""
    shown = "\n".join(texts)
    folded, numbers = fold_text(shown).text, numbers_in(shown)
    return all(
        canonical_number(part) in numbers if _NUMBER.fullmatch(part) else _has_words(folded, part)
        for part in parts
    )


def _has_words(folded: str, part: str) -> bool:
    words = re.escape(fold_text(part).text)
    return re.search(rf"(?<!\w){words}(?!\w)", folded) is not None
