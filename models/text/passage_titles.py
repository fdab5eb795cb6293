"""Name a passage by its document's title and its headings."""


def title_with_headings(title: str, heading: str) -> str:
    """Return the title with the headings after it; a title that the headings repeat counts once.

    The first heading of most documents is their title.
    """
    if not heading or heading == title:
        return title
    return f"{title} > {heading.removeprefix(f'{title} > ')}"
