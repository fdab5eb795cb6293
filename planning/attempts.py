"""The results of several attempts as one: the best attempt, its holes filled from the others."""

from collections.abc import Sequence

from models.attempts import AttemptResult, KeptEntity, SeenEvidence


def merged(kept: int, attempts: Sequence[AttemptResult]) -> tuple[KeptEntity, ...]:
    """The entities of attempt `kept`; what it did not find is taken from the newest that did.

    In the order of the kept attempt, then of the others. A hole that nobody fills stays one.
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


def supports(seen: SeenEvidence, kept: int, entities: Sequence[KeptEntity]) -> bool:
    """Whether the evidence is for a value that counts, and not for one that was put aside.

    Steps name what they find in their own words: those of the kept attempt all count, those of
    another where they found what a hole was filled with.
    """
    if seen.is_of_step and seen.attempt == kept:
        return True
    theirs = [each.entity for each in entities if each.attempt == seen.attempt]
    if any(each.name == seen.entity for each in theirs):
        return True
    return seen.is_of_step and any(each.value == seen.value for each in theirs)
