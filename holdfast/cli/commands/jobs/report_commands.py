"""Implement `holdfast report`: print a report, or write it to a file or a folder."""

import json
from pathlib import Path

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.client import Holdfast
from holdfast.jobs.job_lookup import report_of
from holdfast.models.evidence.evidence import Report
from holdfast.reports.figure_export import (
    FigureImages,
    load_figure_images,
    to_standalone_html,
    write_files,
    write_report_folder,
)
from holdfast.reports.markdown_and_json_rendering import to_json, to_markdown
from holdfast.reports.report_format import ReportFormat


def report_command(job: str, form: ReportFormat, out: Path | None) -> None:
    """Print the report in the format, or write it to `out`.

    A path that ends as a file of a report does, such as `report.html`, is one file; another path is
    a folder for all formats, with the figures.
    """
    is_folder = out is not None and ReportFormat.of_file(out) is None

    async def read(holdfast: Holdfast, job_id: str) -> tuple[Report, FigureImages]:
        report = await report_of(holdfast, job_id)
        if not is_folder and form is not ReportFormat.HTML:
            return report, {}
        return report, await load_figure_images(holdfast, job_id, report, all_forms=is_folder)

    report, images = run_with_job(job, read)
    if out is None:
        _print(report, images, form)
        return
    if is_folder:
        paths = write_report_folder(out, report, images)
    else:
        paths = write_files({out: _file(report, images, form)})
    for path in paths:
        print_text(str(path))


def _print(report: Report, images: FigureImages, form: ReportFormat) -> None:
    if form is ReportFormat.JSON:
        print_json(dict(to_json(report)))
    elif form is ReportFormat.HTML:
        print_text(to_standalone_html(report, images))
    else:
        print_text(to_markdown(report))


def _file(report: Report, images: FigureImages, form: ReportFormat) -> bytes:
    if form is ReportFormat.JSON:
        return json.dumps(dict(to_json(report)), ensure_ascii=False, indent=2).encode() + b"\n"
    if form is ReportFormat.HTML:
        return to_standalone_html(report, images).encode()
    return to_markdown(report).encode()
