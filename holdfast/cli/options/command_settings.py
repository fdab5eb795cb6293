"""Load the settings for a command, and warn of variables that look like settings but are none."""

from holdfast.cli.render.terminal_output import print_progress
from holdfast.settings import Settings, load_settings, unknown_variables


def load_command_settings() -> Settings:
    """The settings of this command; a misspelled variable is named on standard error.

    Raises:
        BadConfiguration: a variable has an unusable value.
    """
    for sentence in unknown_variables():
        print_progress(f"warning: {sentence}")
    return load_settings()
