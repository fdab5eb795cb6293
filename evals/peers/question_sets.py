"""Read a question set: documents that are searched together, and the questions about them.

A set is a TOML file. Its documents are pooled paragraphs of rows of a MuSiQue or HotpotQA file
(`file`, `pool`, `ask`), or the Markdown files of a folder (`folder`, with `commit` as they were at
a commit of this repository).
"""

import io
import subprocess
import tarfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from holdfast.evals.measures.question_files import (
    EvaluationQuestion,
    QuestionParagraph,
    addressed_paragraphs,
    read_questions,
)
from holdfast.models.calls.model_requests import canonical_hash
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen

REPOSITORY = Path(__file__).resolve().parents[2]
SET_FOLDER = Path(__file__).parent / "question_sets"


class PeerQuestion(Frozen):
    """A question with its right answers; an open question has none."""

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,80}$")
    text: str = Field(min_length=1)
    answers: tuple[str, ...] = ()


class SetFile(Frozen):
    """The content of a question set's file."""

    source: str = Field(description="where documents and questions come from, with their licence")
    file: str = Field(default="", description="rows in MuSiQue's or HotpotQA's format")
    pool: tuple[str, ...] = Field(default=(), description="ids of rows whose paragraphs are pooled")
    ask: tuple[str, ...] = Field(default=(), description="ids of rows whose question is asked")
    folder: str = Field(default="", description="a folder of Markdown files, in the repository")
    commit: str = Field(default="", description="the commit whose files are read")
    questions: tuple[PeerQuestion, ...] = ()


@dataclass(frozen=True)
class QuestionSet:
    """Documents that are searched together, and the questions about them."""

    name: str
    documents: tuple[QuestionParagraph, ...]
    questions: tuple[PeerQuestion, ...]

    @property
    def collection(self) -> str:
        """The name of the collection that has these documents, and no others."""
        content = [(each.address, each.text) for each in self.documents]
        return f"peers-{canonical_hash(content)[:16]}"


def read_question_set(path: Path, data: Path | None = None) -> QuestionSet:
    """The set of the file; `data` names the file of rows where the set's own is not there.

    Raises:
        BadInput: a file cannot be read, or an id is not in the file of rows.
    """
    try:
        said = SetFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise BadInput(f"{str(path)!r} is no question set: {error}") from error
    if said.folder:
        documents = tuple(_folder_documents(said, path))
        return QuestionSet(path.stem, documents, said.questions)
    rows = _rows(data or REPOSITORY / said.file, (*said.pool, *said.ask), said.source)
    asked = tuple(
        PeerQuestion(id=each, text=rows[each].text, answers=rows[each].answers) for each in said.ask
    )
    return QuestionSet(path.stem, _pooled(rows[each] for each in said.pool), asked)


def _rows(path: Path, ids: Sequence[str], source: str) -> dict[str, EvaluationQuestion]:
    if not path.is_file():
        raise BadInput(f"there is no file {str(path)!r}; name one with --data. {source}")
    found = {each.id: each for each in read_questions(path)}
    missing = [each for each in ids if each not in found]
    if missing:
        raise BadInput(f"{str(path)!r} has no row {missing[0]!r}")
    return found


def _pooled(rows: Iterable[EvaluationQuestion]) -> tuple[QuestionParagraph, ...]:
    """The paragraphs of all rows, each once."""
    found = dict.fromkeys((each.title, each.text) for row in rows for each in row.paragraphs)
    return addressed_paragraphs((title, text, False) for title, text in found)


def _folder_documents(said: SetFile, path: Path) -> Iterator[QuestionParagraph]:
    files = _files_at_commit(said) if said.commit else _files_of(REPOSITORY / said.folder)
    named = sorted(files)
    if not named:
        raise BadInput(f"{str(path)!r}: the folder {said.folder!r} has no Markdown file")
    for name, text in named:
        yield QuestionParagraph(name, name, text, is_gold=False)


def _files_of(folder: Path) -> Iterator[tuple[str, str]]:
    for each in folder.rglob("*.md"):
        yield str(each.relative_to(folder)), each.read_text(encoding="utf-8")


def _files_at_commit(said: SetFile) -> Iterator[tuple[str, str]]:
    command = ["git", "archive", "--format=tar", said.commit, said.folder]
    try:
        packed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        told = f"commit {said.commit} of this repository cannot be read: {error}"
        raise BadInput(f"{told}; the set needs a checkout with its history") from error
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for each in archive.getmembers():
            content = archive.extractfile(each) if each.name.endswith(".md") else None
            if content is not None:
                yield each.name.removeprefix(f"{said.folder}/"), content.read().decode()
