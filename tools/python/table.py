"""The table `[python]` of `holdfast.toml`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from models.base import Frozen
from tools.python.interpreter import Interpreter
from tools.python.sandbox import Sandbox
from tools.toml import read_table


class PythonTable(Frozen):
    """Whether code is run, and with which libraries."""

    enabled: bool = True
    data_libraries: str = ""
    """The folder of a virtual environment, relative to the file; empty: none."""


_EXAMPLES = {
    "enabled": "enabled = false",
    "data_libraries": 'data_libraries = "venv" (a virtual environment with pandas)',
}


@asynccontextmanager
async def python_parts(
    path: Path | None,
) -> AsyncIterator[tuple[Interpreter, Sandbox | None] | None]:
    """The interpreter, with a sandbox where libraries are named; none where it is turned off.

    Raises:
        BadConfiguration: the table is wrong, or this machine can confine nothing.
    """
    table = read_table(path, "python", PythonTable, _EXAMPLES) or PythonTable()
    if not table.enabled:
        yield None
        return
    sandbox = None
    if table.data_libraries and path is not None:
        sandbox = Sandbox(path.parent / table.data_libraries)
        await sandbox.prove()
    async with Interpreter() as interpreter:
        yield interpreter, sandbox
