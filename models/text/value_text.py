"""Render a value as text."""

import json


def value_as_text(value: object) -> str:
    """A text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
