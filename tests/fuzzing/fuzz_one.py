"""Fuzz one target: `python -m tests.fuzzing.fuzz_one TARGET SECONDS`; the fuzzer ends the process."""

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import atheris

# Only what is imported here is followed by its coverage.
with atheris.instrument_imports(include=["holdfast", "protego"]):
    from tests.fuzzing.fuzz_targets import TARGETS, TooSlow

from tests.fuzzing.kept_inputs import folder_of

_LONGEST_INPUT = 4096
_MEMORY_MB = 4096
_HANGS_AFTER_S = 60


def main(name: str, seconds: str) -> None:
    """Change the target's seeds for so long, or until an input breaks its reader."""
    target = TARGETS[name]
    for seed in target.seeds:
        # The first read imports the parser's libraries: on a busy machine that looks like a hang.
        with suppress(TooSlow):
            target.read(seed)
    with tempfile.TemporaryDirectory() as seeds:
        for number, seed in enumerate(target.seeds):
            Path(seeds, str(number)).write_bytes(seed)
        arguments = [
            f"-max_total_time={seconds}",
            f"-max_len={_LONGEST_INPUT}",
            f"-rss_limit_mb={_MEMORY_MB}",
            f"-timeout={_HANGS_AFTER_S}",
            f"-artifact_prefix={folder_of(name)}{os.sep}",
            "-print_final_stats=1",
        ]
        atheris.Setup([__file__, *arguments, seeds], target.read)
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
