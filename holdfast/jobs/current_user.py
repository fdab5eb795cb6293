"""Name the user who runs a command."""

import getpass


def current_user() -> str:
    """The name of the user of this computer; empty if the user has no name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
