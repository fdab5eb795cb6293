"""The customer's documents and questions fit each other."""

import tomllib
from pathlib import Path

CUSTOMER = Path(__file__).parents[2] / "evals" / "customer"
DOCUMENTS = CUSTOMER / "documents"
QUESTIONS = tomllib.loads((CUSTOMER / "questions.toml").read_text("utf-8"))["question"]


def test_the_documents_are_forty_and_small() -> None:
    files = [path for path in DOCUMENTS.rglob("*") if path.is_file()]
    assert len(files) == 40
    assert max(len(path.read_text("utf-8").split()) for path in files) <= 400


def test_every_page_of_a_question_is_a_document() -> None:
    assert all((DOCUMENTS / page).is_file() for each in QUESTIONS for page in each["pages"])


def test_only_a_question_about_what_is_absent_has_no_page() -> None:
    assert [each["kind"] for each in QUESTIONS if not each["pages"]] == ["absent"]
    for each in QUESTIONS:
        assert each["question"]
        assert each["answer"]
        assert each["kind"]
