"""Merge the results of several attempts: the best attempt, completed from the others."""

import re
from collections.abc import Sequence

from holdfast.models.plans.research_plan import FINDINGS_ENTITY
from holdfast.models.tasks.attempt_results import (
    AttemptEvidence,
    AttemptResult,
    EntityValue,
    KeptEntity,
)
from holdfast.models.text.sentences import sentence_spans
from holdfast.models.text.words import words_of

_MIN_LETTERS = 3
_SAME_SUBJECT = 0.5
"""Sentences with so many of their words in common say the same, or correct each other."""
_SHOWN = 0.5
"""A quote shows a sentence if this share of the words of the shorter one is in both."""
_NOTHING_FOUND = re.compile(
    r"\b(?:no|none|not|nothing)\b[^.!?]{0,80}"
    r"\b(?:available|found|given|known|mentioned|says?|said|stated?)\b",
    re.IGNORECASE,
)


def merge_attempts(
    kept: int, attempts: Sequence[AttemptResult], seen: Sequence[AttemptEvidence] = ()
) -> tuple[KeptEntity, ...]:
    """Return the entities of attempt `kept`; missing ones come from the newest attempt with them.

    Order: the kept attempt's entities, then the others. An entity that no attempt found stays null.
    An account gets the sentences of other attempts that are about something else and that evidence
    of their own attempt shows; `seen` is the evidence that counts.
    """
    newest_first = sorted(attempts, key=lambda each: -each.attempt)
    in_order = sorted(newest_first, key=lambda each: each.attempt != kept)
    found: dict[str, KeptEntity] = {}
    for each in in_order:
        for entity in each.entities:
            before = found.get(entity.name)
            if before is None or (before.entity.is_empty and not entity.is_empty):
                found[entity.name] = KeptEntity(attempt=each.attempt, entity=entity)
            elif entity.name == FINDINGS_ENTITY.name:
                quotes = [key.quote for key in seen if key.attempt == each.attempt]
                found[entity.name] = _joined_accounts(before, each.attempt, entity, quotes)
    return tuple(found.values())


def _joined_accounts(
    kept: KeptEntity, attempt: int, other: EntityValue, quotes: Sequence[str]
) -> KeptEntity:
    """Return the kept account with the proven sentences of another about something else.

    The confidence stays: what is joined neither corrects nor proves what the account says.
    """
    account, further = kept.entity.value, other.value
    if not isinstance(account, str) or not isinstance(further, str):
        return kept
    known = [_terms(each) for each in _sentences(account)]
    shown_by = list(filter(None, map(_terms, quotes)))
    added = [
        each
        for each in _sentences(further)
        if all(_shared(_terms(each), told) < _SAME_SUBJECT for told in known)
        and not _NOTHING_FOUND.search(each)
        and any(_shared(_terms(each), quote) >= _SHOWN for quote in shown_by)
    ]
    if not added:
        return kept
    entity = kept.entity.model_copy(update={"value": "\n".join([account, " ".join(added)])})
    return KeptEntity(attempt=kept.attempt, entity=entity, others=(*kept.others, attempt))


def _sentences(account: str) -> list[str]:
    return [account[start:end] for start, end in sentence_spans(account)]


def _terms(sentence: str) -> frozenset[str]:
    return words_of(sentence, _MIN_LETTERS)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The shared words among those of the shorter sentence; 1 for a sentence without words."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 1.0


def is_evidence_for_kept(seen: AttemptEvidence, kept: int, entities: Sequence[KeptEntity]) -> bool:
    """True if the evidence supports a value of the merged result.

    Steps choose their own entity names. All steps of the kept attempt count, and those of an
    attempt whose account was joined; a step of another attempt counts if it found a value that was
    taken from that attempt.
    """
    if seen.is_of_step and seen.attempt == kept:
        return True
    if seen.is_of_step and any(seen.attempt in each.others for each in entities):
        return True
    theirs = [each.entity for each in entities if each.is_from(seen.attempt)]
    if any(each.name == seen.entity for each in theirs):
        return True
    return seen.is_of_step and any(each.value == seen.value for each in theirs)
