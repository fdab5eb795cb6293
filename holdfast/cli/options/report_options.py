"""Check the format of a report."""

from holdfast.models.errors import BadInput

_FORMATS = ("md", "json", "html", "docx", "pdf", "csl", "ris", "bibtex", "obsidian")


def checked_report_format(name: str) -> str:
    """The name of a report format.

    Raises:
        BadInput: there is no such format.
    """
    if name not in _FORMATS:
        raise BadInput(f"no report format {name!r}; formats: {', '.join(_FORMATS)}")
    return name
