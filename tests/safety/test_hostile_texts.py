"""Tests that no text of a model, a plan or a page occupies the event loop.

Each text grows a cost that was quadratic, cubic or exponential in an earlier version.
"""

from collections.abc import Callable

import pytest
from pydantic import JsonValue

from holdfast.models.errors import BadInput, Unresolved
from holdfast.models.text.reference_marks import (
    disarm_references,
    foreign_marks,
    has_reference,
    referenced_paths,
    replace_references,
    restore_references,
    whole_reference,
)
from holdfast.planning.plans.entity_references import (
    parse_reference,
    references_in,
    resolve_references,
)
from holdfast.planning.plans.plan_edits import parse_plan
from holdfast.web.rendering.plan_fault_places import place_faults
from holdfast.web.rendering.plan_form import TaskFields
from tests.support.services.processor_time import processor_s

LONGEST_STALL_S = 0.5
MANY = 100_000

MARKS = {
    "an opening and blanks": "<JSON_PATH>" + " " * MANY,
    "openings": "<JSON_PATH>" * (MANY // 11),
    "closings": "</JSON_PATH>" * (MANY // 12),
    "openings and blanks": ("<JSON_PATH>" + " " * 1000) * (MANY // 1000),
    "a name and blanks": "JSON_PATH <" + " " * MANY,
    "brackets and blanks": ("<" + " " * 1000) * (MANY // 1000),
    "disarmed brackets and blanks": "JSON_PATH ‹" + " " * MANY,
    "brackets": "<" * MANY + "JSON_PATH",
    "slashes": "<JSON_PATH>" + "</" * MANY,
    "braces": "{" * MANY + "T1.a",
    "braces and blanks": ("{{" + " " * 1000) * (MANY // 1000),
    "dollars": "$T1" * (MANY // 3),
    "an open path of many names": "<T1" + ".a" * MANY,
    "open paths": "<T1.a" * (MANY // 5),
    "an open path and blanks": "{{T1." + "a" * MANY + " " * MANY,
    "a long path": "<JSON_PATH>T1." + "x" * MANY + "</JSON_PATH>",
}
READERS: dict[str, Callable[[str], object]] = {
    "referenced_paths": referenced_paths,
    "whole_reference": whole_reference,
    "replace_references": lambda text: replace_references(text, str.upper),
    "disarm_references": disarm_references,
    "restore_references": restore_references,
    "has_reference": has_reference,
    "foreign_marks": lambda text: list(foreign_marks(text)),
    "references_in": lambda text: list(references_in(text)),
}


@pytest.mark.conformance("SAF-01")
@pytest.mark.parametrize("text", MARKS.values(), ids=MARKS)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.slow
def test_marks_are_read_in_bounded_time(read: Callable[[str], object], text: str) -> None:
    assert processor_s(lambda: read(text), Unresolved) < LONGEST_STALL_S


def nested(depth: int) -> JsonValue:
    return [nested(depth - 1)] if depth else 1


PATHS = [
    "T1.x" + "..[*]" * 7,
    "T1.x..*",
    "T1.x" + "[*,*]" * 30,
    "T1.x[?@.a==1e999]",
    "T1.x[?@[?@[?@[?@.a]]]]",
    "T1.x[?$.T1.x[?$.T1.x[?$.T1.x]]]",
    "T1.x[?match(@, '(a+)+$')]",
    "T1.x [*]",
    "T1.x[" * 90,
    "T1.x" + "[0]" * 160,
    "T1.x" + "[*]" * 160,
    "T1." + "x" * MANY,
    "T1.x[99999999999999999999999]",
    "T1.x[::0]",
    "(" * 400,
    "$" * 400,
    "T1.x['\\u0000']",
    "",
    "\x00",
]


@pytest.mark.conformance("SAF-01")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:30])
@pytest.mark.slow
def test_a_reference_is_resolved_or_refused_in_bounded_time(path: str) -> None:
    memory: dict[str, dict[str, JsonValue]] = {"T1": {"x": nested(30), "y": list(range(1000))}}

    def resolve() -> object:
        parse_reference(path)
        return resolve_references(f"<JSON_PATH>{path}</JSON_PATH>", memory)

    assert processor_s(resolve, Unresolved) < LONGEST_STALL_S


@pytest.mark.parametrize("path", ["T1.y..*", "T1.y[0,1]", "T1.y[?@ > 1]", "T1." + "y" * 500])
def test_a_path_that_may_take_long_is_refused_by_name(path: str) -> None:
    with pytest.raises(Unresolved, match=r"several selectors|the limit is 500"):
        parse_reference(path)


def test_a_blank_before_the_array_sign_changes_nothing() -> None:
    memory: dict[str, dict[str, JsonValue]] = {"T1": {"y": [1, 2]}}

    assert resolve_references("<JSON_PATH>T1.y [*]</JSON_PATH>", memory) == [1, 2]


PLANS = {
    "aliases": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)
    ),
    "brackets": "[" * 5000,
    "braces": "{" * 5000,
    "a tag": "- !!python/object/apply:os.system [true]",
    "digits": "- task_id: " + "9" * 10_000,
    "too long": "- x\n" * MANY,
    "not a plan": "x: " + "a " * 40_000,
}


@pytest.mark.conformance("SAF-01")
@pytest.mark.parametrize("text", PLANS.values(), ids=PLANS)
@pytest.mark.slow
def test_an_edited_plan_is_read_or_refused_in_bounded_time(text: str) -> None:
    def read() -> object:
        with pytest.raises(BadInput):
            return parse_plan(text)

    assert processor_s(read) < 2 * LONGEST_STALL_S  # it is read in a thread


QUOTED = {
    "openings of faults": '; task "' * (MANY // 8),
    "faults of one task": "; task 'T1': parameter x" * (MANY // 24),
    "faults of no task": "; task 'T2': " * (MANY // 13),
    "a tool without an end": "; task 'T1': " + "tool '" * (MANY // 6),
}


@pytest.mark.conformance("SAF-01")
@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_faults_that_quote_their_sender_are_placed_in_bounded_time(text: str) -> None:
    tasks = [TaskFields(id="T1")]

    assert processor_s(lambda: place_faults(f"task 'T1': {text}", tasks)) < LONGEST_STALL_S
