"""Read questions and rubrics of public sets, in the files in which they are published."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from holdfast.evals.measures.question_files import (
    EvaluationQuestion,
    QuestionParagraph,
    addressed_paragraphs,
)
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen

NO_SHORT_ANSWER = "(no short answer)"
"""The right answer of a question that has none: no answer equals it."""
_Row: TypeAlias = Mapping[str, Any]


class RubricItem(Frozen):
    """One thing that a report is to state or do."""

    dimension: str
    text: str
    weight: float = 1.0
    """Negative: the report loses by meeting it."""


class OpenQuestion(Frozen):
    """A question of a public set, with what its report is judged by."""

    id: str
    text: str
    answers: tuple[str, ...] = ()
    kind: str = ""
    rubric: tuple[RubricItem, ...] = ()
    blocked: tuple[str, ...] = ()
    """Addresses that the report must not cite."""
    paragraphs: tuple[tuple[str, str, bool], ...] = ()
    """The fixed documents to research in, as title, text, and whether it is needed."""

    @property
    def asked(self) -> EvaluationQuestion:
        """The question as a comparison asks it."""
        documents: tuple[QuestionParagraph, ...] = addressed_paragraphs(self.paragraphs)
        return EvaluationQuestion(
            self.id, self.text, self.answers or (NO_SHORT_ANSWER,), self.kind, documents
        )


def read_open_questions(path: Path) -> tuple[OpenQuestion, ...]:
    """The questions of a file of DeepResearch Bench (criteria or queries) or II, DRACO, FRAMES,
    or BrowseComp-Plus (decrypted); the columns say which.

    Raises:
        BadInput: the file cannot be read, or a row is in none of these formats.
    """
    try:
        rows = list(_rows(path))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, csv.Error) as error:
        raise BadInput(f"{str(path)!r} cannot be read as JSON lines or TSV: {error}") from error
    found = tuple(_question(row, at, path) for at, row in enumerate(rows, start=1))
    if not found:
        raise BadInput(f"{str(path)!r} holds no question")
    return found


def _rows(path: Path) -> Iterator[_Row]:
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".tsv":
        yield from csv.DictReader(io.StringIO(content, newline=""), delimiter="\t")
    elif content.lstrip().startswith("["):
        yield from json.loads(content)
    else:
        yield from (json.loads(line) for line in content.split("\n") if line.strip())


def _question(row: _Row, at: int, path: Path) -> OpenQuestion:
    try:
        for columns, reader in _FORMATS.items():
            if columns <= row.keys():
                return reader(row, at)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"row {at} of {str(path)!r} is not as published: {error!r}") from error
    raise BadInput(
        f"row {at} of {str(path)!r} is of no set that is known; its columns: "
        f"{', '.join(sorted(map(str, row))[:8])}"
    )


def _of_bench(row: _Row, _at: int) -> OpenQuestion:
    """DeepResearch Bench: `criteria.jsonl`, or `query.jsonl` without criteria."""
    weights = row.get("dimension_weight", {})
    rubric = [
        RubricItem(
            dimension=dimension,
            text=f"{each['criterion']}: {each['explanation']}",
            weight=float(each["weight"]) * float(weights.get(dimension, 1)),
        )
        for dimension, listed in row.get("criterions", {}).items()
        for each in listed
    ]
    return OpenQuestion(
        id=str(row["id"]), text=row["prompt"], kind=row.get("language", ""), rubric=tuple(rubric)
    )


def _of_bench_two(row: _Row, _at: int) -> OpenQuestion:
    """DeepResearch Bench II: `tasks_and_rubrics.jsonl`."""
    content = row["content"]
    rubric = [
        RubricItem(dimension=dimension, text=text)
        for dimension, listed in content["rubric"].items()
        for text in listed
    ]
    return OpenQuestion(
        id=str(row["idx"]),
        text=row["prompt"],
        kind=row.get("language", ""),
        rubric=tuple(rubric),
        blocked=tuple(content.get("blocked", {}).get("urls", ())),
    )


def _of_draco(row: _Row, at: int) -> OpenQuestion:
    """DRACO: `problem`, and in `answer` the rubric as JSON."""
    answer = json.loads(row["answer"]) if isinstance(row["answer"], str) else row["answer"]
    rubric = [
        RubricItem(
            dimension=section.get("title") or section.get("id") or "",
            text=each["requirement"],
            weight=float(each.get("weight", 1)),
        )
        for section in answer["sections"]
        for each in section["criteria"]
    ]
    identity = str(row.get("id") or at)
    return OpenQuestion(
        id=identity, text=row["problem"], kind=row.get("domain", ""), rubric=tuple(rubric)
    )


def _of_frames(row: _Row, at: int) -> OpenQuestion:
    """FRAMES: `test.tsv`, or its rows as JSON."""
    kind = row.get("reasoning_types") or ""
    return OpenQuestion(
        id=str(at),
        text=row["Prompt"],
        answers=(str(row["Answer"]),),
        kind=kind if isinstance(kind, str) else " | ".join(kind),
    )


def _of_browsecomp(row: _Row, _at: int) -> OpenQuestion:
    """BrowseComp-Plus, decrypted: each question with its own documents out of the fixed corpus."""
    documents: dict[str, tuple[str, str, bool]] = {}
    for column, is_needed in (
        ("gold_docs", True),
        ("evidence_docs", True),
        ("negative_docs", False),
    ):
        for each in row.get(column, ()):
            title = str(each.get("url") or each["docid"])
            documents.setdefault(str(each["docid"]), (title, each["text"], is_needed))
    return OpenQuestion(
        id=str(row["query_id"]),
        text=row["query"],
        answers=(str(row["answer"]),),
        paragraphs=tuple(documents.values()),
    )


_FORMATS: Mapping[frozenset[str], Callable[[_Row, int], OpenQuestion]] = {
    frozenset({"query_id", "query", "answer"}): _of_browsecomp,
    frozenset({"idx", "prompt", "content"}): _of_bench_two,
    frozenset({"problem", "answer"}): _of_draco,
    frozenset({"Prompt", "Answer"}): _of_frames,
    frozenset({"id", "prompt"}): _of_bench,
}
"""The columns of each set; the first that fits is the set."""


def rubric_share(items: Sequence[RubricItem], met: Sequence[float]) -> float:
    """The weighted share of the rubric that is met, 0 to 1; a half-met item counts half."""
    positive = sum(each.weight for each in items if each.weight > 0)
    reached = sum(each.weight * share for each, share in zip(items, met, strict=True))
    return min(1.0, max(0.0, reached / positive)) if positive else 0.0
