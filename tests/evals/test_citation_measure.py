"""Tests for the citation evaluation: its metrics, its question files, and a whole run."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.evals import citations
from holdfast.evals.measures.answer_metrics import (
    best_f1,
    bootstrap_interval,
    is_exact_match,
    is_in_passages,
    normalized_text,
)
from holdfast.evals.measures.keyword_baseline import (
    CitedAmount,
    CitedPassages,
    cite_as_much,
    substitute_amount,
)
from holdfast.evals.measures.question_files import read_questions
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.errors import BadInput
from holdfast.storage.corpus.corpus_records import PassageHit

QUESTION_ROWS: list[dict[str, Any]] = [
    {
        "_id": "one",
        "question": "In which town was the designer of the Harrow Lamp born?",
        "answer": "Selby Marsh",
        "type": "bridge",
        "supporting_facts": [["Harrow Lamp", 0], ["Imogen Pell", 0]],
        "context": [
            ["Harrow Lamp", ["The Harrow Lamp was designed by Imogen Pell.", " It burned oil."]],
            ["Imogen Pell", ["Imogen Pell was an engineer born in Selby Marsh.", " She wrote."]],
            ["Harrow Fair", ["The Harrow Fair is held in the town of Dunmore each May."]],
            ["Oil lamp", ["An oil lamp is an object used to produce light."]],
        ],
    },
    {
        "_id": "two",
        "question": "Which was founded first, Tarn Mill or Oxley Forge?",
        "answer": "Oxley Forge",
        "type": "comparison",
        "supporting_facts": [["Tarn Mill", 0], ["Oxley Forge", 0]],
        "context": [
            ["Tarn Mill", ["Tarn Mill is a paper mill that was founded in 1871."]],
            ["Oxley Forge", ["Oxley Forge is an iron works that was founded in 1802."]],
            ["Paper mill", ["A paper mill is a factory devoted to making paper."]],
            ["Forge", ["A forge is a type of hearth used for heating metals."]],
        ],
    },
    {
        "_id": "three",
        "question": "Are Lake Orva and Lake Senn both in Norland?",
        "answer": "no",
        "type": "comparison",
        "supporting_facts": [["Lake Orva", 0], ["Lake Senn", 0]],
        "context": [
            ["Lake Orva", ["Lake Orva is a lake in Norland."]],
            ["Lake Senn", ["Lake Senn is a lake in Sutherby."]],
            ["Norland", ["Norland is a country of many lakes."]],
            ["Sutherby", ["Sutherby is a hilly country."]],
        ],
    },
]
MUSIQUE = {
    "id": "3hop1__1_2_3",
    "question": "Where was the maker born?",
    "answer": "Selby Marsh",
    "answer_aliases": ["Selby"],
    "paragraphs": [
        {"title": "Pell", "paragraph_text": "Pell was born in Selby.", "is_supporting": True},
        {"title": "Pell", "paragraph_text": "Pell is a name.", "is_supporting": False},
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(QUESTION_ROWS))
    return path


def passage(address: str, start: int = 0, text: str = "words") -> SourcePassage:
    return SourcePassage(
        address=address, title=address, heading="", start=start, end=start + len(text), text=text
    )


def hits(*addresses: str) -> list[PassageHit]:
    return [PassageHit(passage(each, start), 1.0) for start, each in enumerate(addresses)]


def test_an_answer_is_compared_without_case_articles_and_punctuation():
    assert normalized_text("The  Selby-Marsh, a town!") == "selbymarsh town"
    assert is_exact_match("the Beatles.", ["Stones", "Beatles"])
    assert not is_exact_match("Beatles band", ["Beatles"])


def test_f1_is_of_the_nearest_answer_and_all_or_nothing_for_yes_and_no():
    assert best_f1("Imogen Pell", ["Pell"]) == pytest.approx(2 / 3)
    assert best_f1("Imogen Pell", ["Orva", "imogen pell"]) == 1
    assert best_f1("no", ["no"]) == 1
    assert best_f1("no lake", ["no"]) == best_f1("", ["no"]) == 0 < best_f1("no lake", ["no sea"])


def test_an_answer_stands_in_a_passage_as_whole_words_only():
    assert is_in_passages(["Selby Marsh"], ["nothing", "born in (Selby Marsh)."])
    assert not is_in_passages(["Mars"], ["Selby Marsh"])
    assert not is_in_passages(["Selby Marsh"], ["in Selby", "Marsh"])
    assert not is_in_passages(["the", ""], ["the words"])


def test_the_interval_of_equal_differences_is_that_difference():
    assert bootstrap_interval([3.0] * 20) == (3.0, 3.0, 3.0)
    assert all(math.isnan(each) for each in bootstrap_interval([]))


@given(st.lists(st.sampled_from([-100.0, 0.0, 100.0]), min_size=1, max_size=30))
@pytest.mark.slow
def test_an_interval_is_the_same_again_and_within_the_differences(differences: list[float]):
    found = bootstrap_interval(differences, resamples=400)

    assert found == bootstrap_interval(differences, resamples=400)
    assert min(differences) <= found.low <= found.high <= max(differences)


def test_an_interval_is_about_as_wide_as_the_normal_one():
    differences = [100.0] * 60 + [0.0] * 40

    found = bootstrap_interval(differences)

    half = 1.96 * 100 * math.sqrt(0.6 * 0.4 / 100)
    assert found.mean == 60
    assert found.low == pytest.approx(60 - half, abs=2)
    assert found.high == pytest.approx(60 + half, abs=2)


def test_the_search_cites_no_fewer_passages_and_no_fewer_documents_than_the_job():
    ranked = hits("A", "A", "B", "C")

    assert len(cite_as_much(ranked, CitedAmount(2, 2)).passages) == 3
    assert len(cite_as_much(ranked, CitedAmount(2, 1)).passages) == 2
    assert len(cite_as_much(ranked, CitedAmount(9, 9)).passages) == 4
    assert cite_as_much(ranked, CitedAmount(0, 0)) == CitedPassages()


def test_for_a_job_that_cited_nothing_the_search_cites_what_others_cited():
    others = [CitedAmount(2, 2), CitedAmount(0, 0), CitedAmount(3, 2), CitedAmount(4, 3)]

    assert substitute_amount(others, read=0) == (3, 2)
    assert substitute_amount(others, read=7) == (7, 2)
    assert substitute_amount([CitedAmount(0, 0)], read=0) == (1, 1)


def test_rows_of_the_official_file_and_of_its_copies_are_read_alike(file: Path, tmp_path: Path):
    copies = [
        {
            **{name: row[name] for name in ("question", "answer", "type", "supporting_facts")},
            "id": row["_id"],
            "context": [{"title": title, "sentences": told} for title, told in row["context"]],
        }
        for row in QUESTION_ROWS
    ]
    lines = tmp_path / "copies.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in copies))

    official = read_questions(file)

    assert official == read_questions(lines)
    assert official[0].gold == {"Harrow Lamp", "Imogen Pell"}
    assert official[0].paragraphs[0].text.endswith("by Imogen Pell. It burned oil.")
    assert [each.is_yes_or_no for each in official] == [False, False, True]


def test_sentences_without_a_space_of_their_own_are_kept_apart(tmp_path: Path):
    told = ["Pell was born in Selby.", "She wrote.", ", it is said,", " Badly."]
    row = QUESTION_ROWS[0] | {"context": [["Pell", told]], "supporting_facts": [["Pell", 0]]}
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([row]))

    (question,) = read_questions(path)

    text = "Pell was born in Selby. She wrote., it is said, Badly."
    assert question.paragraphs[0].text == text


def test_paragraphs_of_one_title_are_documents_of_their_own(tmp_path: Path):
    path = tmp_path / "musique.jsonl"
    path.write_text(json.dumps(MUSIQUE))

    (question,) = read_questions(path)

    assert [each.address for each in question.paragraphs] == ["Pell", "Pell (2)"]
    assert question.gold == {"Pell"}
    assert question.answers == ("Selby Marsh", "Selby")
    assert question.kind == "3 hops"
    with pytest.raises(BadInput, match="row 1 of"):
        read_questions(path, "hotpotqa")


@pytest.mark.parametrize("content", ["", "{", "[3]", '{"question": "?"}', "[]"])
def test_a_file_in_no_format_is_refused_in_one_line(content: str, tmp_path: Path):
    path = tmp_path / "bad.json"
    path.write_text(content)

    with pytest.raises(BadInput, match=r"bad\.json"):
        read_questions(path)


def test_without_a_file_the_user_learns_where_to_get_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert citations.main([], default=tmp_path / "none.jsonl") == 2
    assert "hotpot_dev_distractor_v1.json" in capsys.readouterr().err
    assert citations.main([str(tmp_path / "mine.json")]) == 2
    assert "mine.json" in capsys.readouterr().err


def test_a_setting_that_does_not_exist_is_refused_before_anything_starts(
    file: Path, capsys: pytest.CaptureFixture[str]
):
    assert citations.main([str(file), "--set", "slotz=1"]) == 2
    assert "did you mean 'slots'?" in capsys.readouterr().err


def test_held_out_questions_are_those_behind_the_fitted_ones(
    file: Path, capsys: pytest.CaptureFixture[str]
):
    given = [str(file), "--held-out", "--limit", "1", "--fitted"]

    asked, fitted = citations.chosen_questions(citations.parsed_arguments([*given, "1"]), file)

    assert ([each.id for each in asked], fitted) == (["two"], 0)
    assert citations.main([*given, "3"]) == 2
    assert "has 3 questions, all of them fitted on" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.long
def test_three_questions_go_through_the_whole_tool(file: Path, tmp_path: Path):
    command = [
        sys.executable,
        "-m",
        "holdfast.evals.citations",
        str(file),
        "--json",
        "--fitted",
        "2",
    ]
    environment = os.environ | {"TMPDIR": str(tmp_path)}

    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=environment, check=False
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    groups = {each["group"]: each for each in found["figures"]}
    assert list(groups) == ["all", "bridge", "comparison", "weights fitted on", "held out"]
    assert [groups[name]["questions"] for name in groups] == [3, 1, 2, 2, 1]
    assert groups["all"]["citations_that_open"] == 100
    assert groups["all"]["done"] + groups["all"]["failed"] == 100
    assert [each["questions"] for each in groups["all"]["comparisons"]] == [3, 2, 3]
    assert [each["id"] for each in found["jobs"]] == ["one", "two", "three"]
    assert found["jobs"][1]["cites_all_gold"]
    for job in found["jobs"]:
        assert len(job["keyword"]) >= len(job["cited"])
    assert not list(tmp_path.glob("holdfast-bench-*"))  # its services and their folder are gone
