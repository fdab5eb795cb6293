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
