"""Tests that the command line and the worker look for cycles of garbage rarely."""

import subprocess
import sys

import pytest

_PRINT = """
import gc
import {0} as program
program.{1} = lambda *_: print(gc.get_threshold()[0]) or 0
program.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "work"), [("holdfast.__main__", "_run"), ("holdfast.worker", "run_worker")]
)
def test_a_program_looks_for_cycles_rarely(module: str, work: str) -> None:
    command = (sys.executable, "-c", _PRINT.format(module, work))

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert (done.stdout.strip(), done.returncode) == ("20000", 0), done.stderr
