"""The samples in the documentation are what today's release makes of the recorded reports."""

from pathlib import Path

import pytest

from holdfast.evals.customer.__main__ import PICTURES, SAMPLES, recorded_reports, write_samples


@pytest.mark.conformance("REP-06")
def test_a_finding_of_a_sample_cites_several_quotes() -> None:
    report = dict(recorded_reports())["open-risks"]

    assert max(len(finding.marks) for finding in report.findings) >= 2


def test_the_samples_are_as_this_release_shows_them(tmp_path: Path) -> None:
    files = write_samples(tmp_path)

    assert len(files) == 2
    for file in files:
        kept = SAMPLES / file.name
        assert kept.read_text("utf-8") == file.read_text("utf-8"), (
            "run `python -m holdfast.evals.customer --pictures`"
        )
        assert (PICTURES / f"sample-{file.stem}.png").is_file()
