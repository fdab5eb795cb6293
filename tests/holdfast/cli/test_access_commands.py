"""Tests for `holdfast keys` and `holdfast audit`, and for webhooks of a key."""

import json

import pytest

from tests.support.services.command_shell import command_shell

pytestmark = pytest.mark.slow


def test_a_key_is_made_rotated_revoked_and_every_step_is_in_the_audit() -> None:
    with command_shell() as here:
        here.holdfast("up")
        made = here.holdfast("keys", "create", "laptop", "--owner", "maria", "--scope", "read")
        (listed,) = json.loads(here.holdfast("keys", "list", "--json").out)
        rotated = here.holdfast("keys", "rotate", listed["id"], "--overlap-hours", "0", "--json")
        new = json.loads(rotated.out)["details"]["id"]
        revoked = here.holdfast("keys", "revoke", new)
        plain = here.holdfast("keys", "list").out
        audit = json.loads(here.holdfast("audit", "--json").out)
        lines = here.holdfast("audit", "--resource", new).out
        refused = [
            here.holdfast("keys", *words).refused()
            for words in (
                ("create", " "),
                ("create", "a", "--owner", "shared"),
                ("rotate", new),
                ("revoke", "none"),
            )
        ]

    assert made.out.startswith(f"hf_{listed['id']}_")
    assert "not shown again" in made.err
    assert (listed["owner"], listed["scopes"]) == ("maria", ["read"])
    assert revoked.out == f"key {new} (laptop) of maria is revoked\n"
    assert "revoked" in plain
    assert "expired" in plain
    assert [entry["action"] for entry in audit] == ["revoke_key", "rotate_key", "create_key"]
    assert [entry["resource"] for entry in audit] == [new, new, listed["id"]]
    assert "create_key" not in lines
    assert "cannot name a key" in refused[0]
    assert "cannot be an owner" in refused[1]
    assert "is revoked; create a new one" in refused[2]
    assert "there is no key 'none'" in refused[3]


def test_a_webhook_is_added_for_a_key_that_the_owner_has_and_for_no_other() -> None:
    with command_shell() as here:
        here.holdfast("up")
        here.holdfast("keys", "create", "laptop", "--owner", "maria")
        (key,) = json.loads(here.holdfast("keys", "list", "--json").out)
        add = ("webhooks", "add", "https://example.org/hook", "--owner", "maria", "--key")
        refused = [here.holdfast(*add, name).refused() for name in ("", "none")]
        here.holdfast(*add, key["id"])
        (hook,) = json.loads(here.holdfast("webhooks", "list", "--json").out)

    assert "maria has no key ''" in refused[0]
    assert "maria has no key 'none'" in refused[1]
    assert hook["key_id"] == key["id"]
