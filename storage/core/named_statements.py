"""Load SQL statements, and parts of statements, from the `.sql` file next to a module.

In the file, `-- name: begin_task` and a description in comment lines precede each text.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import LiteralString, cast

_NAME_LINE = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_DESCRIPTION = re.compile(r"(?:--.*\n)*")


def load_statements(module_file: str) -> Mapping[str, LiteralString]:
    """Return the texts by name, without their descriptions."""
    text = Path(module_file).with_suffix(".sql").read_text(encoding="utf-8")
    _, *parts = _NAME_LINE.split(text)
    statements = {
        name: _DESCRIPTION.sub("", body, count=1).rstrip() + "\n"
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }
    # The texts are files of the program, as safe as literals in its modules.
    return cast("Mapping[str, LiteralString]", statements)
