"""Show a quote as a reader sees its document: without Markdown's signs, table rows as cells.

The stored quote stays verbatim; only what is shown is changed.
"""

import re

_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_ITEM = re.compile(r"(^|[“\n])\s*[-*+] (?=\S)")
_RULE = re.compile(r"[-:\s|]+")
_CELL_BREAK = " · "


def readable_text(text: str) -> str:
    """Return the text without marks of emphasis and list items, with table rows as cells."""
    bare = _ITEM.sub(r"\1", _EMPHASIS.sub(r"\2", text))
    rows = quoted_rows(bare)
    return "; ".join(_CELL_BREAK.join(row) for row in rows) if rows else bare


def quoted_rows(quote: str) -> tuple[tuple[str, ...], ...]:
    """Return the cells of each row if the quote is rows of a Markdown table; else nothing."""
    lines = [line.strip() for line in quote.strip().splitlines() if line.strip()]
    if not lines or not all(len(x) > 2 and x.startswith("|") and x.endswith("|") for x in lines):
        return ()
    return tuple(
        tuple(cell.strip() for cell in line[1:-1].split("|"))
        for line in lines
        if not _RULE.fullmatch(line)
    )
