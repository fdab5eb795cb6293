"""Check the format of a report."""

from pathlib import Path

from holdfast.models.errors import BadInput
from holdfast.reports.report_format import ReportFormat


def checked_report_format(name: str | None, out: Path | None) -> ReportFormat:
    """Return the report format of this name, or else the one that the ending of `out` chooses.

    Raises:
        BadInput: there is no such format, or name and ending choose different ones.
    """
    by_ending = ReportFormat.of_file(out)
    if name is None:
        return by_ending or ReportFormat.MARKDOWN
    if name not in list(ReportFormat):
        raise BadInput(f"no report format {name!r}; formats: {', '.join(ReportFormat)}")
    form = ReportFormat(name)
    is_list_of_references = (form, by_ending) == (ReportFormat.CSL, ReportFormat.JSON)
    if by_ending not in (None, form) and not is_list_of_references:
        raise BadInput(
            f"the format is {name}, and the file {str(out)!r} ends as {by_ending} does; "
            "leave the format out, or name another file"
        )
    return form
