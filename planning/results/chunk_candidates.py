"""Choose each entity's value from what was read in the chunks of one answer.

Of a single value the candidate with the highest confidence wins (KPI-Chain, section 3.3). A list
may be spread over the whole answer, so the items of all chunks that are sure enough are joined.
"""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import EntityType, ExpectedEntity
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.results.kpi_check import EntityCandidate, best_candidates
from holdfast.planning.results.value_types import convert_to_type


class ChosenCandidate(Frozen):
    """The value that counts for an entity, with the candidates that it was taken from."""

    candidate: EntityCandidate
    parts: tuple[EntityCandidate, ...]


def chosen_candidates(
    candidates: Sequence[EntityCandidate],
    expects: Sequence[ExpectedEntity],
    threshold: float | None,
) -> Mapping[str, ChosenCandidate]:
    """Return the value of each entity: the best candidate's, or the items of all sure lists."""
    lists = {each.name for each in expects if each.type is EntityType.ARRAY}
    found: dict[str, ChosenCandidate] = {}
    for name, best in best_candidates(candidates).items():
        own = [each for each in candidates if each.name == name] if name in lists else []
        sure = [each for each in own if _items(each) and each.confidence >= (threshold or 0.0)]
        parts = tuple(sure) or (best,)
        candidate = _joined(sure) if len(sure) > 1 else parts[0]
        found[name] = ChosenCandidate(candidate=candidate, parts=parts)
    return found


def _joined(lists: Sequence[EntityCandidate]) -> EntityCandidate:
    """Return the items of the lists in order, each once; as sure as the least sure list."""
    items: dict[str, JsonValue] = {}
    for item in (item for each in lists for item in _items(each)):
        items.setdefault(value_as_text(item).strip().casefold(), item)
    confidence = min(each.confidence for each in lists)
    return lists[0].model_copy(update={"value": list(items.values()), "confidence": confidence})


def _items(candidate: EntityCandidate) -> Sequence[JsonValue]:
    """Return the items of a list; none of what is no list."""
    value = convert_to_type(candidate.value, EntityType.ARRAY)
    return value if isinstance(value, list) else ()
