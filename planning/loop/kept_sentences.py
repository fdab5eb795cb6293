"""Choose and check the sentences that a compacted transcript keeps, word for word."""

from collections.abc import Iterable, Sequence, Set
from functools import partial

from holdfast.models.loop.loop_functions import Cite
from holdfast.models.loop.loop_messages import CompactedPassage
from holdfast.models.loop.loop_results import NumberedPassage
from holdfast.models.text.reference_marks import disarm_references
from holdfast.models.text.sentences import sentence_spans
from holdfast.models.text.words import shared_share, words_of
from holdfast.planning.loop.passage_numbers import passage_title
from holdfast.planning.text.folded_text import fold_text
from holdfast.planning.text.token_estimates import estimate_tokens

_MIN_LETTERS = 3
_EACH_PASSAGE = 2
"""Sentences that rules keep of a passage."""
_LONGEST_SENTENCE = 1_000


def located_sentences(
    keep: Iterable[Cite], passages: Sequence[NumberedPassage]
) -> dict[int, list[str]]:
    """Return the whole sentences around the chosen words, by passage; others are left out."""
    by_number = {each.number: each for each in passages}
    chosen: dict[int, list[str]] = {}
    for cite in keep:
        held = by_number.get(cite.passage)
        text = held.passage.text if held else ""
        span = fold_text(text).find(fold_text(cite.quote))
        if span is None:
            continue
        found = [text[a:b] for a, b in sentence_spans(text) if a < span[1] and b > span[0]]
        kept = chosen.setdefault(cite.passage, [])
        kept += [each[:_LONGEST_SENTENCE] for each in found if each not in kept]
    return chosen


def best_of_each(passages: Sequence[NumberedPassage], about: str) -> dict[int, list[str]]:
    """Return, of each passage, the sentences that share most words with the question."""
    wanted = words_of(about, _MIN_LETTERS)
    chosen = {}
    for each in passages:
        text = each.passage.text
        sentences = [text[a:b][:_LONGEST_SENTENCE] for a, b in sentence_spans(text)]
        best = sorted(sentences, key=partial(_share_missed, wanted))[:_EACH_PASSAGE]
        chosen[each.number] = [sentence for sentence in sentences if sentence in best]
    return chosen


def _share_missed(wanted: Set[str], sentence: str) -> float:
    return 1.0 - shared_share(wanted, words_of(sentence, _MIN_LETTERS))


def compacted_passages(
    chosen: dict[int, list[str]],
    passages: Sequence[NumberedPassage],
    about: str,
    most_tokens: int,
) -> tuple[CompactedPassage, ...]:
    """Return the kept sentences by passage, in order; the least related go where room is short."""
    wanted = words_of(about, _MIN_LETTERS)
    by_number = {each.number: each for each in passages}
    ranked = sorted(
        ((number, text) for number, texts in chosen.items() for text in texts),
        key=lambda pair: _share_missed(wanted, pair[1]),
    )
    kept: dict[int, list[str]] = {}
    room = most_tokens
    for number, text in ranked:
        room -= estimate_tokens(text) + 4
        if room < 0:
            break
        kept.setdefault(number, []).append(text)
    return tuple(
        CompactedPassage(
            n=number,
            title=passage_title(by_number[number].passage)[:200],
            sentences=tuple(
                str(disarm_references(text)) for text in chosen[number] if text in kept[number]
            ),
        )
        for number in sorted(kept)
    )
