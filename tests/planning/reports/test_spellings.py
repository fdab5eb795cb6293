"""Tests of numbers and names in other spellings: the same ones are known, similar ones are not."""

import pytest

from holdfast.planning.reports.name_forms import KnownNames
from holdfast.planning.reports.number_spellings import (
    computed_numbers,
    derived_numbers,
    months_in,
    numbers_in,
    unknown_numbers,
    unshown_signs,
)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("its 7th lake", "the seventh largest lake"),
        ("59 districts", "one of the fifty-nine districts"),
        ("21 of them", "the twenty-first of them"),
        ("31 000 km", "31,000 square kilometres"),
        ("31,000 km", "31 000 square kilometres"),
        ("3 million people", "3,000,000 people"),
        ("2,500,000 people", "2.5 million people"),
        ("12 eggs", "a dozen eggs"),
    ],
)
def test_a_number_in_another_spelling_is_known(said: str, text: str) -> None:
    assert unknown_numbers(said, numbers_in(text)) == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("in 1921", "in 1911"),
        ("the 8th", "the seventh"),
        ("58 districts", "fifty-nine districts"),
        ("31 500 km", "31,000 km"),
        ("3 million", "3 thousand and 30 million"),
    ],
)
def test_another_number_is_unknown(said: str, text: str) -> None:
    known = numbers_in(text) - {"3"}  # the `3` of "3 thousand" stands there

    assert unknown_numbers(said, known)


def test_plain_arithmetic_over_the_quotes_is_shown() -> None:
    assert "67" in derived_numbers(["750, down from 817"])
    assert "79" in derived_numbers(["October 14, 1844 - May 4, 1924"]), "before the birthday"
    assert "68" not in derived_numbers(["750, down from 817"])


@pytest.mark.parametrize(
    ("quotes", "shown"),
    [
        (["It opened on 4 March 1998.", "It had 12 employees in 2003."], {"5", "4"}),
        (["It opened on March 4th, 1998, or 1998-03-04, or 4/3/1998, with 12 rooms."], set()),
        (["one of the 750 members"], set()),
        (["21 of the 750 members, and twenty-one more"], {"771", "729"}),
        (["$1200 of 1,500 dollars"], {"2700", "300"}),
        (["In 1983, one year after the war."], {"1982", "1984"}),
        (["It was 150 years old in 2007."], {"1857", "2157"}),
        (["In 2007, twenty-one years on, and 7 days."], {"28", "14", "1986", "2028"}),
        (["It was opened in 1983, one year after the Falklands War"], {"1982", "1984"}),
        (["It was 150 years old.", "It closed in 2007."], set()),
        (["It was 150 years old. It closed in 2007."], set()),
        (["It took 1.5 years from 2007."], set()),
        (["It is 1,000 years old in 2007."], set()),
        (
            ["It is two hundred and fifty years old in 2007."],
            {"52", "48", "150", "50", "102", "98"},
        ),
        ([f"It is {'9' * 4400} years old in 2007."], set()),
    ],
)
def test_dates_and_the_word_one_are_no_amounts(quotes: list[str], shown: set[str]) -> None:
    assert derived_numbers(quotes) == frozenset(shown)


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("on 2019-03-04", {"march"}),
        ("12/03/1990", {"march", "december"}),
        ("25.12.1990", {"december"}),
        ("2019-13-04, version 1.2.1990-3", set()),
    ],
)
def test_a_date_in_digits_names_its_month(text: str, months: set[str]) -> None:
    assert months_in(text) == months


@pytest.mark.parametrize(
    ("said", "text", "unshown"),
    [
        ("It rose by 12%.", "It rose by 12.", ["12%"]),
        ("It rose by 12 percent.", "It rose by 12 per cent.", []),
        ("It was -5 degrees.", "It was 5 degrees in the mid-19th century.", ["-5"]),
        ("It was -5 degrees.", "It was 5 degrees below zero.", []),
        ("From 3-5 pages, on 2019-03-04.", "3 to 5 pages", []),
        ("It was -5 degrees.", "It was −5 degrees.", []),
    ],
)
def test_a_percentage_or_a_minus_is_shown_by_some_such_sign(
    said: str, text: str, unshown: list[str]
) -> None:
    assert unshown_signs(said, [text]) == unshown


def test_many_numbers_derive_none() -> None:
    assert derived_numbers([" ".join(map(str, range(100, 120)))]) == frozenset()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Québec", "in Quebec"),
        ("Napoleon", "when Napoléon seized power"),
        ("ASEE", "the American Society for Engineering Education"),
        ("UK", "in the United Kingdom"),
        ("USA", "a citizen of the United States"),
        ("SC", "in Columbia, South Carolina"),
        ("Brazilian", "a player from Brazil"),
        ("Dutchman", "a Dutch physician"),
        ("Britain", "the British Empire"),
        ("Ottomans", "the Ottoman Empire"),
        ("Austria-Hungary", "the Austro-Hungarian Empire"),
        ("France", "a French city"),
        ("First", "World War I"),
        ("II", "the Second World War"),
    ],
)
def test_a_name_in_another_form_is_known(name: str, text: str) -> None:
    assert KnownNames([text]).has(name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Austria", "in Australia"),
        ("Slovakia", "in Slovenia"),
        ("Johnson", "Mr Johnston"),
        ("Colombia", "in Columbia"),
        ("Roberts", "Robert"),
        ("NATO", "the National Health Service"),
        ("Second", "World War I"),
        ("Mali", "in Malta"),
        ("Niger", "in Nigeria"),
    ],
)
def test_a_similar_name_is_unknown(name: str, text: str) -> None:
    assert not KnownNames([text]).has(name)


def test_a_sentence_may_compute_from_several_numbers_that_it_names() -> None:
    shown = numbers_in("£187,600 as claimed; £162,600 paid; £1,500 credited on 14 February 2025")

    said = "£187,600 less £162,600 and £1,500 leave £23,500 for the loss of 14 February 2025."
    assert unknown_numbers(said, shown | computed_numbers(said, shown)) == []
    for wrong in (
        said.replace("23,500", "23,600"),
        said.replace("23,500", "23,486"),  # less the day
        "£23,500 are left of £187,600 after the credit of £1,500.",
        "£187,600 less £162,600 and £1,500 is £26,500.",
    ):
        assert unknown_numbers(wrong, shown | computed_numbers(wrong, shown)), wrong
