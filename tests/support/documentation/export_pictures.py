"""Make the pictures of exports in docs/records.md, from a bundle that a test replays.

Run `python -m tests.support.documentation.export_pictures`; it needs LibreOffice and pdftoppm.
"""

import json
import subprocess
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.models.evidence.evidence import Report
from holdfast.reports.exports.report_files import report_file
from holdfast.reports.report_format import ReportFormat

_ROOT = Path(__file__).parents[3]
_BUNDLE = _ROOT / "tests" / "replay" / "bundles" / "vmao.crate.zip"
_FOLDER = _ROOT / "docs" / "pictures"
_WITH_COMMENTS = "pdf:writer_pdf_Export:" + json.dumps(
    {"ExportNotes": {"type": "boolean", "value": "true"}}
)
"""A sign stands where a comment is; LibreOffice did not print comments in the margin here."""
_DOTS_PER_INCH = "80"


def main() -> None:
    """Write the first page of the report as Word shows it and as a PDF viewer does."""
    with zipfile.ZipFile(_BUNDLE) as archive:
        row = json.loads(archive.read("data/reports.jsonl").splitlines()[0])
    report = Report.model_validate(row["body"])
    with TemporaryDirectory() as name:
        folder = Path(name)
        word, pdf = folder / "word.docx", folder / "report.pdf"
        word.write_bytes(report_file(report, {}, ReportFormat.DOCX))
        pdf.write_bytes(report_file(report, {}, ReportFormat.PDF))
        profile = f"-env:UserInstallation={(folder / 'office').as_uri()}"
        run = ("soffice", profile, "--headless", "--convert-to", _WITH_COMMENTS)
        subprocess.run((*run, "--outdir", str(folder), str(word)), check=True)
        _picture(folder / "word.pdf", "export-word")
        _picture(pdf, "export-pdf")


def _picture(pdf: Path, name: str) -> None:
    size = ("-r", _DOTS_PER_INCH, "-png", "-singlefile")
    subprocess.run(("pdftoppm", *size, str(pdf), str(_FOLDER / name)), check=True)


if __name__ == "__main__":
    main()
