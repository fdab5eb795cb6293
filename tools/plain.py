"""Text as it can be stored: a stand-in for what PostgreSQL cannot hold."""

_STAND_IN = "\ufffd"


def plain_text(text: str) -> str:
    """The text with a stand-in, one for one, for what PostgreSQL cannot hold as text.

    That is NUL, and halves of surrogate pairs, which have no UTF-8.
    """
    text = text.replace("\x00", _STAND_IN)
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
