"""Render a value as text."""

import json


def value_in_words(value: object) -> str:
    """A list of texts and numbers as its elements, any other value as `value_as_text` has it."""
    if isinstance(value, list) and value and not any(isinstance(e, list | dict) for e in value):
        return "; ".join(map(value_as_text, value))
    return value_as_text(value)


def stored_text_in_words(text: str) -> str:
    """Return what `value_as_text` made of a list as its elements; any other text as it is."""
    if not text.startswith("["):
        return text
    try:
        return value_in_words(json.loads(text))
    except (ValueError, RecursionError):
        return text


def value_as_text(value: object) -> str:
    """A text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
