"""Say how a page shows a text, so that a form which comes back can be compared with it."""

from holdfast.models.text.terminal_text import single_line


def shown_text(text: str) -> str:
    """The text with its lines and tabs, without other signs that steer or turn the direction."""
    if text.isascii() and text.isprintable():
        return text
    return "\n".join("\t".join(map(single_line, each.split("\t"))) for each in text.split("\n"))


def with_kept_lines(written: str, stored: str) -> str:
    """The text that a person wrote; each line that is as it was shown is as it is stored."""
    lines = {shown_text(each): each for each in reversed(stored.split("\n"))}
    return "\n".join(lines.get(each, each) for each in written.split("\n"))
