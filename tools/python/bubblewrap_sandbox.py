"""Run Python code with data libraries inside a bubblewrap sandbox."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import structlog
from pydantic import JsonValue

from holdfast.models.errors import BadConfiguration, BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.tools.python import sandbox_program
from holdfast.tools.python.code_result import (
    MAX_PRINTED_CHARS,
    MAX_RESULT_CHARS,
    CodeResult,
    check_code,
    result_as_json,
)
from holdfast.tools.sandbox.bubblewrap_command import (
    NOBODY_UID,
    SCRATCH,
    Grants,
    bubblewrap_launch,
)
from holdfast.tools.sandbox.child_process import ProcessOutput, run_child_process
from holdfast.tools.sandbox.process_slots import ProcessSlots, process_slots
from holdfast.tools.sandbox.sandbox_support import BUBBLEWRAP_PROGRAM

log = structlog.get_logger(__name__)

_MAX_OUTPUT_BYTES = 4 * (MAX_RESULT_CHARS + MAX_PRINTED_CHARS) + 10_000
_PROBE_S = 20.0
_VARIABLES = {
    "PATH": "/usr/bin",
    "HOME": str(SCRATCH),
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    # The stacks of one thread per core would not fit into the address space.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": str(SCRATCH / "mpl"),
}
"""The whole environment of the code."""
_LAST_LINES = 12
_KNOWN = ("numpy", "pandas", "polars", "scipy", "statsmodels", "scikit_learn", "sympy", "pyarrow")


class SandboxLimits(Frozen):
    """The limits of one run."""

    wall_s: float = 60
    cpu_s: int = 40
    memory_bytes: int = 1024 * 2**20
    file_bytes: int = 64 * 2**20
    scratch_bytes: int = 256 * 2**20
    """Size of /tmp, which is in memory and lasts as long as the run."""
    processes: int = 48

    def resource_limits(self) -> dict[str, JsonValue]:
        """Return the limits by the names of their `resource` constants."""
        return {
            "AS": self.memory_bytes,
            "CPU": self.cpu_s,
            "FSIZE": self.file_bytes,
            "NPROC": self.processes,
            "NOFILE": 256,
            "CORE": 0,
        }


class Sandbox:
    """Runs code with the libraries of one virtual environment."""

    def __init__(
        self,
        venv: Path,
        limits: SandboxLimits | None = None,
        slots: ProcessSlots | None = None,
    ) -> None:
        self._venv = venv.absolute()
        self._slots = slots or process_slots()
        self._limits = limits or SandboxLimits()
        self._source = Path(sandbox_program.__file__).read_text(encoding="utf-8")
        self._user: int | None = None

    async def check_confinement(self) -> None:
        """Run a probe, so that a machine without confinement is detected at the start.

        Raises:
            BadConfiguration: bubblewrap is missing or may not create namespaces, or the
                virtual environment has no Python.
        """
        where = f"[python] data_libraries = {str(self._venv)!r}"
        if not (self._venv / "bin/python").exists():
            raise BadConfiguration(f"{where} has no bin/python; name a virtual environment")
        if shutil.which(BUBBLEWRAP_PROGRAM) is None:
            raise BadConfiguration(
                f"{where} needs bubblewrap, which is not installed: install it (Debian: apt "
                "install bubblewrap), or take the key out; without it Python runs without libraries"
            )
        # As `nobody` instead of root, where `nobody` may read the environment: whoever breaks out
        # of the sandbox is then nobody.
        for user in (NOBODY_UID, None) if os.geteuid() == 0 else (None,):
            self._user = user
            fault = await self._fault_of_probe()
            if not fault:
                break
        else:
            raise BadConfiguration(
                f"{where}: bubblewrap can confine nothing here: {fault}; allow user namespaces, or "
                "take the key out"
            )
        if self._user is None and os.geteuid() == 0:
            log.warning("python.sandbox_runs_as_root", hint="let nobody read the environment")

    async def _fault_of_probe(self) -> str:
        try:
            ran = await self._ran("1 + 1", {}, _PROBE_S)
        except (BadInput, OSError) as fault:
            return str(fault)[:300]
        return "" if ran.result == 2 else "it computes nothing"

    async def run(self, code: str, inputs: Mapping[str, JsonValue]) -> CodeResult:
        """Run the code with the inputs as variables; a cancellation kills all its processes.

        Raises:
            BadInput: the code fails, exceeds a limit, or its result is not JSON.
        """
        check_code(code, inputs)
        ran = await self._ran(code, inputs, self._limits.wall_s)
        if ran.result is None and not ran.printed:
            raise BadInput(
                "the code gave no result: end it with an expression, or set the variable `result`"
            )
        return ran

    def libraries(self) -> tuple[str, ...]:
        """Return the best known of the installed libraries; else the first few."""
        installed = {
            folder.name.split("-")[0].lower()
            for folder in self._venv.glob("lib/python3*/site-packages/*.dist-info")
        }
        well_known = tuple(library for library in _KNOWN if library in installed)
        return well_known or tuple(sorted(installed - {"pip", "setuptools"})[:8])

    async def _ran(self, code: str, inputs: Mapping[str, JsonValue], wall_s: float) -> CodeResult:
        request = {
            "code": code,
            "inputs": dict(inputs),
            "limits": self._limits.resource_limits(),
            "most_printed": MAX_PRINTED_CHARS,
        }
        ended = await self._run_process(json.dumps(request).encode(), wall_s)
        try:
            answer = json.loads(ended.output)
        except ValueError:
            why = ended.errors.decode(errors="replace").strip().splitlines()[-1:] or [
                "it was killed"
            ]
            raise BadInput(
                f"the code ended without a result (status {ended.status}): {why[0]}"
            ) from None
        if not isinstance(answer, dict):
            raise BadInput("the code wrote over its own result")
        if "error" in answer:
            raise BadInput("\n".join(str(answer["error"]).strip().splitlines()[-_LAST_LINES:]))
        printed = str(answer.get("printed", ""))[:MAX_PRINTED_CHARS]
        result = result_as_json(answer.get("result"))
        return CodeResult(result=result, printed=printed, is_cut=bool(answer.get("is_cut")))

    async def _run_process(self, request: bytes, wall_s: float) -> ProcessOutput:
        python = self._venv / "bin/python"
        grants = Grants(
            read=(python.resolve().parent.parent, self._venv),
            scratch_bytes=self._limits.scratch_bytes,
        )
        command = (str(python), "-I", "-c", self._source)
        # Never None: code that a model wrote does not run without the sandbox.
        bubblewrap = shutil.which(BUBBLEWRAP_PROGRAM) or BUBBLEWRAP_PROGRAM
        with bubblewrap_launch(bubblewrap, command, grants) as launch:
            async with self._slots:
                return await run_child_process(
                    launch,
                    request,
                    within_s=wall_s,
                    max_bytes=_MAX_OUTPUT_BYTES,
                    late=f"the code ran for {wall_s:g} s and was ended",
                    environment=_VARIABLES,
                    user=self._user,
                )
