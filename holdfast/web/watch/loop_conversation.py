"""Read the transcript of a cited loop as a conversation of searches, passages and an answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.models.loop.loop_results import Transcript, TranscriptMessage
from holdfast.web.rendering.plain_words import value_name

_AGENT, _TOOLS = "agent", "tools"


class ReadPassage(NamedTuple):
    """A passage under its number."""

    number: int
    title: str
    text: str


class LoopTurn(NamedTuple):
    """One message: what the agent did, or what came back."""

    who: str
    title: str
    lines: tuple[str, ...] = ()
    passages: tuple[ReadPassage, ...] = ()


def conversation(transcript: Transcript) -> list[LoopTurn]:
    """The turns since the last compaction; a message of unknown form is shown as its text."""
    return [turn for message in transcript.messages for turn in _turns(message)]


def _turns(message: TranscriptMessage) -> Iterator[LoopTurn]:
    if message.role == "system":
        return
    try:
        content = json.loads(message.content)
    except ValueError:
        content = None
    if not isinstance(content, Mapping):
        yield LoopTurn(_AGENT if message.role == "assistant" else _TOOLS, "", (message.content,))
    elif message.role == "assistant":
        yield from _agent_turns(content)
    else:
        yield _answer_turn(content)


def _agent_turns(content: Mapping[str, Any]) -> Iterator[LoopTurn]:
    for call in _maps(content.get("calls")):
        name, arguments = str(call.get("name", "")), call.get("arguments")
        given = arguments if isinstance(arguments, Mapping) else {}
        yield _agent_turn(name, given)


def _agent_turn(name: str, given: Mapping[str, Any]) -> LoopTurn:
    match name:
        case "search":
            return LoopTurn(_AGENT, "Searches", tuple(_texts(given.get("queries"))))
        case "use":
            inputs = (
                f"{each.get('name')}: {each.get('value')}" for each in _maps(given.get("inputs"))
            )
            return LoopTurn(_AGENT, f"Calls {given.get('tool', 'a tool')}", tuple(inputs))
        case "ask":
            return LoopTurn(_AGENT, "Asks you", (str(given.get("question", "")),))
        case "split":
            return LoopTurn(
                _AGENT, "Splits the question", tuple(_texts(given.get("sub_questions")))
            )
        case "answer":
            return LoopTurn(_AGENT, "Answers", tuple(_answer_lines(given)))
    return LoopTurn(_AGENT, name or "Says", (json.dumps(given, ensure_ascii=False),))


def _answer_lines(given: Mapping[str, Any]) -> Iterator[str]:
    if short := given.get("short"):
        yield str(short)
    for value in _maps(given.get("values")):
        yield f"{value_name(str(value.get('name')))} = {value.get('value')}"
    for sentence in _maps(given.get("sentences")):
        marks = "".join(f" [{cite.get('passage')}]" for cite in _maps(sentence.get("cites")))
        yield f"{sentence.get('text')}{marks}"
    for link in _texts(given.get("open")):
        yield f"Open: {link}"


def _answer_turn(content: Mapping[str, Any]) -> LoopTurn:
    if "refused" in content or "refused_values" in content or "correct" in content:
        return LoopTurn(_TOOLS, "The proof refuses", tuple(_refusal_lines(content)))
    results = [call for entry in content.get("results") or () for call in _maps(entry)]
    first = _maps(content.get("first_search"))
    lines = [*_texts(content.get("guidance")), *_texts(content.get("answers"))]
    for call in (*first, *results):
        lines += _result_lines(call)
    if text := content.get("must_answer"):
        lines.append(f"Must answer now: {text}")
    passages = [
        *_maps(content.get("kept")),
        *(p for c in (*first, *results) for p in _maps(c.get("passages"))),
    ]
    title = str(content["question"]) if "question" in content else "What came back"
    return LoopTurn(_TOOLS, title, tuple(lines), tuple(_passage(each) for each in passages))


def _result_lines(call: Mapping[str, Any]) -> list[str]:
    found, above = len(_maps(call.get("passages"))), len(call.get("shown_above") or ())
    query = call.get("call") or "The question itself"
    lines = [f"“{query}”: {found} new, {above} known"]
    return [*lines, str(call["note"])] if call.get("note") else lines


def _refusal_lines(content: Mapping[str, Any]) -> Iterator[str]:
    for each in _maps(content.get("refused")):
        yield f"{each.get('text')} — {each.get('why')}"
    for each in _maps(content.get("refused_values")):
        yield f"{value_name(str(each.get('name')))} — {each.get('why')}"
    if reason := content.get("not_following"):
        yield str(reason)


def _passage(value: Mapping[str, Any]) -> ReadPassage:
    number = value.get("n")
    text = value.get("text") or " … ".join(_texts(value.get("sentences")))
    return ReadPassage(
        number if isinstance(number, int) else 0, str(value.get("title", "")), str(text)
    )


def _maps(value: object) -> Sequence[Mapping[str, Any]]:
    """The objects of a list; none if a model wrote something else."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    """The texts of a list, or the one text that a model wrote in its place."""
    if isinstance(value, str):
        return [value]
    return [str(each) for each in value] if isinstance(value, list) else []
