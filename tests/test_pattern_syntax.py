"""Tests that our regular expressions mean the same on every supported Python."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("activities", "evals", "holdfast", "models", "planning", "roles", "storage", "tools")
# Python 3.11.2, which Debian 12 has, finds nothing with a possessive group that ends in a choice.
POSSESSIVE_GROUP = re.compile(r"""re\.compile\(\s*[rf]{0,2}["'].*(?<!\\)\)[*+?]\+""")


def test_no_pattern_has_a_possessive_group() -> None:
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    ]

    assert len(files) > 500
    assert not found
