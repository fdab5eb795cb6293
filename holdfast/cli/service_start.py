"""Start the services for a command and warn about misspelled settings."""

from holdfast.cli.render.terminal_output import print_progress
from holdfast.services.service_lifecycle import start_services
from holdfast.settings import Endpoints, Settings, unknown_variables


async def start_installation(settings: Settings) -> Endpoints:
    """Start all services and return their addresses."""
    for sentence in unknown_variables():
        print_progress(f"warning: {sentence}")
    return await start_services(settings, print_progress)
