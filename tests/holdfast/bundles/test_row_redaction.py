"""Tests of what is taken out of a row: a question in any spelling, and words of sources."""

import json
from typing import Any

import pytest

from holdfast.bundles.row_redaction import LEFT_OUT_TEXT, RowRedaction, texts_in
from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.text.secret_mask import SecretMask

QUESTION = "When was the light of Ouzel Stack built?"
SENTENCE = "The lamp was lit by Åsa Holm in the winter."


def redaction(*questions: str, told: tuple[str, ...] = ()) -> RowRedaction:
    return RowRedaction.of([Redaction.QUESTIONS], SecretMask(), questions, told)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Cats?", "Find CATS, in categories.", f"Find {LEFT_OUT_TEXT}, in categories."),
        ("東京の人口は?", "「東京の人口は」を探す", f"「{LEFT_OUT_TEXT}」を探す"),
        ("Who won?", "Say who\nwon the cup", f"Say {LEFT_OUT_TEXT} the cup"),
    ],
)
def test_a_short_question_is_left_out_in_any_case_and_without_its_sign(
    question: str, text: str, expected: str
) -> None:
    assert redaction(question).text(text) == expected


def test_a_question_of_one_word_leaves_the_words_that_the_program_reads() -> None:
    task = {"status": "done", "description": "done", "created_at": "2026-01-02T03:04:05Z"}

    kept = redaction("Done?", "2026?").row("tasks", task)

    assert kept == task | {"description": LEFT_OUT_TEXT}


@pytest.mark.parametrize("name", ["title", "heading", "address"])
def test_only_the_names_of_sources_keep_words_of_a_question(name: str) -> None:
    part = {"title": "Ouzel", "address": "https://ouzel.example", name: QUESTION}
    source = {"source_id": 1, **part}

    kept = redaction(QUESTION).value({"sections": [{name: QUESTION}], "citations": [source]})

    assert kept == {"sections": [{name: LEFT_OUT_TEXT}], "citations": [source]}


def test_a_request_in_json_stays_json() -> None:
    apart = json.dumps({"queries": ["was the light of", "Ouzel Stack built"]})
    asked = json.dumps({"query": f"{QUESTION[:-1]}, in Fife", "more": [QUESTION.upper()]})

    kept = [
        redaction(QUESTION).row("tool_calls", {"id": 7, "request": each})["request"]
        for each in (apart, asked)
    ]

    assert kept[0] == apart
    left_out = {"query": f"{LEFT_OUT_TEXT}, in Fife", "more": [f"{LEFT_OUT_TEXT}?"]}
    assert json.loads(kept[1]) == left_out


def test_no_hash_and_no_key_tells_whether_a_guessed_question_was_asked() -> None:
    job = {"question": QUESTION, "request_hash": "abc", "request_key": "ouzel-built"}
    call = {"id": 7, "request_hash": "abc"}

    asked = redaction(QUESTION)

    kept: list[dict[str, Any]] = [asked.row("jobs", job), asked.row("tool_calls", call)]
    assert [kept[0]["request_hash"], kept[0]["request_key"]] == ["", None]
    assert kept[1]["request_hash"] == "left out 7"
    assert asked.value({"request_hash": "abc"}) == {"request_hash": ""}


def test_what_was_left_out_before_is_not_left_out_again() -> None:
    asked = redaction(LEFT_OUT_TEXT, f"And {LEFT_OUT_TEXT} then, in the year of the fire?")

    text = f"Find {LEFT_OUT_TEXT}, then in the year of the fire"

    assert asked.text(text) == f"Find {LEFT_OUT_TEXT}, {LEFT_OUT_TEXT}"
    asked = redaction("left out of this bundle")
    assert asked.text(f"left out of this bundle, {LEFT_OUT_TEXT}") == (
        f"{LEFT_OUT_TEXT}, {LEFT_OUT_TEXT}"
    )


def test_guidance_and_answers_are_left_out_but_not_a_short_word() -> None:
    asked = redaction(QUESTION, told=("Ask the keeper's heirs", "yes", "Two of five were built."))

    text = "It said yes: ASK THE KEEPER'S HEIRS about it. Ask the keeper's heirs"

    assert asked.text(text) == f"It said yes: {LEFT_OUT_TEXT} about it. {LEFT_OUT_TEXT}"


def test_a_tools_answer_is_searched_for_and_its_titles_are_not() -> None:
    title = "A long history of the lamps of Fife"
    answer = {"text": SENTENCE, "passages": [{"title": title, "address": "a", "text": "x"}]}
    sources = RowRedaction.of([Redaction.SOURCES], SecretMask(), [QUESTION])

    sources = sources.without_passages(texts_in(json.dumps(answer)), [QUESTION])

    assert sources.value({"value": f"So {SENTENCE}"}) == {"value": f"So {LEFT_OUT_TEXT}."}
    assert sources.value({"value": title}) == {"value": title}
    assert sources.value({"figures": [{"title": "x"}]}) == {"figures": []}
