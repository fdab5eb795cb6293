"""Name a passage by its document's title and its headings."""


def title_with_headings(title: str, heading: str) -> str:
    """Return the title with the headings after it; a title that the headings repeat counts once."""
    below = headings_below_title(title, heading)
    return f"{title} > {below}" if below else title


def headings_below_title(title: str, heading: str) -> str:
    """Return the headings without a first one that repeats the title; empty if none is left.

    The first heading of most documents is their title.
    """
    return "" if heading == title else heading.removeprefix(f"{title} > ")
