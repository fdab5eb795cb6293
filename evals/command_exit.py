"""End an evaluation's command: its exit code, and what is printed when it is refused or stopped."""

import asyncio
import sys
from collections.abc import Callable

from holdfast.models.errors import HoldfastError


def command_exit(body: Callable[[], int], when_stopped: str = "stopped") -> int:
    """Return what the command's body returns; 2 if it is refused, 130 if it is stopped.

    An error of ours is printed as its message, and Ctrl-C or SIGTERM as `when_stopped`.
    """
    try:
        return body()
    except HoldfastError as error:
        print(error, file=sys.stderr)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(when_stopped, file=sys.stderr)
        return 130
