"""Read questions with their paragraphs from a file in HotpotQA's or MuSiQue's format."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from holdfast.evals.measures.answer_metrics import normalized_text
from holdfast.models.errors import BadInput

DEFAULT_FILE = Path(__file__).resolve().parents[3] / "shared/data/hotpotqa/train300.jsonl"

QuestionFormat: TypeAlias = Literal["hotpotqa", "musique"]
_Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class QuestionParagraph:
    """A paragraph; its address is its title, with a number where a title comes again."""

    address: str
    title: str
    text: str
    is_gold: bool


@dataclass(frozen=True)
class EvaluationQuestion:
    """A question, its right answers and all that may be read for it."""

    id: str
    text: str
    answers: tuple[str, ...]
    kind: str
    paragraphs: tuple[QuestionParagraph, ...]

    @property
    def gold(self) -> frozenset[str]:
        """The addresses of the paragraphs that the answer needs."""
        return frozenset(each.address for each in self.paragraphs if each.is_gold)

    @property
    def is_yes_or_no(self) -> bool:
        """True if the answer stands in no paragraph, except by chance."""
        return normalized_text(self.answers[0]) in {"yes", "no"}


def read_questions(
    path: Path, form: QuestionFormat | None = None
) -> tuple[EvaluationQuestion, ...]:
    """The file's questions; it is a JSON list (as the official HotpotQA file) or JSON lines.

    Without a format, rows with `paragraphs` are read as MuSiQue's and others as HotpotQA's.

    Raises:
        BadInput: the file cannot be read, or a row is not in the format.
    """
    try:
        rows = list(_rows(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadInput(f"{str(path)!r} cannot be read as JSON or JSON lines: {error}") from error
    found = tuple(_checked(row, form, at, path) for at, row in enumerate(rows, start=1))
    if not found:
        raise BadInput(f"{str(path)!r} holds no question")
    return found


def _rows(content: str) -> Iterator[_Row]:
    if content.lstrip().startswith("["):
        yield from json.loads(content)
    else:
        yield from (json.loads(line) for line in content.split("\n") if line.strip())


def _checked(row: _Row, form: QuestionFormat | None, at: int, path: Path) -> EvaluationQuestion:
    try:
        is_musique = (form == "musique") if form else "paragraphs" in row
        return _of_musique(row) if is_musique else _of_hotpot(row)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"row {at} of {str(path)!r} is in neither format: {error!r}") from error


def _of_hotpot(row: _Row) -> EvaluationQuestion:
    gold = {title for title, _ in row["supporting_facts"]}
    found = (_of_context(each) for each in row["context"])
    paragraphs = addressed_paragraphs((title, text, title in gold) for title, text in found)
    identity = str(row.get("_id") or row.get("id"))
    return EvaluationQuestion(identity, row["question"], (row["answer"],), row["type"], paragraphs)


def _of_context(entry: Any) -> tuple[str, str]:  # noqa: ANN401 - JSON
    # The official file has pairs, its copies objects.
    title, sentences = entry if isinstance(entry, list) else (entry["title"], entry["sentences"])
    return title, _joined(sentences)


def _joined(sentences: Sequence[str]) -> str:
    """The text; in HotpotQA's files a sentence begins with its space, in 2WikiMultihopQA's not."""
    text = ""
    for each in sentences:
        begins_a_word = bool(text) and not text[-1].isspace() and each[:1].isalnum()
        text += f" {each}" if begins_a_word else each
    return text


def _of_musique(row: _Row) -> EvaluationQuestion:
    paragraphs = addressed_paragraphs(
        (each["title"], each["paragraph_text"], bool(each["is_supporting"]))
        for each in row["paragraphs"]
    )
    answers = (row["answer"], *row.get("answer_aliases", ()))
    hops = row["id"].partition("hop")[0] + " hops"
    return EvaluationQuestion(row["id"], row["question"], answers, hops, paragraphs)


def addressed_paragraphs(
    found: Iterable[tuple[str, str, bool]],
) -> tuple[QuestionParagraph, ...]:
    """Return paragraphs of (title, text, is gold), each with an address of its own."""
    seen: Counter[str] = Counter()
    paragraphs = []
    for title, text, is_gold in found:
        seen[title] += 1
        address = title if seen[title] == 1 else f"{title} ({seen[title]})"
        paragraphs.append(QuestionParagraph(address, title, text, is_gold))
    return tuple(paragraphs)
