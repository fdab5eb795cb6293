"""Tests that the built-in model reads clauses, prices, terms and table cells of a customer's documents."""

import pytest

from holdfast.roles.extractive.planning.planner_rules import answer_entity
from holdfast.roles.extractive.questions.question_analysis import parse_question
from holdfast.roles.tasks.extractor import Fragment
from tests.roles.extractive.extractive_samples import GARDEN, LEASE, extracted_entity

SITES = Fragment(
    title="sites",
    text="site: Ashby Quay; opened: 2014; pallet places: 18400; site manager: Dev Lindqvist\n"
    "site: Corran; opened: 2022; pallet places: 6500; site manager: Alison Ferrier\n",
)
SUPPLIERS = Fragment(
    title="Suppliers, state of 1 September 2025",
    text="| supplier | for | cost a year | contract ends |\n|---|---|---|---|\n"
    "| Pell Energy | electricity | about £2.9 million | 31 March 2027 |\n"
    "| Lattice Software | warehouse system | £64,000 | 28 February 2026 |\n",
)
SUPPLY = Fragment(
    title="Electricity supply contract with Pell Energy",
    text="- The contract of Pell Energy begins on 1 April 2024 and ends on 31 March 2027.\n"
    "- For each request in 24 hours that Tarnbrook follows Pell Energy pays £900.\n",
)
ROW = "site: Corran; opened: 2022; pallet places: 6500; site manager: Alison Ferrier"


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("pallet places (number): How many pallet places does Corran have?", "6500"),
        ("date: When was the site at Corran opened?", "2022"),
        ("site manager (person): Who is the site manager of Corran?", "Alison Ferrier"),
        ("date: When does the contract with Lattice Software end?", "28 February 2026"),
        ("cost (number): What is the cost of Lattice Software a year?", "£64,000"),
    ],
)
def test_a_cell_is_read_where_its_row_and_its_column_are_asked_for(asked: str, value: str) -> None:
    found = extracted_entity(asked, SITES, SUPPLIERS, LEASE)

    assert found.value == value
    assert (found.confidence or 0) >= 0.9


KEEPERS = Fragment(
    title="lighthouses",
    text="lighthouse: Farne Point; lighthouse keeper: Idris Holt; keeper since: 12 March 2011\n"
    "lighthouse: Gull Rock; lighthouse keeper: Marta Quill; keeper since: 3 June 2018\n",
)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Who is the keeper of Gull Rock?", "Marta Quill"),
        ("Since when has Idris Holt been keeper?", "12 March 2011"),
        ("Since when has Gull Rock had its keeper?", "3 June 2018"),
        ("At which lighthouse is Marta Quill keeper?", "Gull Rock"),
    ],
)
def test_a_row_is_named_by_a_person_and_its_column_may_name_what_the_rows_are(
    question: str, value: str
) -> None:
    found = extracted_entity(_described(question), KEEPERS, GARDEN)

    assert (found.value, found.confidence) == (value, 0.9)


STAFF = Fragment(
    title="staff",
    text="name: Nell Ogden; manager: Ada Marsh; phone: 4412; start date: 3 May 2011\n"
    "name: Idris Holt; manager: Nell Ogden; phone: 4411; start date: 9 June 2015\n",
)
PROJECTS = Fragment(
    title="projects",
    text="project: Tidewall; project lead: Nell Ogden; project sponsor: Ada Marsh\n"
    "project: Lanternway; project lead: Idris Holt; project sponsor: Nell Ogden\n",
)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the phone number of Nell Ogden?", "4412"),
        ("When did Nell Ogden start?", "3 May 2011"),
        ("Which project does Nell Ogden lead?", "Tidewall"),
        ("Which project does Nell Ogden sponsor?", "Lanternway"),
    ],
)
def test_a_person_names_a_row_only_as_what_the_question_says(question: str, value: str) -> None:
    found = extracted_entity(_described(question), STAFF, PROJECTS)

    assert (found.value, found.confidence) == (value, 0.9)


@pytest.mark.parametrize(
    "question", ["In which town was Marta Quill born?", "When was the keeper Idris Holt born?"]
)
def test_a_row_does_not_answer_what_it_does_not_say_of_a_person(question: str) -> None:
    sites = Fragment(
        title="sites",
        text="site: Corran; town: Port Ellis; site manager: Marta Quill\n"
        "site: Ashby Quay; town: Selby; site manager: Alison Ferrier\n",
    )

    assert (extracted_entity(_described(question), sites, KEEPERS).confidence or 0) < 0.9


def _described(question: str) -> str:
    """The description that the planner writes for what the question asks."""
    return answer_entity(parse_question(question)).description


def test_the_quote_of_a_cell_is_its_row() -> None:
    asked = "pallet places (number): How many pallet places does Corran have?"

    assert extracted_entity(asked, SITES).quote == ROW


def test_rows_that_differ_in_the_cell_that_is_asked_for_give_no_cell() -> None:
    other = Fragment(title="plans", text=ROW.replace("6500", "7000") + "\n")
    asked = "pallet places (number): How many pallet places does Corran have?"

    assert (extracted_entity(asked, SITES, other).confidence or 0) < 0.9


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("date: When did the contract of Pell Energy begin?", "1 April 2024"),
        ("date: When does the contract of Pell Energy end?", "31 March 2027"),
        ("pays (number): How much does Pell Energy pay for each request?", "£900"),
    ],
)
def test_the_begin_the_end_and_the_price_of_a_contract_are_told_apart(
    asked: str, value: str
) -> None:
    assert extracted_entity(asked, SUPPLY, GARDEN).value == value


def test_a_title_that_describes_its_document_is_no_answer() -> None:
    asked = "company: Which company does Gareth Pell represent?"
    signed = Fragment(
        title="Electricity supply contract with Pell Energy",
        text="The supply contract was signed by Priya Raman and, for Pell Energy, Gareth Pell.",
    )

    assert extracted_entity(asked, signed).value == "Pell Energy"
