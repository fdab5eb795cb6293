"""Tests for the prices in `holdfast.toml`: read, checked, and never taken for 0 when unknown."""

from decimal import Decimal
from pathlib import Path

import pytest

from holdfast.configuration.price_settings import read_prices
from holdfast.models.budget.money_text import format_money
from holdfast.models.budget.token_prices import FREE_PRICE, Price, PriceList
from holdfast.models.errors import BadConfiguration


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "holdfast.toml"
    path.write_text(text)
    return path


def test_prices_are_read_with_their_currency_next_to_the_servers(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [servers.lab]
        url = "https://example.org/mcp"

        [prices]
        currency = "EUR"

        [prices."maker/model-4.1"]
        input = 0.15
        output = 0.60
        cached = 0.075

        [prices.other]
        input = 1
        output = 2
        """,
    )

    found = read_prices(path)

    assert found.currency == "EUR"
    assert found.of("maker/model-4.1") == Price(
        input=Decimal("0.15"), output=Decimal("0.60"), cached=Decimal("0.075")
    )
    assert found.of("other") == Price(input=Decimal(1), output=Decimal(2))
    assert found.of("unheard-of") is None


def test_without_a_file_nothing_but_the_built_in_model_has_a_price(tmp_path: Path) -> None:
    for found in (read_prices(None), read_prices(tmp_path / "no.toml"), PriceList()):
        assert (found.currency, found.of("m"), found.of("extractive")) == ("USD", None, FREE_PRICE)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prices = 3", r"'prices' must be tables"),
        ("[prices]\nm = 3", r"prices.'m' must be a table"),
        ("[prices.gpt-4.1]\ninput = 1\noutput = 2", "put a name with dots in quotes"),
        ("[prices.m]\ninput = 1", "has no 'output' price"),
        ("[prices.m]\ninput = -1\noutput = 2", "prices.'m'.input: .*greater than or equal to 0"),
        ("[prices.m]\ninput = nan\noutput = 2", "prices.'m'.input: .*finite"),
        ('[prices.m]\ninput = "dear"\noutput = 2', "prices.'m'.input: "),
        ("[prices.m]\ninput = 1\noutput = 2\nper = 3", "per is not a known key"),
        ("[prices]\ncurrency = 7", "prices.currency must be a name"),
        ('currency = "EUR"', r"write 'currency' below \[prices\]"),
        ("[price.m]\ninput = 1\noutput = 2", "unknown table 'price'"),
        ("[prices", "is not valid TOML"),
    ],
)
def test_a_mistake_is_refused_with_its_place_and_the_way_out(
    tmp_path: Path, text: str, says: str
) -> None:
    path = written(tmp_path, text)

    with pytest.raises(BadConfiguration, match=says) as refused:
        read_prices(path)

    assert str(path) in str(refused.value)


@pytest.mark.conformance("MOD-05")
def test_input_that_was_read_before_costs_its_own_price_where_there_is_one() -> None:
    plain = Price(input=Decimal(2), output=Decimal(10))
    cheaper = plain.model_copy(update={"cached": Decimal("0.5")})
    tokens = {"input_tokens": 1_000_000, "output_tokens": 100_000, "cached_tokens": 400_000}

    assert plain.of(**tokens) == Decimal(3)
    assert cheaper.of(**tokens) == Decimal("2.4")


def test_what_is_unknown_is_printed_as_unknown_and_not_as_nothing() -> None:
    amounts = (None, 0, Decimal("0.00012"), Decimal("0.00000001"), 1234.5)
    rounded = (0.0123456, 0.125, 0.5, 0.9996, Decimal("0.0000012"))

    assert [format_money(each, "EUR") for each in amounts] == [
        "unknown",
        "0.00 EUR",
        "0.00012 EUR",
        "under 0.000001 EUR",
        "1,234.50 EUR",
    ]
    assert [format_money(each, "EUR") for each in rounded] == [
        "0.0123 EUR",
        "0.125 EUR",
        "0.50 EUR",
        "1.00 EUR",
        "0.000001 EUR",
    ]
