"""Check a task's result: each promised entity is present, of its type, and confident enough.

KPI-Chain (docs/method.md), section 3.3: success iff for all e: extracted(e) is not None and
confidence(e) >= theta. A confidence per entity counts; where there is none, the one of the whole
answer counts for all.
"""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from holdfast.models.evidence.evidence import LocatedQuote
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.tasks.task_failure import WeakValue
from holdfast.planning.results.value_types import convert_to_promise, has_type, is_missing


class EntityCandidate(Frozen):
    """A value that a role or a tool proposes for an entity, before the check; with its quotes."""

    name: str
    value: JsonValue = None
    confidence: float = 0.0
    quote: str = ""
    more_quotes: tuple[str, ...] = ()


class KpiVerdict(Frozen):
    """The result of the check: the entities to keep, and the faults of the others."""

    kept: tuple[EntityValue, ...] = ()
    missing: tuple[str, ...] = ()
    mistyped: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    weak_values: tuple[WeakValue, ...] = ()
    confidence: float = 0.0
    """The lowest confidence of the required entities."""

    @property
    def is_success(self) -> bool:
        return not (self.missing or self.mistyped or self.weak)

    def with_quotes(self, quotes: Mapping[str, Sequence[LocatedQuote]]) -> "KpiVerdict":
        """Return the verdict with the first located quote of each weak value, and no others."""
        shown = [(each, next(iter(quotes.get(each.name, ())), None)) for each in self.weak_values]
        weak = tuple(_shown_by(each, quote) for each, quote in shown)
        return self.model_copy(update={"weak_values": weak})


def check_kpis(
    expects: Sequence[ExpectedEntity],
    candidates: Mapping[str, EntityCandidate],
    threshold: float | None,
) -> KpiVerdict:
    """Compare the candidates with the promised entities; `threshold` None ignores confidence."""
    kept: list[EntityValue] = []
    weak_values: list[WeakValue] = []
    faults: dict[str, list[str]] = {"missing": [], "mistyped": [], "weak": []}
    for entity in expects:
        candidate = candidates.get(entity.name) or EntityCandidate(name=entity.name)
        value = convert_to_promise(candidate.value, entity)
        candidate = candidate.model_copy(update={"value": value})
        fault = _fault(entity, candidate, threshold)
        if fault is None:
            kept.append(EntityValue.of_promise(entity, candidate.value, candidate.confidence))
        elif entity.required:
            faults[fault].append(entity.name)
            if fault == "weak":
                weak_values.append(_weak_value(entity, candidate))
    return KpiVerdict(
        kept=tuple(kept),
        missing=tuple(faults["missing"]),
        mistyped=tuple(faults["mistyped"]),
        weak=tuple(faults["weak"]),
        weak_values=tuple(weak_values),
        confidence=_least(expects, candidates),
    )


def best_candidates(candidates: Iterable[EntityCandidate]) -> dict[str, EntityCandidate]:
    """Return each entity's candidate of highest confidence; null never replaces a value."""
    best: dict[str, EntityCandidate] = {}
    for candidate in candidates:
        rival = best.get(candidate.name)
        if rival is None or _rank(candidate) > _rank(rival):
            best[candidate.name] = candidate
    return best


def _rank(candidate: EntityCandidate) -> tuple[bool, float]:
    return (not is_missing(candidate.value), candidate.confidence)


def _fault(
    entity: ExpectedEntity, candidate: EntityCandidate, threshold: float | None
) -> str | None:
    if is_missing(candidate.value):
        return "missing"
    if not has_type(candidate.value, entity.type):
        return "mistyped"
    if threshold is not None and candidate.confidence < threshold:
        return "weak"
    return None


def _weak_value(entity: ExpectedEntity, candidate: EntityCandidate) -> WeakValue:
    return WeakValue(
        name=entity.name,
        description=entity.description,
        value=candidate.value,
        confidence=candidate.confidence,
        quote=candidate.quote,
    )


def _shown_by(weak: WeakValue, quote: LocatedQuote | None) -> WeakValue:
    if quote is None:
        return weak.model_copy(update={"quote": ""})
    place = {"title": quote.passage.title, "address": quote.passage.address}
    return weak.model_copy(update={"quote": quote.quote} | place)


def _least(expects: Sequence[ExpectedEntity], candidates: Mapping[str, EntityCandidate]) -> float:
    """The confidence of the least certain required entity; of those found if none is required."""
    required = [entity.name for entity in expects if entity.required]
    names = required or [name for name, each in candidates.items() if not is_missing(each.value)]
    found = [candidates[name].confidence if name in candidates else 0.0 for name in names]
    return min(found, default=1.0)
