"""Draw the faults of a weak model: names in another case, cut JSON, wrong quotes, inventions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

Sentence = dict[str, Any]

CUT_JSON = 0.15
OTHER_CASE = 0.25
PARAPHRASED_QUOTE = 0.3
WRONG_PASSAGE = 0.1
INVENTION = 0.5
"""Of an answer; each invention is of one of five kinds."""
CORRECTS = 0.6
"""How often a refused sentence comes back right."""
SILENT_JUDGE = 0.5
"""How often the judge takes a weak link for a stated one."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class FaultDice:
    """The dice of one reply; the same request gets the same faults."""

    dice: Random

    def happens(self, chance: float) -> bool:
        """True with this chance."""
        return self.dice.random() < chance

    def function_name(self, name: str) -> str:
        """Return the name, sometimes in another case."""
        return name.title() if self.happens(OTHER_CASE) else name

    def arguments(self, text: str) -> str:
        """Return the JSON, sometimes cut in the middle."""
        return text[: len(text) * 2 // 3] if self.happens(CUT_JSON) else text

    def sentence(self, said: Sentence) -> Sentence:
        """Return the sentence, sometimes with a paraphrased quote or a wrong passage number."""
        return {**said, "cites": [self._cite(each) for each in said["cites"]]}

    def _cite(self, cite: Mapping[str, Any]) -> dict[str, Any]:
        quote, passage = str(cite["quote"]), int(cite["passage"])
        if self.happens(PARAPHRASED_QUOTE):
            quote = paraphrase(quote)
        if self.happens(WRONG_PASSAGE):
            passage += 1
        return {"passage": passage, "quote": quote}

    def invention(self, said: Sequence[Sentence], last_passage: int) -> list[Sentence]:
        """Return an invented sentence, or none; the kinds are those of `evals.proof`."""
        if not said or not self.happens(INVENTION):
            return []
        model = self.dice.choice(said)
        cite = model["cites"][0]
        kind = self.dice.randrange(5)
        if kind == 0:
            return [{"text": wrong_number(model["text"]), "cites": model["cites"]}]
        text = f"Experts agree that this has been so since {1300 + self.dice.randrange(500)}."
        made_up = {"passage": cite["passage"], "quote": paraphrase(str(cite["quote"]))}
        cites: tuple[list[dict[str, Any]], ...] = (
            [],
            [made_up],
            [{"passage": last_passage + 7, "quote": cite["quote"]}],
            [{"passage": cite["passage"] % last_passage + 1, "quote": cite["quote"]}],
        )
        return [{"text": text, "cites": cites[kind - 1]}]


def paraphrase(quote: str) -> str:
    """Return the quote in nearly its words: two change places, and one is lost."""
    words = quote.split()
    if len(words) < 4:
        return f"{quote} indeed"
    middle = len(words) // 2
    words[middle - 1], words[middle] = words[middle], words[middle - 1]
    return " ".join(words[:1] + words[2:])


def wrong_number(text: str) -> str:
    """Return the text with another number, or with a number that nobody has stated."""
    changed = _NUMBER.sub(lambda found: str(int(found.group()) + 13), text, count=1)
    return changed if changed != text else f"{text.rstrip('.')} since 1713."
