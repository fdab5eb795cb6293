"""Tests that the first letter with a direction decides the direction of a text."""

import pytest

from holdfast.models.text.writing_direction import is_right_to_left


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("1862", False),
        ("The tower", False),
        ("Маяк", False),
        ("灯塔", False),
        ("المنارة", True),
        ("המגדלור", True),
        ("[17] “המגדלור", True),
        ("1862 נבנה by John", True),
        ("John נבנה", False),
        ("€ …", False),
    ],
)
def test_the_first_letter_decides(text: str, expected: bool) -> None:
    assert is_right_to_left(text) is expected
