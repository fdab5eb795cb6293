"""Tests of the weak reader: one query a turn, seeded faults, inventions that are counted."""

import json
from pathlib import Path
from random import Random
from typing import Any

from holdfast.evals.peers.contestants.contestant_interface import Delivered
from holdfast.evals.peers.exchange_records import Exchange, Usage
from holdfast.evals.peers.peer_records import PeerRun
from holdfast.evals.weak.reader_faults import FaultDice, paraphrase, wrong_number
from holdfast.evals.weak.reader_notes import NotedSentence, ReaderNotes, recorded_notes
from holdfast.evals.weak.weak_figures import WeakRun, weak_lines, weak_run
from holdfast.evals.weak.weak_reader import WeakReader
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.loop.loop_functions import AnswerSentence
from holdfast.models.loop.loop_results import NumberedPassage
from holdfast.planning.loop.answer_proof import ProofGround

ROOT = Path(__file__).parents[2]
RECORDED = Path("evals/weak/recorded/2026-11-27.json")
DRAWS = 40
LAMP = "The Harrow Lamp was designed by Imogen Pell in 1874."
PELL = "Imogen Pell was an engineer born in Selby Marsh."
NOTES = ReaderNotes(
    question="Where was the designer of the Harrow Lamp born?",
    queries=("Imogen Pell", "Selby Marsh"),
    short="Selby Marsh",
    sentences=(
        NotedSentence(text="Imogen Pell designed the Harrow Lamp.", quotes=(LAMP,)),
        NotedSentence(text="Imogen Pell was born in Selby Marsh.", quotes=(PELL,)),
    ),
)


def request(*passages: str, tried: int = 0) -> dict[str, Any]:
    shown = [{"n": n, "text": text} for n, text in enumerate(passages, start=1)]
    content = {"question": NOTES.question, "first_search": [{"passages": shown}]}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": json.dumps(content)},
    ]
    for query in NOTES.queries[:tried]:
        asked = {"name": "search", "arguments": json.dumps({"queries": [query]})}
        messages.append({"role": "assistant", "tool_calls": [{"function": asked}]})
        messages.append({"role": "tool", "content": "[]"})
    parameters: dict[str, Any] = {"properties": {"short": {}, "sentences": {}}}
    return {
        "messages": messages,
        "tools": [{"function": {"name": "answer", "parameters": parameters}}],
    }


def call(reader: WeakReader, asked: dict[str, Any]) -> tuple[str, str]:
    function = reader.reply(asked)["tool_calls"][0]["function"]
    return function["name"].casefold(), function["arguments"]


def test_the_reader_asks_one_query_a_turn_until_it_has_seen_every_quote() -> None:
    names = set()
    for seed in range(20):
        reader = WeakReader([NOTES], seed)
        name, arguments = call(reader, request(LAMP))
        assert name == "search"
        assert "Selby" not in arguments
        assert call(reader, request(LAMP, tried=1))[0] == "search"
        names.add(call(reader, request(LAMP, PELL))[0])
        names.add(call(reader, request(LAMP, tried=2))[0])

    assert names == {"answer"}


def test_the_same_request_gets_the_same_faults_and_another_seed_gets_others() -> None:
    asked = request(LAMP, PELL)
    replies = [WeakReader([NOTES], seed).reply(asked) for seed in range(20)]

    assert replies == [WeakReader([NOTES], seed).reply(asked) for seed in range(20)]
    assert len({json.dumps(each) for each in replies}) > 10


def test_paraphrases_and_wrong_numbers_differ_from_what_was_said() -> None:
    assert paraphrase(PELL) not in PELL
    assert wrong_number("It opened in 1874.") == "It opened in 1887."
    assert wrong_number("It opened.") == "It opened since 1713."


def test_every_kind_of_invention_is_drawn() -> None:
    true = [{"text": NOTES.sentences[0].text, "cites": [{"passage": 1, "quote": LAMP}]}]
    drawn = [FaultDice(Random(n)).invention(true, last_passage=4) for n in range(200)]

    kinds = {json.dumps([each["cites"] for each in one]) for one in drawn}
    assert len(kinds) == 6, "five kinds, and none"


def test_no_drawn_invention_passes_the_rules() -> None:
    passed = []
    for notes in recorded_notes():
        quotes = list(dict.fromkeys(quote for each in notes.sentences for quote in each.quotes))
        ground = ProofGround(notes.question, [passage(n, q) for n, q in enumerate(quotes, 1)])
        true = [
            {
                "text": each.text,
                "cites": [{"passage": quotes.index(q) + 1, "quote": q} for q in each.quotes],
            }
            for each in notes.sentences
        ]
        drawn = [
            said
            for n in range(DRAWS)
            for said in FaultDice(Random(n)).invention(true, last_passage=len(quotes))
        ]
        passed += [
            each
            for each in drawn
            if ground.prove(AnswerSentence.model_validate(each)).proven is not None
        ]

    assert passed == []


def passage(number: int, text: str) -> NumberedPassage:
    source = SourcePassage(address=f"d{number}", title="", text=text, start=0, end=len(text))
    return NumberedPassage(
        number=number, source_id=number, step_id="T0.1", attempt=1, passage=source
    )


def test_a_planted_sentence_in_the_report_is_counted() -> None:
    invented = "Experts agree that this has been so since 1500."
    said = {"short": "Selby Marsh", "sentences": [{"text": invented, "cites": []}]}
    function = {"name": "Answer", "arguments": json.dumps(said)}
    message = {"role": "assistant", "tool_calls": [{"function": function}]}
    exchange = Exchange(
        request={"messages": [{"role": "system", "content": "rules"}], "tools": [{}]},
        reply={"choices": [{"message": message}]},
    )
    run = PeerRun(
        contestant="loop",
        question="lamp",
        question_hash="0",
        model="weak",
        right=("Selby Marsh",),
        verdict="correct",
        usage=Usage(calls=1, input_tokens=10),
        delivered=Delivered(text=f"Selby Marsh\n{invented}", answer="Selby Marsh"),
    )

    counted = weak_run(run, 1, [exchange], NOTES)

    assert (counted.planted, counted.delivered) == (1, (invented,))
    assert not counted.was_taken_over


def test_the_notes_are_those_of_the_recorded_questions() -> None:
    assert len(recorded_notes()) == 13


def recorded_weak_runs() -> list[WeakRun]:
    return [WeakRun.model_validate(each) for each in json.loads((ROOT / RECORDED).read_text())]


def test_the_documented_figures_are_those_of_the_recorded_weak_reader() -> None:
    page = (ROOT / "docs/played-jobs.md").read_text()
    runs = recorded_weak_runs()

    assert [run.delivered for run in runs if run.delivered] == []
    for line in weak_lines(runs):
        assert line in page
