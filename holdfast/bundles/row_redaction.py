"""Take secrets, and what the person who exports wants to keep, out of a job's rows."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.text.json_leaves import texts_in as json_texts_in
from holdfast.models.text.secret_mask import SecretMask
from holdfast.models.text.word_runs import WordRuns, word_count

LEFT_OUT_TEXT = "[left out of this bundle]"
_SHORTEST_TEXT = 8
"""Characters; a shorter answer or guidance stands in too many places that mean something else."""
_SHORTEST_PART = 5
"""Words of a question that say what was asked; fewer are often a name that sources have too."""
_SHORTEST_PASSAGE = 6
"""Words of a source that are its words; fewer stand in many texts."""
_QUOTES = frozenset({"quote", "nearest_text"})
_NAMES_OF_SOURCES = frozenset({"title", "heading", "address"})
_COLUMNS_OF_SOURCES = _NAMES_OF_SOURCES | {"text"}
"""Columns of a source that stay as they are, or its hash and its quotes would no longer fit."""
_CODES = frozenset(
    {
        *("status", "kind", "role", "type", "finish", "stop_reason", "origin", "verdict", "level"),
        *("strength", "preset", "model", "tool", "part", "media_type"),
    }
)
"""Fields whose words the program reads: they stay, although a question may be just `Done?`."""
_NUMBER_OR_TIME = re.compile(r"[\d.:TZ+-]+")
_FIELD_NAME = re.compile(r"[\w.:/-]+", re.ASCII)

_COLUMNS: Mapping[Redaction, Mapping[str, Mapping[str, Any]]] = {
    Redaction.QUESTIONS: {
        "jobs": {
            "question": LEFT_OUT_TEXT,
            "follow_up": None,
            "request_key": None,
            "request_hash": "",
        },
        "questions": {
            "text": LEFT_OUT_TEXT,
            "choices": [],
            "default_answer": None,
            "answer": None,
            "trail": [],
        },
        "guidance": {"text": LEFT_OUT_TEXT},
    },
    Redaction.SOURCES: {
        "sources": {"text": ""},
        "evidence": {"quote": ""},
        "tool_calls": {"response": None},
        "source_checks": {"nearest_text": ""},
    },
    Redaction.PROMPTS: {
        "model_calls": {"request": "", "response": None},
        "loop_messages": {"content": ""},
        "tasks": {"trace": None, "notes": None},
    },
}
"""The columns that a redaction replaces, by table."""


@dataclass(frozen=True)
class RowRedaction:
    """What is taken out of every row."""

    redacted: frozenset[Redaction]
    mask: SecretMask
    questions: tuple[str, ...] = ()
    """The texts that are replaced wherever they stand, each as written and as in JSON."""
    asked: tuple[WordRuns, ...] = ()
    """Longer parts of these texts, which plans and gaps repeat, and short questions as a whole."""
    passages: WordRuns | None = None
    """Parts of the texts of sources, which findings repeat."""

    @classmethod
    def of(
        cls,
        redacted: Iterable[Redaction],
        mask: SecretMask,
        questions: Iterable[str],
        told: Iterable[str] = (),
    ) -> "RowRedaction":
        """Return the redaction; prompts contain sources, so that these take those with them.

        `questions` are what was asked of the job, of any length. `told` is what models and people
        said to each other meanwhile: short words of it, such as `yes`, are left in other places.
        """
        chosen = frozenset(redacted)
        if Redaction.SOURCES in chosen:
            chosen |= {Redaction.PROMPTS}
        if Redaction.QUESTIONS not in chosen:
            return cls(chosen, mask)
        own = _without_left_out(questions)
        texts = [each for each in _without_left_out(told) if len(each) >= _SHORTEST_TEXT]
        by_length = defaultdict[int, list[str]](list, {_SHORTEST_PART: texts})
        for question in own:
            # Word runs find a question in any case, and without its final sign.
            by_length[min(word_count(question), _SHORTEST_PART)].append(question)
        by_length.pop(0, None)  # questions without a word
        texts = [*texts, *(each for each in own if len(each) >= _SHORTEST_TEXT)]
        forms = {form for each in texts for form in _written_forms(each)}
        runs = (WordRuns(each, shortest) for shortest, each in sorted(by_length.items()))
        return cls(chosen, mask, tuple(sorted(forms, key=len, reverse=True)), (*runs,))

    def without_passages(self, texts: Iterable[str], questions: Iterable[str]) -> "RowRedaction":
        """Return the redaction that also replaces parts of these texts of sources.

        Words that stand in the questions are the asker's own, and stay.
        """
        shown = _without_left_out(texts)
        return replace(self, passages=WordRuns(shown, _SHORTEST_PASSAGE, spared=questions))

    @property
    def leaves_figures_out(self) -> bool:
        """True if no figure may leave: images are not searched, and draw what their titles say."""
        return bool(self.redacted & {Redaction.QUESTIONS, Redaction.SOURCES})

    def row(self, table_name: str, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row as it may leave the installation."""
        replaced = {
            name: value
            for redaction in self.redacted
            for name, value in _COLUMNS[redaction].get(table_name, {}).items()
        }
        if Redaction.QUESTIONS in self.redacted and table_name in ("model_calls", "tool_calls"):
            # Whoever guesses a question could hash it. The number keeps the rows apart.
            replaced["request_hash"] = f"left out {row['id']}"
        kept = _COLUMNS_OF_SOURCES if table_name == "sources" else frozenset[str]()
        return {
            name: value if name in replaced else self._field(name, value, kept)
            for name, value in {**row, **replaced}.items()
        }

    def value(self, value: Any) -> Any:  # noqa: ANN401 - a column, or a stored document
        """Return the value without secrets, and without the questions and quotes to leave out."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            kept = _NAMES_OF_SOURCES if _is_of_a_source(value) else frozenset[str]()
            return {
                name if _FIELD_NAME.fullmatch(name) else self.text(name): self._field(
                    name, each, kept
                )
                for name, each in value.items()
            }
        return value

    def text(self, text: str) -> str:
        """Return the text without secrets, and without what is left out.

        A text that is JSON stays JSON: what is left out may not take its brackets with it.
        """
        if not (self.questions or self.asked or self.passages):
            return self.mask.text(text)
        if text in self.questions:
            return LEFT_OUT_TEXT
        if (document := _json_document(text)) is None:
            return LEFT_OUT_TEXT.join(map(self._plain, text.split(LEFT_OUT_TEXT)))
        redacted = self.value(document)
        return self.mask.text(text if redacted == document else json.dumps(redacted))

    def _plain(self, text: str) -> str:
        """Return a text that is no document, and of which nothing was left out before."""
        for question in self.questions:
            text = text.replace(question, LEFT_OUT_TEXT)
        for runs in (*self.asked, self.passages):
            if runs is not None:
                pieces = text.split(LEFT_OUT_TEXT)
                text = LEFT_OUT_TEXT.join(runs.replaced(each, LEFT_OUT_TEXT) for each in pieces)
        return self.mask.text(text)

    def _field(self, name: str, value: Any, kept: Set[str]) -> Any:  # noqa: ANN401 - a stored document
        """Return the field as it may leave; the texts of `kept` fields lose their secrets alone."""
        if name == "figures" and self.leaves_figures_out and isinstance(value, list):
            return []
        if not isinstance(value, str):
            return self.value(value)
        if name == "request_hash" and Redaction.QUESTIONS in self.redacted:
            return ""
        if name in _QUOTES and Redaction.SOURCES in self.redacted:
            return ""
        stays = name in kept or name in _QUOTES or _is_read_by_program(name, value)
        return self.mask.text(value) if stays else self.text(value)


def _is_read_by_program(name: str, value: str) -> bool:
    """True for a code, a number or a time, which is no text although a question may be equal."""
    is_code = name in _CODES and _FIELD_NAME.fullmatch(value) is not None
    return is_code or _NUMBER_OR_TIME.fullmatch(value) is not None


def _is_of_a_source(document: Mapping[str, Any]) -> bool:
    """True if title, heading and address name a source, which keeps what it says."""
    return "source_id" in document or {"title", "address"} <= document.keys()


def _without_left_out(texts: Iterable[str]) -> list[str]:
    """Return what is left of the texts of a job that was itself imported without some of them."""
    parts = (part.strip() for text in texts for part in text.split(LEFT_OUT_TEXT))
    return [part for part in dict.fromkeys(parts) if part]


def texts_in(answer: str) -> list[str]:
    """Return the texts of a tool's answer, without titles, headings and addresses of sources."""
    document = _json_document(answer)
    return [answer] if document is None else [*json_texts_in(document, _NAMES_OF_SOURCES)]


def _json_document(text: str) -> Any:  # noqa: ANN401 - any document
    """Return the object or the list that the text is in JSON; None if the text is neither."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _written_forms(text: str) -> set[str]:
    """Return the text as it is, and as it stands inside of one and of two JSON documents."""
    forms = {text}
    for _ in range(2):
        forms |= {json.dumps(form, ensure_ascii=a)[1:-1] for form in forms for a in (True, False)}
    return forms
