"""Tests that the built-in model reads a value out of the one sentence that states it."""

import pytest

from holdfast.roles.extractive.questions.question_analysis import QuestionShape, parse_question
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.tasks.extractor import Fragment
from tests.roles.extractive.extractive_samples import GARDEN, LEASE, extracted_entity

CLEANING = Fragment(
    title="Cleaning agreement with Brook & Sons",
    text="Agreement no. W-2021-07, signed on 4 May 2021 by Ada Marsh.\n"
    "1. **Fee.** £310 per visit and floor.\n"
    "2. **Damage.** For each broken window Brook & Sons pays £80, at most £900 a year.\n"
    "3. **Places.** Brook & Sons has 14 locked tool places in the cellar.\n"
    "4. **Change.** The yearly price rises by £1,200, to £19,400, from 1 March 2023.\n"
    "5. The agreement may be ended with six weeks' notice.",
)
FIRE = Fragment(
    title="Report on the fire in the boiler room",
    text="Date: 9 June 2022. Reported by: Nell Ogden, caretaker. The pump of Brook & Sons failed.",
)
REVIEW = Fragment(
    title="Review of the roof inspection",
    text="The inspection of the roof took place on 8 April 2022. It has no urgent finding, two "
    "serious findings and five minor ones. Repairs cost £400; scaffolding costs £950 a week.",
)


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("pay (number): What does Brook & Sons charge per visit and floor?", "£310"),
        (
            "compensation (number): What is the most that Brook & Sons pays for damage a year?",
            "£900",
        ),
        (
            "tool places (number): How many tool places does Brook & Sons have?",
            "14 locked tool places",
        ),
        ("price (number): What is the yearly price of Brook & Sons from 1 March 2023?", "£19,400"),
        ("rise (number): How much does the yearly price of Brook & Sons rise?", "£1,200"),
        ("rise (number): What is the rise in the yearly price of Brook & Sons?", "£1,200"),
        ("notice (number): With how much notice may the agreement be ended?", "six weeks"),
        ("number (number): What is the number of the agreement with Brook & Sons?", "W-2021-07"),
        ("date: When did the fire in the boiler room happen?", "9 June 2022"),
        ("person (person): Who reported the fire in the boiler room?", "Nell Ogden"),
        (
            "serious findings (number): How many serious findings did the roof inspection have?",
            "two serious findings",
        ),
        ("cost (number): How much does scaffolding cost a week at the roof?", "£950"),
    ],
)
def test_the_sentence_that_says_what_is_asked_gives_the_value(asked: str, value: str) -> None:
    found = extracted_entity(asked, CLEANING, FIRE, REVIEW, LEASE, GARDEN)

    assert (found.value, found.confidence) == (value, 0.85)


def test_a_limit_that_the_sentence_names_is_not_another_one_next_to_it() -> None:
    visits = Fragment(
        title="Visits of Brook & Sons",
        text="The maximum fee of Brook & Sons for a visit is £900, and up to £20 for travel.",
    )
    asked = "fee (number): What is the maximum fee of Brook & Sons for a visit?"

    assert extracted_entity(asked, visits).value != "£20"


def test_two_statements_that_differ_give_no_plain_value() -> None:
    other = Fragment(
        title="Letter of Brook & Sons", text="Brook & Sons asks £330 per visit and floor."
    )
    asked = "charge (number): What does Brook & Sons charge per visit and floor?"

    assert extracted_entity(asked, CLEANING, other).confidence != 0.85


def test_a_column_is_asked_for_without_its_unit() -> None:
    costs = Fragment(
        title="costs",
        text="event: IR-07; site: Selby; cost in pounds: 20950\nevent: IR-08; site: York; cost in pounds: 80\n",
    )

    assert extracted_entity("cost (number): What did event IR-07 cost?", costs).value == "20950"


@pytest.mark.parametrize(
    ("question", "shape", "kind"),
    [
        ("When does the contract with Selby Mills end?", QuestionShape.DIRECT, ValueKind.DATE),
        ("What is the revenue in the budget for 2025?", QuestionShape.DIRECT, ValueKind.NUMBER),
        ("When was the director of Selby Mills born?", QuestionShape.CHAIN, ValueKind.DATE),
        ("What does Selby Mills pay per year?", QuestionShape.DIRECT, ValueKind.NUMBER),
    ],
)
def test_a_matter_without_a_name_is_no_link_of_a_chain(
    question: str, shape: QuestionShape, kind: ValueKind
) -> None:
    parsed = parse_question(question)

    assert (parsed.shape, parsed.kind) == (shape, kind)
