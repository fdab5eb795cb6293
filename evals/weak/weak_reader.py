"""Play every role of a job as a weak model does: the right way is known, the faults are drawn.

The reader looks for the passages that the strong reader quoted, with one of its queries a turn, and
answers as soon as it has seen them all. Faults are drawn from the request's hash and a seed, so a
request that is sent again gets the same reply.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from holdfast.evals.oracle.oracle_agents import accepted_results
from holdfast.evals.oracle.oracle_reports import (
    sentence_checker_answer,
    sentence_corrector_answer,
    synthesiser_answer,
)
from holdfast.evals.oracle.program_calls import RoleTask, unused_id
from holdfast.evals.peers.exchange_records import Json
from holdfast.evals.weak.reader_faults import CORRECTS, SILENT_JUDGE, FaultDice, Sentence
from holdfast.evals.weak.reader_notes import NotedSentence, ReaderNotes, function_calls
from holdfast.models.calls.model_requests import canonical_hash
from holdfast.models.errors import BadInput
from holdfast.models.loop.loop_functions import ANSWER, SEARCH
from holdfast.planning.text.folded_text import fold_text
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.loop.answer_judge import ANSWER_JUDGE
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER
from holdfast.roles.planning.replanner import AGENT_TASK_REPLANNER
from holdfast.roles.reports.sentence_corrector import SENTENCE_CORRECTOR
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.verification.sentence_checker import SENTENCE_CHECKER
from holdfast.roles.verification.verifier import VERIFIER

_FOUND = "found_answer"


@dataclass(frozen=True)
class WeakReader:
    """A model that has the notes of a strong one, and a seed for its faults."""

    notes: Sequence[ReaderNotes]
    seed: int

    def reply(self, request: Json) -> Json:
        """Return the message that answers the request.

        Raises:
            BadInput: nobody took notes for the question, or the role is not played.
        """
        messages = request["messages"]
        dice = FaultDice(Random(f"{self.seed}:{canonical_hash(messages)}"))
        if request.get("tools"):
            return _LoopTurn(self._notes_of(messages[1]["content"]), request, dice).message()
        task = json.loads(messages[1]["content"])
        text = json.dumps(self._role_answer(messages[0]["content"], task, dice), ensure_ascii=False)
        return {"role": "assistant", "content": dice.arguments(text)}

    def _notes_of(self, text: str) -> ReaderNotes:
        question = str(json.loads(text)["question"])
        for each in self.notes:
            if each.question in question:
                return each
        raise BadInput(f"there are no notes for the question {question[:80]!r}")

    def _role_answer(self, system: str, task: RoleTask, dice: FaultDice) -> object:
        if system.startswith(ANSWER_JUDGE.instructions.strip()):
            return _judgement(self._notes_of(json.dumps(task)), task, dice)
        if system.startswith(AGENT_TASK_PLANNER.instructions.strip()):
            return _plan("T1", task["question"])
        if system.startswith(AGENT_TASK_REPLANNER.instructions.strip()):
            return _plan(
                unused_id(f"{task['failed_task_id']}a", task["used_ids"]), task["question"]
            )
        if system.startswith(VERIFIER.instructions.strip()):
            return accepted_results(task)
        if system.startswith(GAP_PLANNER.instructions.strip()):
            retried = [{"id": each, "hint": "other words"} for each in task["incomplete"]]
            return {"retry_sub_questions": retried, "new_sub_questions": []}
        for role, answer in _REPORT_ANSWERS:
            if system.startswith(role.instructions.strip()):
                return answer(task)
        raise BadInput(f"the weak reader does not play this role: {system[:80]!r}")


_REPORT_ANSWERS: tuple[tuple[Role[Any, Any], Callable[[RoleTask], object]], ...] = (
    (SYNTHESISER, synthesiser_answer),
    (SENTENCE_CHECKER, sentence_checker_answer),
    (SENTENCE_CORRECTOR, sentence_corrector_answer),
)


def _plan(task_id: str, question: str) -> object:
    """A plan of one sub-question: the question itself, for an agent of its own."""
    found = {"name": _FOUND, "type": "string", "description": "the answer", "required": True}
    task = {
        "id": task_id,
        "description": f"Find the answer in the documents: {question}",
        "agent": "rag",
        "criteria": "the answer is shown by quotes",
        "depends_on": [],
        "expects": [found],
        "priority": 5,
        "include_context": False,
    }
    return {"explanation": "look again", "tasks": [task]}


def _judgement(notes: ReaderNotes, task: RoleTask, dice: FaultDice) -> object:
    """A judgement that refuses no sentence; the reader knows only what is missing."""
    texts = {each["text"] for each in task["sentences"]}
    missing = [each.text for each in notes.sentences if each.text not in texts]
    is_weak = bool(notes.open) and not dice.happens(SILENT_JUDGE)
    return {
        "not_shown": [],
        "answer_follows": not missing,
        "missing": missing[0] if missing else "",
        "weakest": task["sentences"][0]["n"],
        "strength": "weak" if is_weak else "stated",
    }


@dataclass(frozen=True)
class _LoopTurn:
    """One turn of a loop."""

    notes: ReaderNotes
    request: Json
    dice: FaultDice

    def message(self) -> Json:
        query = self._next_query()
        refused = self._refused()
        if refused:
            name, said = ANSWER, self._correction(refused)
        elif query and not self._is_complete and not self._must_answer:
            name, said = SEARCH, {"queries": [query]}
        else:
            name, said = ANSWER, self._answer()
        text = self.dice.arguments(json.dumps(said, ensure_ascii=False))
        function = {"name": self.dice.function_name(name), "arguments": text}
        number = len(self.request["messages"])
        call = {"id": f"call_{number}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    @property
    def _contents(self) -> list[Any]:
        """What the other side has sent, as JSON."""
        texts = (
            each["content"] for each in self.request["messages"][1:] if each["role"] != "assistant"
        )
        return [_json(text) for text in texts]

    @property
    def _passages(self) -> dict[int, str]:
        found = (each for content in self._contents for each in _objects(content))
        return {int(each["n"]): str(each["text"]) for each in found if {"n", "text"} <= each.keys()}

    @property
    def _shown(self) -> list[tuple[NotedSentence, list[dict[str, Any]]]]:
        """The noted sentences whose quotes are all in passages that were shown."""
        folded = {number: fold_text(text) for number, text in self._passages.items()}
        found = []
        for sentence in self.notes.sentences:
            places = [
                next((n for n, text in folded.items() if text.find(fold_text(quote))), None)
                for quote in sentence.quotes
            ]
            if None not in places:
                pairs = zip(places, sentence.quotes, strict=True)
                found.append((sentence, [{"passage": n, "quote": quote} for n, quote in pairs]))
        return found

    @property
    def _is_complete(self) -> bool:
        return len(self._shown) == len(self.notes.sentences)

    @property
    def _must_answer(self) -> bool:
        return any(each.get("must_answer") for part in self._contents for each in _objects(part))

    def _next_query(self) -> str:
        messages = self.request["messages"]
        calls = [
            c for each in messages if each["role"] == "assistant" for c in function_calls(each)
        ]
        asked = {query for _, said in calls for query in said.get("queries", ())}
        return next((each for each in self.notes.queries if each not in asked), "")

    def _refused(self) -> list[dict[str, Any]]:
        last = self._contents[-1]
        return list(last.get("refused", ())) if isinstance(last, dict) else []

    def _true_sentences(self) -> list[Sentence]:
        return [{"text": each.text, "cites": cites} for each, cites in self._shown]

    def _answer(self) -> dict[str, Any]:
        true = self._true_sentences()
        said = [self.dice.sentence(each) for each in true]
        said += self.dice.invention(true, max(self._passages, default=1))
        open_lines = list(self.notes.open)
        if not self._is_complete:
            open_lines.append("not everything was found")
        short = self.notes.short if said else ""
        return {"short": short, "sentences": said, "open": open_lines, **self._values(true)}

    def _values(self, true: Sequence[Sentence]) -> dict[str, Any]:
        """The promised values, where the function has them."""
        schemas = {
            each["function"]["name"]: each["function"]["parameters"]
            for each in self.request["tools"]
        }
        if "values" not in schemas[ANSWER]["properties"] or not true:
            return {}
        cites = [cite for each in true for cite in self.dice.sentence(each)["cites"]]
        value = {"name": _FOUND, "value": self.notes.short, "cites": cites, "confidence": 0.9}
        return {"values": [value]}

    def _correction(self, refused: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The refused sentences: right, or as wrong as before; inventions are kept or left out."""
        true = {each["text"]: each for each in self._true_sentences()}
        said = []
        for each in refused:
            right = true.get(each["text"])
            is_right = self.dice.happens(CORRECTS)
            if right is not None:
                again = right if is_right else self.dice.sentence(right)
                said.append({**again, "replaces": each["sentence"]})
            elif not is_right:
                said.append({"text": each["text"], "cites": [], "replaces": each["sentence"]})
        return {"short": "", "sentences": said, "open": [], **self._values(list(true.values()))}


def _json(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text.split("\n")[0])
    except ValueError:
        return {}


def _objects(content: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - JSON
    """Every object in the JSON."""
    if isinstance(content, Mapping):
        yield content
        content = list(content.values())
    if isinstance(content, list):
        for each in content:
            yield from _objects(each)
