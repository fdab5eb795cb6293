"""Check the texts that a person writes: the question, the guidance and the answer."""

from pydantic import JsonValue

from holdfast.models.errors import BadInput
from holdfast.planning.plans.plan_edits import MAX_PLAN_CHARS
from holdfast.planning.questions.answer_choices import AnswerChoice

MAX_TEXT_LENGTH = 20_000
"""Characters; a longer text is a document and belongs into a collection."""
WRITTEN_TEXT: dict[str, JsonValue] = {"pattern": r"\S", "maxLength": MAX_TEXT_LENGTH}
"""What the checks of this module ask of a text, for the schema of a field."""


def checked_question(text: str) -> str:
    """The question, without NUL and white space around it.

    Raises:
        BadInput: the question is empty or too long.
    """
    question = _checked_text("question", text)
    if not question:
        raise BadInput('the question is empty; ask one, such as "Who built the pier?"')
    return question


def checked_guidance(text: str) -> str:
    """The guidance for the next planning.

    Raises:
        BadInput: the guidance is empty or too long.
    """
    guidance = _checked_text("guidance", text)
    if not guidance:
        raise BadInput("the guidance is empty; say what the next planning must take into account")
    return guidance


def checked_answer(text: str) -> str:
    """A person's answer.

    Raises:
        BadInput: the answer is empty or too long.
    """
    answer = _checked_text("answer", text)
    if not answer:
        raise BadInput("the answer is empty")
    return answer


def checked_words(choice: str, text: str) -> str:
    """The words of an answer with a choice; empty if there are none.

    The words of an edit are the plan, which may be longer than other answers.

    Raises:
        BadInput: the words are too long.
    """
    if not text.strip():
        return ""
    if choice == AnswerChoice.EDIT:
        return _checked_text("plan", text, MAX_PLAN_CHARS, "remove tasks")
    return checked_answer(text)


def _checked_text(
    name: str,
    text: str,
    limit: int = MAX_TEXT_LENGTH,
    instead: str = "put long material into a collection of documents",
) -> str:
    text = text.replace("\x00", "").strip()
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(
            f"the {name} has half of a character, {text[error.start]!r}, at position "
            f"{error.start + 1}; write whole characters"
        ) from error
    if len(text) > limit:
        raise BadInput(
            f"the {name} has {len(text):,} characters, the limit is {limit:,}; {instead}"
        )
    return text
