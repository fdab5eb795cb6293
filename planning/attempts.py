"""The results of several attempts as one: the best attempt, its holes filled from the others."""

from collections.abc import Sequence

from models.attempts import AttemptResult, KeptEntity


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
