"""The KPI check: a task succeeds when every entity it promised is there, typed and trusted.

KPI-Chain (seed 000), section 3.3: success iff for all e: extracted(e) is not None and
confidence(e) >= theta. A confidence per entity counts; where there is none, the one of the whole
answer counts for all.
"""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from models.base import Frozen
from models.plan import Expected
from planning.values import fitted, has_type, is_missing


class Candidate(Frozen):
    """A value proposed for an entity, with how sure its finder is and the words that show it."""

    name: str
    value: JsonValue = None
    confidence: float = 0.0
    quote: str = ""


class Verdict(Frozen):
    """What the check found: the entities to keep, and what is wrong with the others."""

    kept: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    mistyped: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    confidence: float = 0.0
    """The least confidence of the required entities."""

    @property
    def is_success(self) -> bool:
        return not (self.missing or self.mistyped or self.weak)


def judge(
    expects: Sequence[Expected],
    candidates: Mapping[str, Candidate],
    threshold: float | None,
) -> Verdict:
    """Check what was found against what was promised; `threshold` None switches confidence off."""
    kept: list[Candidate] = []
    faults: dict[str, list[str]] = {"missing": [], "mistyped": [], "weak": []}
    for entity in expects:
        candidate = candidates.get(entity.name) or Candidate(name=entity.name)
        candidate = candidate.model_copy(update={"value": fitted(candidate.value, entity.type)})
        fault = _fault(entity, candidate, threshold)
        if fault is None:
            kept.append(candidate)
        elif entity.required:
            faults[fault].append(entity.name)
    return Verdict(
        kept=tuple(kept),
        missing=tuple(faults["missing"]),
        mistyped=tuple(faults["mistyped"]),
        weak=tuple(faults["weak"]),
        confidence=_least(expects, candidates),
    )


def best_of(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """For each entity the candidate with the highest confidence; nothing never beats a value."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        rival = best.get(candidate.name)
        if rival is None or _rank(candidate) > _rank(rival):
            best[candidate.name] = candidate
    return best


def _rank(candidate: Candidate) -> tuple[bool, float]:
    return (not is_missing(candidate.value), candidate.confidence)


def _fault(entity: Expected, candidate: Candidate, threshold: float | None) -> str | None:
    if is_missing(candidate.value):
        return "missing"
    if not has_type(candidate.value, entity.type):
        return "mistyped"
    if threshold is not None and candidate.confidence < threshold:
        return "weak"
    return None


def _least(expects: Sequence[Expected], candidates: Mapping[str, Candidate]) -> float:
    required = [entity.name for entity in expects if entity.required]
    found = [candidates[name].confidence if name in candidates else 0.0 for name in required]
    return min(found, default=1.0)
