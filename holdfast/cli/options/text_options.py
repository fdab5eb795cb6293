"""Read the texts that a person types or sends through standard input."""

import sys

from holdfast.jobs.written_texts import (
    MAX_TEXT_LENGTH,
    checked_answer,
    checked_guidance,
    checked_question,
)
from holdfast.models.errors import BadInput


def read_question(text: str) -> str:
    """The question; `-` reads it from standard input.

    Raises:
        BadInput: the question is empty, too long, or not text.
    """
    return checked_question(_typed_or_piped("question", text))


def read_guidance(text: str) -> str:
    """The guidance for the next planning; `-` reads it from standard input.

    Raises:
        BadInput: the guidance is empty, too long, or not text.
    """
    return checked_guidance(_typed_or_piped("guidance", text))


def read_answer(text: str) -> str:
    """A person's answer; `-` reads it from standard input.

    Raises:
        BadInput: the answer is empty, too long, or not text.
    """
    return checked_answer(_typed_or_piped("answer", text))


def _typed_or_piped(name: str, text: str) -> str:
    return _read_stdin(name) if text == "-" else text


def _read_stdin(name: str) -> str:
    # One character more than the limit shows that a text is too long; the rest is never read.
    data = sys.stdin.buffer.read(4 * MAX_TEXT_LENGTH + 4)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.end >= len(data) and len(data) > MAX_TEXT_LENGTH:
            return data.decode("utf-8-sig", "ignore")
        raise BadInput(f"the {name} on standard input is not valid UTF-8: {error}") from error
