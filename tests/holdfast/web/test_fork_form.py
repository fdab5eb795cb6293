"""Tests that the form of a fork changes what the request of the API changes."""

import pytest

from holdfast.models.errors import BadInput
from holdfast.records.fork_submission import ForkSubmission
from holdfast.web.rendering.fork_form import ForkForm


def test_a_filled_form_changes_what_the_request_of_the_api_changes() -> None:
    form = ForkForm(
        task=("T1 T2", "T2"), model=" gpt-5 ", preset="loop",
        settings="max_tokens = 90000\r\n\r\nmax_depth=2", retract="17, 23 17", plan="a: 1\r\nb: 2\r\n",
    )  # fmt: skip

    assert form.submission("a: 1\n") == ForkSubmission(
        tasks=("T1", "T2"), model="gpt-5", preset="loop",
        settings={"max_tokens": "90000", "max_depth": "2"}, retract=(17, 23), plan="a: 1\nb: 2",
    )  # fmt: skip
    assert form.submission("a: 1\nb: 2\n").plan is None
    assert ForkForm().submission("a: 1") == ForkSubmission()


def test_signs_that_a_page_does_not_show_make_no_edit_of_a_plan() -> None:
    stored = "a: soft\u00adly\nb: soft\u00adly, too\nc: zero\u200bwidth\nd: zerowidth\n"
    shown = "a: softly\r\nb: softly, too\r\nc: zerowidth\r\nd: zerowidth\r\n"
    edited = ForkForm(plan=shown.replace("too", "as well"))

    assert ForkForm(plan=shown).submission(stored) == ForkSubmission()
    assert ForkForm(plan=shown).changes_in_words(stored) == ()
    assert ForkForm(plan=stored).submission(stored) == ForkSubmission()
    assert edited.edited_plan(stored) == (
        "a: soft\u00adly\nb: softly, as well\nc: zero\u200bwidth\nd: zerowidth"
    )


@pytest.mark.parametrize(
    ("form", "fault"),
    [
        (ForkForm(settings="max_tokens"), "NAME=VALUE, not 'max_tokens'"),
        (ForkForm(settings=" = 5"), "NAME=VALUE"),
        (ForkForm(retract="17 x"), "quote 'x' is no number"),
        (ForkForm(retract="٣"), "is no number"),
        (ForkForm(retract="9" * 5_000), "is no number"),
        (ForkForm(retract="0"), "retract: .*greater than or equal to 1"),
        (ForkForm(task=(" ".join(f"T{n}" for n in range(201)),)), "tasks: .*at most 200"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(form: ForkForm, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        form.submission("")
