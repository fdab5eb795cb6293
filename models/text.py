"""Text as lists, labels and receipts hold it."""


def shortened(text: str, width: int) -> str:
    """The text, or its beginning with an ellipsis: at most `width` characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
