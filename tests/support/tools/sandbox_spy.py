"""Python code that runs in the place of a sandboxed program of ours."""

from pathlib import Path

from holdfast.tools.sandbox.bubblewrap_command import Grants, bubblewrap_launch
from holdfast.tools.sandbox.child_process import ProcessOutput, run_child_process
from holdfast.tools.sandbox.own_python import OwnProgram, own_program


def spy_program(code: str) -> OwnProgram:
    """A program with the files of ours that runs this code."""
    own = own_program("holdfast.tools.sandbox.sandbox_probe")
    return OwnProgram((own.command[0], "-I", "-S", "-c", code), own.read)


async def run_spy(bubblewrap: str, code: str, *granted: Path) -> ProcessOutput:
    """Run the code in the sandbox that parsers get."""
    spy = spy_program(code)
    with bubblewrap_launch(bubblewrap, spy.command, Grants(read=(*spy.read, *granted))) as launch:
        return await run_child_process(
            launch, b"", within_s=60, max_bytes=100_000, late="the spy is late"
        )


def processes_in(pid: int) -> list[int]:
    """The ids of the processes below this one, as the kernel tells them."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    below = [int(each) for each in text.split()]
    return below + [deeper for each in below for deeper in processes_in(each)]
