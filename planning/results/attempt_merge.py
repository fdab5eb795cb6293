"""Merge the results of several attempts: the best attempt, completed from the others."""

from collections.abc import Sequence

from holdfast.models.tasks.attempt_results import AttemptEvidence, AttemptResult, KeptEntity


def merge_attempts(kept: int, attempts: Sequence[AttemptResult]) -> tuple[KeptEntity, ...]:
    """Return the entities of attempt `kept`; missing ones come from the newest attempt with them.

    Order: the kept attempt's entities, then the others. An entity that no attempt found stays null.
    """
    newest_first = sorted(attempts, key=lambda each: -each.attempt)
    in_order = sorted(newest_first, key=lambda each: each.attempt != kept)
    found: dict[str, KeptEntity] = {}
    for each in in_order:
        for entity in each.entities:
            before = found.get(entity.name)
            if before is None or (before.entity.is_empty and not entity.is_empty):
                found[entity.name] = KeptEntity(attempt=each.attempt, entity=entity)
    return tuple(found.values())


def is_evidence_for_kept(seen: AttemptEvidence, kept: int, entities: Sequence[KeptEntity]) -> bool:
    """True if the evidence supports a value of the merged result.

    Steps choose their own entity names. All steps of the kept attempt count; a step of another
    attempt counts if it found a value that was taken from that attempt.
    """
    if seen.is_of_step and seen.attempt == kept:
        return True
    theirs = [each.entity for each in entities if each.attempt == seen.attempt]
    if any(each.name == seen.entity for each in theirs):
        return True
    return seen.is_of_step and any(each.value == seen.value for each in theirs)
