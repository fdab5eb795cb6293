"""Read what a strong reader found for each question: its queries, its answer and its quotes."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from holdfast.evals.peers.exchange_records import Exchange, Json
from holdfast.models.frozen_model import Frozen
from holdfast.models.loop.loop_functions import ANSWER, SEARCH

NOTES = Path(__file__).parent / "notes.json"
"""From the exchanges of a run of `research` of 2026-11-23 by hand; the quotes are MuSiQue's
(CC BY 4.0), HotpotQA's (CC BY-SA 4.0), and those of `docs/`."""


class NotedSentence(Frozen):
    """A sentence of the strong reader's answer with its quotes."""

    text: str
    quotes: tuple[str, ...]


class ReaderNotes(Frozen):
    """What the strong reader asked and answered for one question."""

    question: str
    queries: tuple[str, ...]
    short: str
    sentences: tuple[NotedSentence, ...]
    open: tuple[str, ...] = ()


def recorded_notes() -> tuple[ReaderNotes, ...]:
    """Return the committed notes, one for each question."""
    rows = json.loads(NOTES.read_text(encoding="utf-8"))
    return tuple(ReaderNotes.model_validate(each) for each in rows)


def notes_of(exchanges: Sequence[Exchange]) -> ReaderNotes | None:
    """Return the notes of one job's exchanges; None without an answer of its loop."""
    turns = [each for each in exchanges if each.request.get("tools")]
    calls = [call for each in turns for call in function_calls(each.reply["choices"][0]["message"])]
    queries = [query for name, said in calls if name == SEARCH for query in said["queries"]]
    answers = [said for name, said in calls if name == ANSWER]
    if not answers:
        return None
    said = answers[-1]
    return ReaderNotes(
        question=json.loads(turns[0].request["messages"][1]["content"])["question"],
        queries=tuple(queries),
        short=said["short"],
        sentences=tuple(
            NotedSentence(
                text=each["text"], quotes=tuple(cite["quote"] for cite in each.get("cites", ()))
            )
            for each in said["sentences"]
        ),
        open=tuple(said.get("open", ())),
    )


def function_calls(message: Json) -> Iterator[tuple[str, Json]]:
    """Yield the calls of a message with their arguments; arguments that are no JSON are empty."""
    for each in message.get("tool_calls") or ():
        function = each["function"]
        try:
            yield str(function["name"]).casefold(), json.loads(function["arguments"])
        except ValueError:
            yield str(function["name"]).casefold(), {}
