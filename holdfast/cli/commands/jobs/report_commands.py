"""Implement `holdfast report`: print a report, or write it to a folder with its figures."""

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
    write_report_folder,
)
from holdfast.reports.markdown_and_json_rendering import to_json, to_markdown
from holdfast.reports.report_format import ReportFormat


def report_command(job: str, form: ReportFormat, folder: Path | None) -> None:
    """Print the report in the format, or write all its formats to the folder."""

    async def read(holdfast: Holdfast, job_id: str) -> tuple[Report, FigureImages]:
        report = await report_of(holdfast, job_id)
        if form is not ReportFormat.HTML and folder is None:
            return report, {}
        needs_files = folder is not None
        return report, await load_figure_images(holdfast, job_id, report, all_forms=needs_files)

    report, images = run_with_job(job, read)
    if folder is not None:
        for path in write_report_folder(folder, report, images):
            print_text(str(path))
    elif form is ReportFormat.JSON:
        print_json(dict(to_json(report)))
    elif form is ReportFormat.HTML:
        print_text(to_standalone_html(report, images))
    else:
        print_text(to_markdown(report))
