"""Make the synchronous client from the asynchronous one: `python -m` this module writes it."""

import re
import subprocess
import sys
from pathlib import Path

_CLIENT = Path(__file__).parents[3] / "holdfast" / "python_client"
_RULES = (
    (r"await asyncio\.to_thread\((\w+), (\w+)\)", r"\1(\2)"),
    (r"asyncio\.sleep", "time.sleep"),
    (r"^import asyncio\n", ""),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bAsyncClient\b", "Client"),
    (r"\bAsync(?=[A-Z])", "Sync"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\basynchronous\b", "synchronous"),
    (r"The client for asyncio", "The client for programs without asyncio; `make client` makes it"),
)


def synchronous_files() -> dict[Path, str]:
    """The text of each file of the synchronous client, formatted, by its place."""
    sources = sorted((_CLIENT / "asynchronous").glob("*.py"))
    return {_CLIENT / "synchronous" / source.name: _text(source) for source in sources}


def _text(source: Path) -> str:
    text = source.read_text("utf-8")
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return _ruff(
        _ruff(text, "check", "--fix", "--unsafe-fixes", "--quiet", "--select", "I,UP028"), "format"
    )


def _ruff(text: str, *words: str) -> str:
    command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", "holdfast/x.py", "-"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, cwd=_CLIENT.parents[1]
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == "__main__":
    for place, content in synchronous_files().items():
        place.parent.mkdir(exist_ok=True)
        place.write_text(content, "utf-8")
