"""Write the sample reports of `docs/samples` from the recorded ones, and take their pictures.

A sample is a delivered report over `documents/`, recorded with `holdfast report JOB --format json`.
`python -m holdfast.evals.customer` renders each as today's release shows it; with `--pictures`
Chromium takes its picture as well.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from holdfast.models.evidence.evidence import Report
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown

RECORDED = Path(__file__).parent / "reports"
_ROOT = Path(__file__).resolve().parents[2]
SAMPLES, PICTURES = _ROOT / "docs" / "samples", _ROOT / "docs" / "pictures"
_ADDED_FIELDS = ("key_findings", "sources")
"""What `--format json` adds to the report."""


def recorded_reports() -> Iterator[tuple[str, Report]]:
    """Return each recorded report with its name."""
    for file in sorted(RECORDED.glob("*.json")):
        fields = json.loads(file.read_text("utf-8"))
        for name in _ADDED_FIELDS:
            fields.pop(name, None)
        yield file.stem, Report.model_validate(fields)


def write_samples(folder: Path) -> list[Path]:
    """Write each sample as Markdown, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, report in recorded_reports():
        file = folder / f"{name}.md"
        file.write_text(to_markdown(report), "utf-8")
        files.append(file)
    return files


def take_pictures(folder: Path, browser: str) -> None:
    """Take a picture of each sample's page."""
    for name, report in recorded_reports():
        with tempfile.TemporaryDirectory() as scratch:
            page = Path(scratch) / "report.html"
            page.write_text(to_html(report), "utf-8")
            picture = folder / f"sample-{name}.png"
            options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            options += [f"--user-data-dir={scratch}/profile", "--window-size=860,1500"]
            command = [browser, *options, f"--screenshot={picture}", page.as_uri()]
            subprocess.run(command, check=True, timeout=120, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m holdfast.evals.customer", description=__doc__)
    parser.add_argument("--pictures", action="store_true", help="take the pictures as well")
    parser.add_argument("--browser", default="chromium", help="the browser's command")
    chosen = parser.parse_args()
    for file in write_samples(SAMPLES):
        print(file.relative_to(_ROOT))
    if chosen.pictures:
        take_pictures(PICTURES, chosen.browser)


if __name__ == "__main__":
    main()
