"""Tests for the tables `[calibration.MODEL]` of `holdfast.toml`."""

from pathlib import Path

import pytest

from holdfast.configuration.calibration_settings import read_calibrations
from holdfast.models.errors import BadConfiguration
from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.planning.reports.answer_calibration import built_in_calibration

pytestmark = pytest.mark.conformance("EVA-01")


def test_without_a_file_there_is_the_built_in_calibration(tmp_path: Path) -> None:
    assert read_calibrations(None) == built_in_calibration()
    assert read_calibrations(tmp_path / "none.toml") == built_in_calibration()


def test_a_table_replaces_the_one_of_its_model(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text("[calibration.extractive]\nany = 0.1\n")

    assert read_calibrations(file) == {"extractive": {AnswerRoute.ANY: 0.1}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("calibration = 3", "must be tables"),
        ("[calibration]\nlocal = 3", "must be a table"),
        ("[calibration.local]\ndirekt = 0.3", "did you mean 'direct'"),
        ("[calibration.local]\ndirect = 1.3", "direct = 0.6"),
        ('[calibration.local]\ndirect = "high"', "share of right answers"),
    ],
)
def test_a_wrong_table_is_refused_with_the_right_form(
    content: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text(content)

    with pytest.raises(BadConfiguration, match=message):
        read_calibrations(file)
