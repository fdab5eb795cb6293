"""Render a report as a self-contained HTML page from the template `report.html.jinja`."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.models.calls.tool_figures import ReportFigure
from holdfast.models.evidence.evidence import Report
from holdfast.models.text.terminal_text import single_line
from holdfast.reports.report_parts import TEXT_FUNCTIONS, report_parts
from holdfast.reports.report_text import FigureAddress

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATE = "report.html.jinja"
_MORE_TEMPLATES = (Path(__file__).parents[1] / "bundles",)
"""Folders with templates that extend the report's."""


def _no_address(_: ReportFigure) -> None:
    return None


def to_html(report: Report, address: FigureAddress = _no_address) -> str:
    """Return the report as one page without scripts and without references to other files.

    A figure without an address is named, and its image is left out.
    """
    template = report_templates().get_template(_TEMPLATE)
    page: str = template.render(address=address, **report_parts(report))
    return page


def _without_control_signs(value: object) -> object:
    """Return a text without signs that turn the direction of writing; markup is ours."""
    return single_line(value) if type(value) is str else value


@cache
def report_templates() -> "Environment":
    """Return the environment of the templates of reports, which escapes everything."""
    # Only the HTML report needs Jinja2, whose import takes longer than that of this package.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([Path(__file__).parent, *_MORE_TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_without_control_signs,
    )
    environment.globals.update(TEXT_FUNCTIONS)
    return environment
