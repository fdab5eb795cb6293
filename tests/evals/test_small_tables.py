"""Tests for the command that renews the small tables of docs/evaluation.md (`make eval`)."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from holdfast.evals.__main__ import is_wanted, main, parsed_arguments, small_tables
from holdfast.evals.measures.question_files import DEFAULT_FILE

ROOT = Path(__file__).parents[2]


def test_each_table_has_a_command_that_the_page_names(tmp_path: Path):
    page = (ROOT / "docs/evaluation.md").read_text()

    for table in small_tables(tmp_path / "questions.jsonl"):
        assert find_spec(f"holdfast.evals.{table.module}"), table.name
        assert f"python -m holdfast.evals.{table.module}" in page, table.name
        assert f"| `{table.name}` |" in page, f"the page lists no table {table.name!r}"


def test_data_are_looked_for_in_the_folder_of_the_repository():
    shared = ROOT.resolve().parent / "shared/data"

    places = {each.data for each in small_tables(DEFAULT_FILE) if each.data}

    assert {shared in each.parents for each in places} == {True}


def test_large_tables_are_run_only_where_they_are_asked_for():
    arguments = [[], ["--large"], ["--only", "recall"]]
    tables = small_tables(Path("questions.jsonl"))

    wanted = [
        [each.name for each in tables if is_wanted(each, parsed_arguments(given))]
        for given in arguments
    ]

    large = [each.name for each in tables if each.is_large]
    assert wanted[1] == [*wanted[0], *large]
    assert wanted[2] == ["recall"]
    assert set(large) == {"hotpotqa", "musique", "recall", "deviations", "horizon"}


@pytest.mark.slow
def test_a_table_is_kept_with_command_commit_data_and_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    code = main(["--only", "proof", "--out", str(tmp_path)])

    head, _, table = (tmp_path / "proof.txt").read_text().partition("\n\n")
    names = [line.partition(": ")[0] for line in head.splitlines()]
    assert (code, names) == (0, ["command", "commit", "data", "date", "took"])
    assert "command: python -m holdfast.evals.proof\n" in head
    assert "planted faults delivered: 0 of 20" in table
    assert table in capsys.readouterr().out


def test_a_table_without_its_data_is_left_out_and_one_that_does_not_exist_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    missing = str(tmp_path / "none.jsonl")

    left_out = main([missing, "--only", "citations", "--out", str(tmp_path / "out")])
    unknown = main(["--only", "poof", "--out", str(tmp_path)])

    said = capsys.readouterr()
    assert (left_out, unknown) == (0, 2)
    assert "left out: there is no none.jsonl" in said.out
    assert "there is no table 'poof'; tables: citations, confidence" in said.err
    assert not list((tmp_path / "out").iterdir())
