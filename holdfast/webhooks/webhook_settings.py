"""Read the table `[webhooks]` of `holdfast.toml`: which private hosts webhooks may reach."""

from dataclasses import replace
from pathlib import Path

from holdfast.models.errors import BadInput, ToolFailed
from holdfast.models.frozen_model import Frozen
from holdfast.tools.holdfast_toml import read_toml_table
from holdfast.tools.web.http_client.address_rules import AllowedHosts, RequestTarget, parse_target

TABLE = "webhooks"


class WebhookSettings(Frozen):
    """What the operator allows besides the public web."""

    allow_hosts: tuple[str, ...] = ()


def read_webhook_hosts(path: Path | None) -> AllowedHosts:
    """Return the hosts that webhooks may reach: public ones, and those that the file names.

    Raises:
        BadConfiguration: the table is wrong; the message has a correct line.
    """
    examples = {"allow_hosts": 'allow_hosts = ["hooks.intern:8080"]'}
    table = read_toml_table(path, TABLE, WebhookSettings, examples) or WebhookSettings()
    return replace(AllowedHosts.of(table.allow_hosts), table=TABLE)


def webhook_target(url: str, allowed: AllowedHosts) -> RequestTarget:
    """Return the parsed address of a webhook.

    Raises:
        BadInput: the address may not be reached; says why, and what to give.
    """
    try:
        target = parse_target(url, allowed)
    except ToolFailed as error:
        raise BadInput(
            f"the webhook cannot be sent: {error}. Use a public https address with port 443, or "
            "the operator names the host (host:port) in allow_hosts below [webhooks] in "
            "holdfast.toml, which workers read when they start"
        ) from error
    if target.scheme != "https" and not allowed.names(target.host, target.port):
        raise BadInput(f"{url[:300]!r} is not encrypted: give an address that begins with https://")
    return target
