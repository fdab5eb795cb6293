"""Load passages and questions with their gold paragraphs, and fill the collection up with
distractors to any size."""

import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

DATA_FOLDER = Path(__file__).parents[3] / "shared/data"
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_SENTENCES = 4  # of a distractor: about as long as the data's own paragraphs


@dataclass(frozen=True)
class TitledText:
    """One passage, which is a document of its own."""

    title: str
    text: str


@dataclass(frozen=True)
class GoldQuestion:
    """A question with the places of its gold paragraphs in the list of all."""

    question: str
    gold: frozenset[int]


@dataclass(frozen=True)
class BenchmarkCollection:
    paragraphs: list[TitledText]
    asked: list[GoldQuestion]


def load_collection(
    size: int, folder: Path = DATA_FOLDER, *, questions: int | None = None
) -> BenchmarkCollection:
    """The paragraphs of hotpotqa and musique, and distractors until there are `size`.

    A distractor has the title of one paragraph that is gold to no question and sentences of four
    others: real words in real shares, so common words stay as common as they are. Always the same.
    """
    places: dict[TitledText, int] = {}
    asked: list[GoldQuestion] = []
    gold: set[int] = set()
    for question, paragraphs in islice(_rows(folder), questions):
        found = {places.setdefault(each, len(places)): is_gold for each, is_gold in paragraphs}
        asked.append(
            GoldQuestion(question, frozenset(n for n, is_gold in found.items() if is_gold))
        )
        gold |= asked[-1].gold
    others = [each for each, n in places.items() if n not in gold]
    fill = islice(_distractors(others), max(0, size - len(places)))
    return BenchmarkCollection([*places, *fill], asked)


def _rows(folder: Path) -> Iterator[tuple[str, list[tuple[TitledText, bool]]]]:
    for row in _lines(folder / "hotpotqa/train300.jsonl"):
        gold = {title for title, _ in row["supporting_facts"]}
        parts = ((each["title"], "".join(each["sentences"]).strip()) for each in row["context"])
        yield row["question"], [(TitledText(*each), each[0] in gold) for each in parts]
    for row in _lines(folder / "musique/train100.jsonl"):
        yield (
            row["question"],
            [
                (TitledText(each["title"], each["paragraph_text"].strip()), each["is_supporting"])
                for each in row["paragraphs"]
            ],
        )


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _distractors(paragraphs: list[TitledText]) -> Iterator[TitledText]:
    dice = random.Random(1)
    sentences = [_SENTENCE.split(each.text) for each in paragraphs]
    while True:
        parts = dice.choices(sentences, k=_SENTENCES)
        text = " ".join(dice.choice(part) for part in parts)
        yield TitledText(dice.choice(paragraphs).title, text)
