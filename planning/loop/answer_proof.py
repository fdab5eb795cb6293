"""Prove the sentences of a loop's answer by rules: quotes, numbers, names and passage numbers.

A sentence is proven by rules if it cites at least one passage that was shown, if each quote stands
in its passage word for word (white space, typography and case aside), and if its numbers, dates and
names stand in the cited passages or in the question. Whether the quotes show what the sentence says
is the judge's work.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from holdfast.models.loop.loop_functions import AnswerSentence, Cite
from holdfast.models.loop.loop_results import NumberedPassage, ProvenQuote, ProvenSentence
from holdfast.models.text.reference_marks import disarm_references
from holdfast.models.text.sentences import sentence_spans
from holdfast.models.text.words import shared_share, words_of
from holdfast.planning.loop.passage_numbers import passage_title
from holdfast.planning.reports.sentence_support import unsupported_parts
from holdfast.planning.reports.short_forms import introduced_names
from holdfast.planning.text.folded_text import FoldedText, fold_text, span_with_marks

_SHORTEST_QUOTE = 3
"""Characters; a shorter quote is in every passage."""
_LONGEST_QUOTE = 1_500
_MAX_SENTENCE = 1_000
_MAX_CITES = 12
_MIN_LETTERS = 3
_LEAST_SHARE = 0.5
"""Of the words of a quote: a sentence with fewer of them is not the one that is meant."""
_LONGEST_HINT = 250
_ARTICLE = len(" the ")
"""Characters before a quote: it may begin behind the article of its first name."""
_NUMBER = re.compile(r"\d{1,6}")
_MARK = re.compile(
    r" ?\[\d{1,6}(?:[,;] ?\d{1,6}){0,11}\]| ?\(\d{1,6}(?:[,;] ?\d{1,6}){0,11}\)(?=[.!?]?\s*$)"
)
"""The numbers of passages, written into a sentence; in round brackets, only at its end."""
_QUOTE_MARKS = "\"'“”‘’«» "


class SentenceProof(NamedTuple):
    """A proven sentence, or why it is refused."""

    proven: ProvenSentence | None
    why: str = ""


class ProofGround:
    """What an answer may use: the passages, the question, and the values that the task was given.

    Each passage is folded once.
    """

    def __init__(
        self, question: str, passages: Sequence[NumberedPassage], given: Sequence[str] = ()
    ) -> None:
        self._question = question
        self.given = tuple(given)
        self._passages: Mapping[int, NumberedPassage] = {each.number: each for each in passages}
        self._folded: dict[int, FoldedText] = {}

    def prove(self, sentence: AnswerSentence) -> SentenceProof:
        """Return the sentence with its quotes located, or why it is refused."""
        text = " ".join(_without_cited_numbers(sentence).split())[:_MAX_SENTENCE]
        if not text:
            return SentenceProof(None, "the sentence is empty")
        if not sentence.cites:
            return SentenceProof(None, "it cites no passage: cite one, or name it in `open`")
        quotes: list[ProvenQuote] = []
        faults: list[str] = []
        for cite in sentence.cites[:_MAX_CITES]:
            found = self.locate(cite)
            if isinstance(found, str):
                faults.append(found)
            else:
                quotes.append(found)
        if not faults:
            cited = [cite.passage for cite in sentence.cites[:_MAX_CITES]]
            faults = self.unsupported(text, quotes, cited)
        if faults:
            return SentenceProof(None, "; ".join(faults)[:500])
        return SentenceProof(ProvenSentence(text=text, quotes=tuple(dict.fromkeys(quotes))))

    def titles(self, numbers: Iterable[int]) -> list[str]:
        """Return the titles of these passages."""
        return [passage_title(self._passages[number].passage) for number in numbers]

    def locate(self, cite: Cite) -> ProvenQuote | str:
        """Return the located quote, or why it does not count."""
        held = self._passages.get(cite.passage)
        if held is None:
            last = max(self._passages, default=0)
            return f"there is no passage {cite.passage}; the last one is {last}"
        quote = cite.quote.strip(_QUOTE_MARKS)[:_LONGEST_QUOTE]
        if len(quote) < _SHORTEST_QUOTE:
            return f"the quote from passage {cite.passage} is too short"
        span = self._span(cite.passage, cite.quote.strip()) or self._span(cite.passage, quote)
        if span is None:
            return self._not_found(cite.passage, quote)
        start, end = span_with_marks(held.passage.text, *span)
        return ProvenQuote(
            source_id=held.source_id,
            step_id=held.step_id,
            attempt=held.attempt,
            start=start,
            end=end,
            quote=held.passage.text[start:end],
        )

    def place_of(self, cite: Cite) -> Cite | None:
        """Return the cite with the passage in which its quote stands; None if it is in none."""
        if not isinstance(self.locate(cite), str):
            return cite
        elsewhere = (cite.model_copy(update={"passage": number}) for number in self._passages)
        return next((each for each in elsewhere if not isinstance(self.locate(each), str)), None)

    def _span(self, number: int, quote: str) -> tuple[int, int] | None:
        return self._fold(number).find(fold_text(quote[:_LONGEST_QUOTE]))

    def _not_found(self, number: int, quote: str) -> str:
        """Why the quote is refused, with the passage or the words that are meant perhaps."""
        fault = f"the quote {quote[:80]!r} does not stand in passage {number}"
        others = (n for n in self._passages if n != number and self._span(n, quote))
        other = next(others, None)
        if other is not None:
            return f"{fault}, but in passage {other}"
        near = _nearest_sentence(self._passages[number].passage.text, quote)
        return f"{fault}; copy its words, such as: {near}" if near else f"{fault}; copy its words"

    def unsupported(
        self, text: str, quotes: Iterable[ProvenQuote], numbers: Iterable[int]
    ) -> list[str]:
        """Return the numbers and names of the text that these passages do not contain.

        The question and the given values may be used as well, and a full name whose short form is
        quoted.
        """
        quotes = tuple(quotes)
        cited = [self._passages[number].passage for number in numbers]
        texts = [f"{passage_title(each)}\n{each.text}" for each in cited]
        shown = [*(each.quote for each in quotes), *self.given]
        full_names = (name for quote in quotes for name in self._introduced(text, quote))
        known = [self._question, *self.given, *full_names]
        return unsupported_parts(text, texts, known, quotes_shown=shown)

    def _introduced(self, text: str, quote: ProvenQuote) -> list[str]:
        """The full names of the text whose short form the quote has."""
        held = (
            each.passage for each in self._passages.values() if each.source_id == quote.source_id
        )
        source = next(held, None)
        if source is None:
            return []
        document = [
            each.passage.text
            for each in self._passages.values()
            if each.passage.address == source.address and each.passage.start <= source.start
        ]
        start = max(0, quote.start - _ARTICLE)
        return introduced_names(text, source.text[start : quote.end], document)

    def _fold(self, number: int) -> FoldedText:
        if number not in self._folded:
            self._folded[number] = fold_text(self._passages[number].passage.text)
        return self._folded[number]


def _without_cited_numbers(sentence: AnswerSentence) -> str:
    """Return the text without `[3]` where it cites passage 3; else a number that nobody stated."""
    cited = {cite.passage for cite in sentence.cites}

    def without_cited(mark: re.Match[str]) -> str:
        return "" if {int(each) for each in _NUMBER.findall(mark[0])} <= cited else mark[0]

    return _MARK.sub(without_cited, sentence.text)


def _nearest_sentence(text: str, quote: str) -> str:
    """The sentence that shares most words with the quote; empty if it shares few."""
    wanted = words_of(quote, _MIN_LETTERS)
    sentences = [text[a:b] for a, b in sentence_spans(text)]
    shares = [(shared_share(wanted, words_of(each, _MIN_LETTERS)), each) for each in sentences]
    share, sentence = max(shares, default=(0.0, ""))
    hint = " ".join(sentence.split())[:_LONGEST_HINT]
    return str(disarm_references(hint)) if share >= _LEAST_SHARE else ""
