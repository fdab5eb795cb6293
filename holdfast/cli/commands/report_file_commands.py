"""Implement `holdfast report` in the formats of other programs."""

from pathlib import Path

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.terminal_output import print_text
from holdfast.client import Holdfast
from holdfast.jobs.job_lookup import report_of
from holdfast.models.evidence.evidence import Report
from holdfast.reports.exports.obsidian_vault import obsidian_notes
from holdfast.reports.exports.report_files import report_file
from holdfast.reports.figure_export import FigureImages, load_figure_images, write_files
from holdfast.reports.report_format import ReportFormat


def report_file_command(job: str, form: ReportFormat, out: Path | None) -> None:
    """Write the file, or print it if it is a text and no file is named.

    Notes for Obsidian are a folder, unless the path ends as their archive does.
    """

    async def read(holdfast: Holdfast, job_id: str) -> tuple[Report, FigureImages]:
        report = await report_of(holdfast, job_id)
        return report, await load_figure_images(holdfast, job_id, report, all_forms=True)

    report, images = run_with_job(job, read)
    if form is ReportFormat.OBSIDIAN and ReportFormat.of_file(out) is not form:
        folder = out or Path(report.job_id)
        notes = obsidian_notes(report, images)
        files = {folder / path: content for path, content in notes.items()}
    elif out is None and form.is_text:
        print_text(report_file(report, images, form).decode())
        return
    else:
        path = out or Path(f"{report.job_id}{form.ending}")
        files = {path: report_file(report, images, form)}
    for path in write_files(files):
        print_text(str(path))
