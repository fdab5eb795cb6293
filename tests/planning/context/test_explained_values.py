"""Tests of what a deduction is shown: its inputs, and the results that no input is already."""

from holdfast.models.plans.research_plan import Task, TaskInput, TaskKind
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.tasks.named_value import NamedValue
from holdfast.planning.context.explained_values import explained_context

KNOWN = {
    "T1": {
        "year": EntityValue(name="year", description="the year of the opening", confidence=0.8),
        "place": EntityValue(name="place"),
    }
}
CONTEXT = (NamedValue(name="T1.year", value="1932"), NamedValue(name="T1.place", value="Selby"))


def shown(*written: str) -> list[str]:
    inputs = tuple(TaskInput(name=f"value_{n}", value=each) for n, each in enumerate(written))
    task = Task(id="T2", kind=TaskKind.REASONING, description="Conclude", inputs=inputs)
    return [each.name for each in explained_context(task, CONTEXT, KNOWN)]


def test_a_result_that_is_a_whole_input_is_not_shown_twice() -> None:
    assert shown("<JSON_PATH>T1.year</JSON_PATH>") == ["T1.place"]


def test_a_result_that_only_its_name_explains_is_shown_all_the_same() -> None:
    both = ("<JSON_PATH>T1.year</JSON_PATH>", "<JSON_PATH>T1.place</JSON_PATH>")

    assert shown(*both) == ["T1.place"]


def test_a_result_of_which_an_input_has_a_part_is_shown_whole() -> None:
    written = ("opened in <JSON_PATH>T1.year</JSON_PATH>", "<JSON_PATH>T1.place[0]</JSON_PATH>")

    assert shown(*written) == ["T1.year", "T1.place"]


def test_a_result_is_shown_with_what_it_is_and_how_sure_it_is() -> None:
    task = Task(id="T2", kind=TaskKind.REASONING, description="Conclude")

    year = explained_context(task, CONTEXT, KNOWN)[0]

    assert (year.description, year.confidence) == ("the year of the opening", 0.8)
