"""A clock that jumps, for the worker and for PostgreSQL, by libfaketime.

It does not reach Temporal, which does not ask the C library for the time. Only the time on the
wall jumps; the monotonic clock goes on, as it does when somebody sets the clock of a machine.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from holdfast.services import detached_processes

_LIBRARIES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1")
_NOW = "+0"


def find_library() -> Path | None:
    """The library, if Debian's package `libfaketime` is installed."""
    return next((file for each in _LIBRARIES for file in Path("/").glob(each[1:])), None)


@dataclass(frozen=True)
class FakeClock:
    """A clock that processes read from a file."""

    file: Path
    library: Path

    def __post_init__(self) -> None:
        self.set(0)

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "LD_PRELOAD": str(self.library),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",
        }

    def set(self, seconds: int) -> None:
        """Set the clock so many seconds ahead of the true time; processes see it within 1 s."""
        self.file.write_text(f"{seconds:+d}s\n" if seconds else f"{_NOW}\n")

    @contextmanager
    def reaching_services(self) -> Iterator[None]:
        """Embedded services get these variables as well, which they otherwise do not."""
        passed = detached_processes._PASSED_VARIABLES | self.environment.keys()
        with patch.object(detached_processes, "_PASSED_VARIABLES", passed):
            yield
