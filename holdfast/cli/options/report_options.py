"""Check the format of a report."""

from holdfast.models.errors import BadInput
from holdfast.reports.report_format import ReportFormat


def checked_report_format(name: str) -> ReportFormat:
    """The report format of this name.

    Raises:
        BadInput: there is no such format.
    """
    if name not in list(ReportFormat):
        raise BadInput(f"no report format {name!r}; formats: {', '.join(ReportFormat)}")
    return ReportFormat(name)
