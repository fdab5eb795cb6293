"""Split a long text into parts of bounded size, the same ones at every call."""

MAX_RESULT_LENGTH = 20_000
"""Characters of a tool's result; hosts cut off longer ones."""
MAX_PART_LENGTH = MAX_RESULT_LENGTH - 200
"""The rest is for the line that says which part it is."""
_BORDERS = ("\n## ", "\n\n", "\n", " ")


def text_parts(text: str, limit: int = MAX_PART_LENGTH) -> tuple[str, ...]:
    """The text in parts of at most `limit` characters; joined they are the text."""
    parts = []
    while len(text) > limit:
        end = _border(text, limit)
        parts.append(text[:end])
        text = text[end:]
    return (*parts, text)


def _border(text: str, limit: int) -> int:
    """Where to cut: before a section, after a paragraph, a line or a word."""
    least = limit // 2
    for sign in _BORDERS:
        at = text.rfind(sign, least, limit - len(sign))
        if at > 0:
            # A section begins its part; white space ends one.
            return at + 1 if sign.startswith("\n#") else at + len(sign)
    return limit
