"""Read the pages of the documentation: their shell commands, inline commands and headings."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]

_SHELL_BLOCK = re.compile(r"^```(?:console|sh|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_ANY_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_ASSIGNMENT = re.compile(r"\w+=\S*")


@dataclass(frozen=True)
class DocumentedCommand:
    """A command line of a page, split into words, without its comment and its redirections."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def documentation_pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def shell_commands() -> Iterator[DocumentedCommand]:
    """Every command of every shell block, in the order of the pages."""
    for page in documentation_pages():
        for block in _SHELL_BLOCK.findall(page.read_text()):
            for line in block.splitlines():
                yield from (DocumentedCommand(page.name, words) for words in _commands_of(line))


def inline_commands() -> Iterator[DocumentedCommand]:
    """Every `holdfast ...` between backticks in running text and tables."""
    for page in documentation_pages():
        for code in _INLINE.findall(_ANY_BLOCK.sub("", page.read_text())):
            words = code.replace("\\|", "|").split()
            if words[:1] == ["holdfast"] and len(words) > 1:
                yield DocumentedCommand(page.name, tuple(words))


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of the page's headings."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in _HEADING.findall(_ANY_BLOCK.sub("", page.read_text()))
    }


def _commands_of(line: str) -> Iterator[tuple[str, ...]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word != ";":
            words.append(word)
        elif command := _without_redirection(words):
            yield command
            words = []


def _without_redirection(words: list[str]) -> tuple[str, ...]:
    kept = words[: words.index(">")] if ">" in words else words
    while kept and _ASSIGNMENT.fullmatch(kept[0]):
        kept = kept[1:]
    return tuple(kept)
