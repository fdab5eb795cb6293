"""Take secrets, and what the person who exports wants to keep, out of a job's rows."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.text.secret_mask import SecretMask

LEFT_OUT_TEXT = "[left out of this bundle]"
_SHORTEST_QUESTION = 8
"""Characters; a shorter text is found in too many places that mean something else."""
_QUOTES = frozenset({"quote", "nearest_text"})

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

    @classmethod
    def of(
        cls, redacted: Iterable[Redaction], mask: SecretMask, questions: Iterable[str]
    ) -> "RowRedaction":
        """Return the redaction; prompts contain sources, so that these take those with them."""
        chosen = frozenset(redacted)
        if Redaction.SOURCES in chosen:
            chosen |= {Redaction.PROMPTS}
        asked = [q for q in questions if len(q) >= _SHORTEST_QUESTION]
        hidden = asked if Redaction.QUESTIONS in chosen else []
        forms = {form for question in hidden for form in _written_forms(question)}
        return cls(chosen, mask, tuple(sorted(forms, key=len, reverse=True)))

    def row(self, table_name: str, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row as it may leave the installation."""
        replaced = {
            name: value
            for redaction in self.redacted
            for name, value in _COLUMNS[redaction].get(table_name, {}).items()
        }
        return {name: self.value(value) for name, value in {**row, **replaced}.items()}

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
        for question in self.questions:
            text = text.replace(question, LEFT_OUT_TEXT)
        return self.mask.text(text)

    def _field(self, name: str, value: Any) -> Any:  # noqa: ANN401 - a stored document
        if name in _QUOTES and Redaction.SOURCES in self.redacted and isinstance(value, str):
            return ""
        return self.value(value)


def _written_forms(text: str) -> set[str]:
    """Return the text as it is, and as it stands inside of one and of two JSON documents."""
    forms = {text}
    for _ in range(2):
        forms |= {json.dumps(form, ensure_ascii=a)[1:-1] for form in forms for a in (True, False)}
    return forms
