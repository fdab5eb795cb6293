"""bubblewrap: Python with data libraries, in namespaces of its own, and never without them."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import structlog
from pydantic import JsonValue

from models.base import Frozen
from models.errors import BadConfiguration, BadInput
from tools.processes import spoken_to
from tools.python import inside
from tools.python.confinement import NOBODY, PROGRAM, confined
from tools.python.ran import MOST_PRINTED_CHARS, MOST_RESULT_CHARS, Ran, check_run, checked_result

log = structlog.get_logger(__name__)

_MOST_OUTPUT_BYTES = 4 * (MOST_RESULT_CHARS + MOST_PRINTED_CHARS) + 10_000
_PROBE_S = 20.0
_LAST_LINES = 12
_KNOWN = ("numpy", "pandas", "polars", "scipy", "statsmodels", "scikit_learn", "sympy", "pyarrow")


class SandboxLimits(Frozen):
    """What one run may take."""

    wall_s: float = 60
    cpu_s: int = 40
    memory_bytes: int = 1024 * 2**20
    file_bytes: int = 64 * 2**20
    scratch_bytes: int = 256 * 2**20
    """Of the folder /tmp, which is in memory and goes with the run."""
    processes: int = 48

    def inside(self) -> dict[str, JsonValue]:
        """As resource limits, by their names."""
        return {
            "AS": self.memory_bytes, "CPU": self.cpu_s, "FSIZE": self.file_bytes,
            "NPROC": self.processes, "NOFILE": 256, "CORE": 0,
        }  # fmt: skip


class Sandbox:
    """Runs code with the libraries of one virtual environment."""

    def __init__(self, venv: Path, limits: SandboxLimits | None = None) -> None:
        self._venv = venv.absolute()
        self._limits = limits or SandboxLimits()
        self._source = Path(inside.__file__).read_text(encoding="utf-8")
        self._user: int | None = None

    async def prove(self) -> None:
        """Try it out, so that a machine that cannot confine is known before code is run on it.

        Raises:
            BadConfiguration: bubblewrap is missing or may make no namespaces, or there is no
                Python there.
        """
        where = f"[python] data_libraries = {str(self._venv)!r}"
        if not (self._venv / "bin/python").exists():
            raise BadConfiguration(f"{where} has no bin/python; name a virtual environment")
        if shutil.which(PROGRAM) is None:
            raise BadConfiguration(
                f"{where} needs bubblewrap, which is not installed: install it (Debian: apt "
                "install bubblewrap), or take the key out; without it Python runs without libraries"
            )
        # Root's processes are not counted, so that nobody runs it where root would.
        for user in (NOBODY, None) if os.geteuid() == 0 else (None,):
            self._user = user
            said = await self._fault_of_probe()
            if not said:
                break
        else:
            raise BadConfiguration(
                f"{where}: bubblewrap can confine nothing here: {said}; allow user namespaces, or "
                "take the key out"
            )
        if self._user is None and os.geteuid() == 0:
            log.warning("python.sandbox_runs_as_root", hint="forks are bounded by time alone")

    async def _fault_of_probe(self) -> str:
        try:
            ran = await self._ran("1 + 1", {}, _PROBE_S)
        except (BadInput, OSError) as fault:
            return str(fault)[:300]
        return "" if ran.result == 2 else "it computes nothing"

    async def run(self, code: str, inputs: Mapping[str, JsonValue]) -> Ran:
        """What the code came to with the inputs as variables; cancelled, all of it is killed.

        Raises:
            BadInput: the code is wrong, took too much, or gave nothing that can be handed on.
        """
        check_run(code, inputs)
        ran = await self._ran(code, inputs, self._limits.wall_s)
        if ran.result is None and not ran.printed:
            raise BadInput(
                "the code gave no result: end it with an expression, or set the variable `result`"
            )
        return ran

    def libraries(self) -> tuple[str, ...]:
        """The best known of those installed there; else the first few."""
        found = {
            each.name.split("-")[0].lower()
            for each in self._venv.glob("lib/python3*/site-packages/*.dist-info")
        }
        known = tuple(each for each in _KNOWN if each in found)
        return known or tuple(sorted(found - {"pip", "setuptools"})[:8])

    async def _ran(self, code: str, inputs: Mapping[str, JsonValue], wall_s: float) -> Ran:
        given = {
            "code": code, "inputs": dict(inputs), "limits": self._limits.inside(),
            "most_printed": MOST_PRINTED_CHARS,
        }  # fmt: skip
        said = await spoken_to(
            confined(self._venv, self._source, scratch_bytes=self._limits.scratch_bytes),
            json.dumps(given).encode(),
            within_s=wall_s,
            most_bytes=_MOST_OUTPUT_BYTES,
            late=f"the code ran for {wall_s:g} s and was ended",
            user=self._user,
        )
        try:
            answer = json.loads(said.output)
        except ValueError:
            why = said.errors.decode(errors="replace").strip().splitlines()[-1:] or [
                "it was killed"
            ]
            raise BadInput(
                f"the code ended without a result (status {said.status}): {why[0]}"
            ) from None
        if not isinstance(answer, dict):
            raise BadInput("the code wrote over its own result")
        if "error" in answer:
            raise BadInput("\n".join(str(answer["error"]).strip().splitlines()[-_LAST_LINES:]))
        printed = str(answer.get("printed", ""))[:MOST_PRINTED_CHARS]
        result = checked_result(answer.get("result"))
        return Ran(result=result, printed=printed, is_cut=bool(answer.get("is_cut")))
