"""Run a command as a child that ends in order when its parent is stopped."""

import subprocess
from collections.abc import Sequence

from holdfast.services.termination_signal import termination_as_interrupt


def run_child(
    command: Sequence[str], *, is_captured: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; its standard output is captured if asked for.

    If this process is stopped by Ctrl-C, SIGTERM or a closed terminal, the child gets SIGTERM and
    is waited for. `subprocess.run` would kill the child after a quarter of a second, and leave its
    servers behind.
    """
    stdout = subprocess.PIPE if is_captured else None
    with (
        termination_as_interrupt(),
        # A session of its own: otherwise the terminal's Ctrl-C reaches the child as well.
        subprocess.Popen(command, stdout=stdout, text=True, start_new_session=True) as child,
    ):
        try:
            printed, _ = child.communicate()
        except KeyboardInterrupt:
            child.terminate()
            child.communicate()
            raise
    return subprocess.CompletedProcess(command, child.returncode, printed)
