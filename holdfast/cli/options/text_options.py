"""Check the texts that a person writes: the question, the guidance and the answer."""

import sys

from holdfast.models.errors import BadInput

MAX_QUESTION_LENGTH = 20_000
"""Characters; a longer text is a document and belongs into the folder given with --docs."""


def checked_question(text: str) -> str:
    """The question; `-` reads it from standard input.

    Raises:
        BadInput: the question is empty, too long, or not text.
    """
    question = _checked_text("question", text)
    if not question:
        raise BadInput('the question is empty; ask one, as in `holdfast run "Who built ...?"`')
    return question


def checked_guidance(text: str) -> str:
    """The guidance for the next planning; `-` reads it from standard input.

    Raises:
        BadInput: the guidance is empty, too long, or not text.
    """
    guidance = _checked_text("guidance", text)
    if not guidance:
        raise BadInput("the guidance is empty; say what the next planning must take into account")
    return guidance


def checked_answer(text: str) -> str:
    """A person's answer; `-` reads it from standard input.

    Raises:
        BadInput: the answer is empty, too long, or not text.
    """
    answer = _checked_text("answer", text)
    if not answer:
        raise BadInput("the answer is empty")
    return answer


def _checked_text(name: str, text: str) -> str:
    text = _read_stdin(name) if text == "-" else text
    text = text.replace("\x00", "").strip()
    if len(text) > MAX_QUESTION_LENGTH:
        raise BadInput(
            f"the {name} has {len(text):,} characters, the limit is {MAX_QUESTION_LENGTH:,}; put "
            "long material into a folder and give it with --docs"
        )
    return text


def _read_stdin(name: str) -> str:
    # One character more than the limit shows that a text is too long; the rest is never read.
    data = sys.stdin.buffer.read(4 * MAX_QUESTION_LENGTH + 4)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.end >= len(data) and len(data) > MAX_QUESTION_LENGTH:
            return data.decode("utf-8-sig", "ignore")
        raise BadInput(f"the {name} on standard input is not valid UTF-8: {error}") from error
