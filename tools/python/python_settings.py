"""Read the table `[python]` of `holdfast.toml`, and open the interpreter and the sandbox."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.models.frozen_model import Frozen
from holdfast.tools.holdfast_toml import read_toml_table
from holdfast.tools.python.bubblewrap_sandbox import Sandbox
from holdfast.tools.sandbox.process_slots import ProcessSlots

if TYPE_CHECKING:
    from holdfast.tools.python.monty_interpreter import Interpreter


class PythonSettings(Frozen):
    """The table `[python]`: whether code may run, and with which libraries."""

    enabled: bool = True
    data_libraries: str = ""
    """The folder of a virtual environment, relative to the file; empty for none."""


_EXAMPLES = {
    "enabled": "enabled = false",
    "data_libraries": 'data_libraries = "venv" (a virtual environment with pandas)',
}


def read_python_settings(path: Path | None) -> PythonSettings | None:
    """Return the table `[python]`; None if the file has no such table.

    Raises:
        BadConfiguration: a key is wrong; names it, and says what to write.
    """
    return read_toml_table(path, "python", PythonSettings, _EXAMPLES)


@asynccontextmanager
async def open_python_runners(
    path: Path | None, slots: ProcessSlots | None = None
) -> AsyncIterator[tuple["Interpreter", Sandbox | None] | None]:
    """Open the interpreter, and a sandbox if libraries are configured; None if turned off.

    Raises:
        BadConfiguration: the table is wrong, or this machine cannot confine processes.
    """
    table = read_python_settings(path) or PythonSettings()
    if not table.enabled:
        yield None
        return
    from holdfast.tools.python.monty_interpreter import Interpreter  # in the part `python`

    sandbox = None
    if table.data_libraries and path is not None:
        sandbox = Sandbox(path.parent / table.data_libraries, slots=slots)
        await sandbox.check_confinement()
    async with Interpreter() as interpreter:
        yield interpreter, sandbox
