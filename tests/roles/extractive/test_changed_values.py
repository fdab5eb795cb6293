"""Tests that the built-in model tells the value before a change from the value after it."""

import pytest

from holdfast.roles.extractive.extraction.changed_values import asked_candidates
from holdfast.roles.tasks.extractor import Fragment
from tests.roles.extractive.extractive_samples import GARDEN, LEASE, extracted_entity
from tests.support.services.processor_time import processor_s

CHANGES = Fragment(
    title="Notes of the harbour office",
    text="The berth fee of the marina rose from 14 euros to 19 euros a night in spring. "
    "The regatta was postponed from 6 May 2023 to 17 June 2023 because of fog. "
    "The crane may lift 900 kilograms. "
    "The pilot service was transferred from Ada Marsh to Nell Ogden. "
    "The dredging runs from 2 July 2024 to 9 August 2024.",
)


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("fee (number): What is the berth fee of the marina a night?", "19 euros"),
        ("fee (number): What was the old berth fee of the marina a night?", "14 euros"),
        ("date: When is the regatta?", "17 June 2023"),
        ("date: From which date was the regatta postponed?", "6 May 2023"),
        ("person (person): Who is in charge of the pilot service?", "Nell Ogden"),
        ("person (person): From whom was the pilot service transferred?", "Ada Marsh"),
    ],
)
def test_a_change_gives_the_new_value_unless_the_former_one_is_asked_for(
    asked: str, value: str
) -> None:
    assert extracted_entity(asked, CHANGES, LEASE, GARDEN).value == value


def test_a_time_from_one_date_to_another_is_no_change() -> None:
    asked = "date: When does the dredging begin?"

    assert extracted_entity(asked, CHANGES).value == "2 July 2024"


GREW = "The population of Oxley grew from 4,000 in 1950 to 9,000 in 2000."
ROSE = "In 2023 the price of tiles rose from 40 pounds in 2022 to 55 pounds."
MAY = "Turnover of the forge rose in May from 60 pounds to 75 pounds."
MOVED = "Ada Marsh moved from Port Ellis to Selby Quay."
SOLD = "Ownership of the mill was transferred from Corran Holdings to Tarn Estates."
DEADLINE = "The deadline for bids was moved from 3 May 2024 to 9 June 2024."
EXTENDED = "The exhibition of clocks was extended from 5 May 2024 to 8 June 2024."
VARIES = "The temperature of the vault goes from 14 degrees to 19 degrees in a day."
TRAIN = "The train moves from Leeds to York."
CHANGED = {
    GREW: ("4,000", "9,000"),
    ROSE: ("40 pounds", "55 pounds"),
    MAY: ("60 pounds", "75 pounds"),
    MOVED: ("Port Ellis", "Selby Quay"),
    SOLD: ("Corran Holdings", "Tarn Estates"),
    DEADLINE: ("3 May 2024", "9 June 2024"),
    EXTENDED: ("5 May 2024", "8 June 2024"),
    VARIES: ("14 degrees", "19 degrees"),
    TRAIN: ("Leeds", "York"),
}


@pytest.mark.parametrize(
    ("sentence", "question", "side"),
    [
        (GREW, "What was the population of Oxley in 1950?", "former"),
        (GREW, "What was the population of Oxley in 2000?", "new"),
        (ROSE, "What was the price of tiles in 2022?", "former"),
        (ROSE, "What was the price of tiles in 2023?", "new"),
        (ROSE, "What was the price of tiles in 1999?", "either"),
        (MAY, "What was the turnover of the forge in April?", "either"),
        (MAY, "What was the turnover of the forge in May?", "new"),
        (MOVED, "Which city did Ada Marsh leave?", "former"),
        (MOVED, "What city was left by Ada Marsh?", "former"),
        (MOVED, "Where did Ada Marsh live first?", "former"),
        (MOVED, "Where does Ada Marsh live?", "new"),
        (MOVED, "Which city did Ada Marsh visit?", "either"),
        (SOLD, "Who gave up ownership of the mill?", "former"),
        (SOLD, "Who transferred ownership of the mill?", "former"),
        (SOLD, "To whom was ownership of the mill transferred?", "new"),
        (DEADLINE, "When was the deadline for bids at first?", "former"),
        (DEADLINE, "What was the deadline for bids before it was moved?", "former"),
        (DEADLINE, "When is the deadline for bids?", "new"),
        (EXTENDED, "When does the exhibition of clocks begin?", "either"),
        (EXTENDED, "Until when is the exhibition of clocks open?", "either"),
        (VARIES, "What is the lowest temperature of the vault?", "either"),
        (VARIES, "What is the temperature of the vault?", "either"),
        (TRAIN, "Where does the train start?", "either"),
    ],
)
def test_a_side_of_a_change_is_left_out_only_where_the_question_means_the_other(
    sentence: str, question: str, side: str
) -> None:
    change = CHANGED[sentence]

    told = {each.value for each in asked_candidates(sentence, question.lower())}

    kept = {"former": change[:1], "new": change[1:], "either": change}[side]
    assert told & set(change) == set(kept)


PROPOSED = "The berth fee of the marina is 5 %, and the harbour board proposes a fee of 7 %."
PROPOSED_FIRST = "The harbour board proposes a fee of 7 %; the berth fee of the marina is 5 %."
AGREED = "The berth fee of the marina was 5 %, the board proposed 7 %, and the town accepted."
OTHER_UNIT = "The marina has 90 berths, and the board proposes a fee of 7 %."


@pytest.mark.parametrize(
    ("sentence", "question", "told"),
    [
        (PROPOSED, "What is the berth fee of the marina?", {"5 %"}),
        (PROPOSED_FIRST, "What is the berth fee of the marina?", {"5 %"}),
        (PROPOSED, "Which berth fee does the board propose?", {"7 %"}),
        (PROPOSED_FIRST, "What is the proposed berth fee?", {"7 %"}),
        (AGREED, "What is the berth fee of the marina?", {"5 %", "7 %"}),
        (OTHER_UNIT, "What is the berth fee of the marina?", {"7 %"}),
    ],
)
def test_an_amount_that_is_only_proposed_is_no_answer_but_to_who_asks_for_it(
    sentence: str, question: str, told: set[str]
) -> None:
    values = {each.value for each in asked_candidates(sentence, question.lower())}

    assert {each for each in values if "%" in each} == told


@pytest.mark.conformance("SAF-01")
def test_a_line_of_thousands_of_values_is_read_in_bounded_time() -> None:
    line = "Anna Bell met Tom Reed in Paris on 4 May 2020 for 17 euros " * 400

    assert processor_s(lambda: asked_candidates(line, "what is the fee")) < 2
