"""Read a page as the steps that a reader follows: files to write, commands, and what they print."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"(?:^`([\w./-]+)`:\n\n)?^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class FileStep:
    """A file that the reader writes: its name stands in backticks above the block."""

    name: str
    text: str


@dataclass(frozen=True)
class CommandStep:
    """A command that the reader runs."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class OutputStep:
    """What the last command prints; `…` stands for any text, and `JOB` for the job's id."""

    text: str

    def is_printed_in(self, output: str, job: str) -> bool:
        """True if the parts between two `…` are in the output in this order."""
        parts = [part.strip() for part in self.text.replace("JOB", job).split("…")]
        pattern = ".*".join(re.escape(part) for part in parts)
        return bool(re.search(pattern, output, re.DOTALL))


Step = FileStep | CommandStep | OutputStep


def page_steps(page: Path) -> Iterator[Step]:
    """Return the steps of the page in its order; other blocks are examples."""
    for name, language, text in _FENCE.findall(page.read_text()):
        if name:
            yield FileStep(name, text)
        elif language == "console":
            yield from (
                CommandStep(tuple(shlex.split(line, comments=True))) for line in text.splitlines()
            )
        elif language == "text":
            yield OutputStep(text)
