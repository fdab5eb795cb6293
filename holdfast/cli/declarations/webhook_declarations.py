"""Declare the commands `webhooks list`, `add`, `rotate`, `remove` and `test`."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JsonOption
from holdfast.models.access.webhook_events import WebhookEvent

app = typer.Typer(
    help="Addresses that are told when a job ends, pauses or asks: list, add, rotate, remove and "
    "test.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
WebhookArgument = Annotated[str, typer.Argument(metavar="ID", help="As `webhooks list` shows it.")]


@app.command("list")
def list_webhooks(json_output: JsonOption = False) -> None:
    """List the webhooks, without their secrets."""
    from holdfast.cli.commands.webhook_commands import list_webhooks_command

    list_webhooks_command(json_output=json_output)


@app.command()
def add(
    url: Annotated[str, typer.Argument(help="Where the messages are sent.")],
    event: Annotated[
        list[WebhookEvent] | None, typer.Option(help="Repeated; by default all.")
    ] = None,
    job: Annotated[
        str | None, typer.Option(help="The only job; by default every job of the owner.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="The only API key whose jobs it is about, by its id.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option(help="Whose jobs it is about; by default yours.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Add a webhook and print its secret once."""
    from holdfast.cli.commands.webhook_commands import add_webhook_command

    add_webhook_command(url, event or (), job, key, owner, json_output=json_output)


@app.command()
def rotate(
    webhook: WebhookArgument,
    overlap_hours: Annotated[
        int, typer.Option(min=0, max=720, help="How long the old secret signs as well.")
    ] = 24,
    json_output: JsonOption = False,
) -> None:
    """Give a webhook another secret, and print it once."""
    from holdfast.cli.commands.webhook_commands import rotate_secret_command

    rotate_secret_command(webhook, overlap_hours, json_output=json_output)


@app.command()
def remove(webhook: WebhookArgument, json_output: JsonOption = False) -> None:
    """Remove a webhook; messages that wait are not sent."""
    from holdfast.cli.commands.webhook_commands import remove_webhook_command

    remove_webhook_command(webhook, json_output=json_output)


@app.command("test")
def send_test_message(
    webhook: WebhookArgument,
    seconds: Annotated[
        float, typer.Option(min=0, max=600, help="How long to wait for the outcome.")
    ] = 30,
    json_output: JsonOption = False,
) -> None:
    """Send a test message and print what became of it; a worker sends it."""
    from holdfast.cli.commands.webhook_commands import send_test_command

    send_test_command(webhook, seconds, json_output=json_output)
