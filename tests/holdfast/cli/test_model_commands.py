"""Tests for `holdfast models`: what is configured, and what each model can do when it is asked."""

import json
from pathlib import Path

import pytest

from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.services.command_shell import CommandShell, command_shell

pytestmark = pytest.mark.slow

TABLES = """
[models.big]
id = "maker/big-5"
url = "{url}"
key_env = "BIG_KEY"
temperature = 0.2
price = {{ input = 2, output = 8 }}

[models.keyless]
url = "{url}"
key_env = "MISSING_KEY"

[roles]
planner = "big"

[presets.vmao.roles]
verifier = "big"
"""
STRICT = '{"colour": "red"}'
LOOSE = '{"greeting": "hello"}'


def configured(here: CommandShell, url: str) -> Path:
    path = here.folder / "holdfast.toml"
    path.write_text(TABLES.format(url=url))
    return path


def strict_endpoint(asked: ReceivedRequest) -> ScriptedReply:
    if asked.rung == "tools":
        usage = {"prompt_tokens": 50, "completion_tokens": 12}
        return ScriptedReply(
            content=None, calls=(("choose_colour", {"colour": "red"}),), usage=usage
        )
    return ScriptedReply(STRICT if asked.rung == "json_schema" else LOOSE)


def careless_endpoint(asked: ReceivedRequest) -> ScriptedReply:
    """Takes every way of asking, keeps to none, and counts nothing."""
    return ScriptedReply(f"Hello! {LOOSE}", usage=None)


def test_models_are_listed_with_endpoint_key_price_and_roles() -> None:
    with command_shell() as here:
        configured(here, "http://me:secret@127.0.0.1:9/v1")

        plain = here.holdfast("models", "list", BIG_KEY="big-secret")
        as_json = here.holdfast("models", "list", "--json", BIG_KEY="big-secret")

    assert plain.code == as_json.code == 1
    assert "MISSING_KEY" in plain.err
    lines = {line["name"]: line for line in json.loads(as_json.out)}
    assert set(lines) == {"extractive", "big", "keyless"}
    assert lines["extractive"]["is_default"]
    big = lines["big"]
    assert (big["id"], big["address"]) == ("maker/big-5", "http://127.0.0.1:9/v1")
    assert (big["key_variable"], big["is_key_set"], big["fault"]) == ("BIG_KEY", True, "")
    assert big["roles"] == ["planner", "vmao: verifier"]
    assert big["parameters"] == {"temperature": 0.2}
    assert not lines["keyless"]["is_key_set"]
    for told in (plain.out, plain.err, as_json.out):
        assert "secret" not in told


@pytest.mark.conformance("MOD-01")
@pytest.mark.long
def test_a_check_says_what_a_strict_endpoint_does_and_what_it_cost() -> None:
    with command_shell() as here, ScriptedModel(strict_endpoint) as server:
        configured(here, server.url)

        ran = here.holdfast("models", "check", "big", "--json", BIG_KEY="big-secret")

    assert ran.code == 0, ran.err
    (check,) = json.loads(ran.out)
    states = {rung["rung"]: rung["state"] for rung in check["rungs"]}
    assert states == dict.fromkeys(("tools", "json_schema", "json_object", "text"), "works")
    assert check["counts_tokens"]
    assert all(rung["is_streamed"] for rung in check["rungs"])
    paid = 2 * check["input_tokens"] + 8 * check["output_tokens"]
    assert check["cost"] == pytest.approx(paid / 1_000_000)
    assert "big: 4 calls with about" in ran.err
    assert [asked.rung for asked in server.asked] == list(states)
    assert {asked.body["model"] for asked in server.asked} == {"maker/big-5"}
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer big-secret"}


@pytest.mark.conformance("MOD-01")
def test_a_check_names_what_an_endpoint_takes_and_ignores_and_what_it_refuses() -> None:
    with (
        command_shell() as here,
        ScriptedModel(
            careless_endpoint, supports=("json_schema", "json_object"), is_strict=False
        ) as server,
    ):
        configured(here, server.url)

        ran = here.holdfast("models", "check", "big", "--json", BIG_KEY="big-secret")

    assert ran.code == 0, ran.err
    (check,) = json.loads(ran.out)
    states = {rung["rung"]: rung["state"] for rung in check["rungs"]}
    assert states == {
        "tools": "refused",
        "json_schema": "ignored",
        "json_object": "ignored",
        "text": "works",
    }
    assert not check["counts_tokens"]


@pytest.mark.conformance("BEY-11")
@pytest.mark.parametrize("has_background", [True, False])
@pytest.mark.long
def test_a_check_says_if_replies_are_made_in_the_background(*, has_background: bool) -> None:
    with command_shell() as here, ScriptedModel(strict_endpoint, streams=has_background) as server:
        table = 'api = "responses"\nbackground = true\n\n[models.keyless]'
        path = configured(here, server.url)
        path.write_text(path.read_text().replace("[models.keyless]", table))

        ran = here.holdfast("models", "check", "big", BIG_KEY="big-secret")

    assert ran.code == 0, ran.err
    how = ", in the background" if has_background else ""
    for rung in ("tools", "json_schema", "json_object", "text"):
        assert f"  {rung}: works{how}\n" in ran.out
    assert all(asked.body["background"] for asked in server.asked)


def test_a_model_that_cannot_be_used_ends_the_check_with_an_exit_code() -> None:
    away = ScriptedReply(status=401, error={"message": "no such key"})
    with command_shell() as here, ScriptedModel(lambda _: away) as server:
        configured(here, server.url)

        ran = here.holdfast("models", "check", BIG_KEY="big-secret")

    assert ran.code == 1
    assert "big: cannot be used" in ran.out
    assert "check the key in BIG_KEY" in ran.out
    assert "keyless: cannot be used" in ran.out
    assert "keyless: 4 calls" not in ran.err
    assert "set the variable MISSING_KEY" in ran.out
    assert "big-secret" not in ran.out + ran.err
