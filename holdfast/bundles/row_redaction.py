"""Take secrets, and what the person who exports wants to keep, out of a job's rows."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.text.secret_mask import SecretMask
from holdfast.models.text.word_runs import WordRuns

LEFT_OUT_TEXT = "[left out of this bundle]"
_SHORTEST_QUESTION = 8
"""Characters; a shorter text is found in too many places that mean something else."""
_SHORTEST_PART = 5
"""Words of a question that say what was asked; fewer are often a name that sources have too."""
_SHORTEST_PASSAGE = 6
"""Words of a source that are its words; fewer stand in many texts."""
_QUOTES = frozenset({"quote", "nearest_text"})
_WORDS_OF_SOURCES: Mapping[str, frozenset[str]] = {
    "sources": frozenset({"text"}),
    "evidence": _QUOTES,
    "source_checks": _QUOTES,
}
"""Columns that must stay what a source says, or its hash and its quotes would no longer fit."""
_NAMES_OF_SOURCES = frozenset({"title", "heading", "address"})

_COLUMNS: Mapping[Redaction, Mapping[str, Mapping[str, Any]]] = {
    Redaction.QUESTIONS: {
        "jobs": {"question": LEFT_OUT_TEXT, "follow_up": None},
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
    asked: WordRuns | None = None
    """Longer parts of these texts, which plans and gaps repeat."""
    passages: WordRuns | None = None
    """Parts of the texts of sources, which findings repeat."""

    @classmethod
    def of(
        cls, redacted: Iterable[Redaction], mask: SecretMask, questions: Iterable[str]
    ) -> "RowRedaction":
        """Return the redaction; prompts contain sources, so that these take those with them."""
        chosen = frozenset(redacted)
        if Redaction.SOURCES in chosen:
            chosen |= {Redaction.PROMPTS}
        if Redaction.QUESTIONS not in chosen:
            return cls(chosen, mask)
        asked = [q for q in questions if len(q) >= _SHORTEST_QUESTION]
        forms = {form for question in asked for form in _written_forms(question)}
        longest_first = tuple(sorted(forms, key=len, reverse=True))
        return cls(chosen, mask, longest_first, WordRuns(asked, _SHORTEST_PART))

    def without_passages(self, texts: Iterable[str], questions: Iterable[str]) -> "RowRedaction":
        """Return the redaction that also replaces parts of these texts of sources.

        Words that stand in the questions are the asker's own, and stay.
        """
        return replace(self, passages=WordRuns(texts, _SHORTEST_PASSAGE, spared=questions))

    def row(self, table_name: str, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row as it may leave the installation."""
        replaced = {
            name: value
            for redaction in self.redacted
            for name, value in _COLUMNS[redaction].get(table_name, {}).items()
        }
        unchanged = _WORDS_OF_SOURCES.get(table_name, frozenset())
        return {
            name: self.mask.text(value)
            if name in unchanged and isinstance(value, str)
            else self._field(name, value)
            for name, value in {**row, **replaced}.items()
        }

    def value(self, value: Any) -> Any:  # noqa: ANN401 - a column, or a stored document
        """Return the value without secrets, and without the questions and quotes to leave out."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {name: self._field(name, each) for name, each in value.items()}
        return value

    def text(self, text: str) -> str:
        """Return the text without secrets, and without what is left out."""
        for question in self.questions:
            text = text.replace(question, LEFT_OUT_TEXT)
        for runs in (self.asked, self.passages):
            if runs is not None:
                text = runs.replaced(text, LEFT_OUT_TEXT)
        return self.mask.text(text)

    def _field(self, name: str, value: Any) -> Any:  # noqa: ANN401 - a stored document
        if not isinstance(value, str):
            return self.value(value)
        if name in _QUOTES:
            return "" if Redaction.SOURCES in self.redacted else self.mask.text(value)
        return self.mask.text(value) if name in _NAMES_OF_SOURCES else self.text(value)


def _written_forms(text: str) -> set[str]:
    """Return the text as it is, and as it stands inside of one and of two JSON documents."""
    forms = {text}
    for _ in range(2):
        forms |= {json.dumps(form, ensure_ascii=a)[1:-1] for form in forms for a in (True, False)}
    return forms
