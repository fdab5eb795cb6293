"""Start the services for a command and warn about misspelled settings."""

from holdfast.cli.render.terminal_output import print_progress
from holdfast.services.service_lifecycle import start_services
from holdfast.settings import Endpoints, Settings, unknown_variables


async def start_installation(settings: Settings, *, may_interrupt: bool = False) -> Endpoints:
    """Start all services and return their addresses.

    Raises:
        BadConfiguration: without `may_interrupt`, if the worker is at work with other settings.
    """
    for sentence in unknown_variables():
        print_progress(f"warning: {sentence}")
    return await start_services(settings, print_progress, may_interrupt=may_interrupt)
