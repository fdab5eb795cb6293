"""Replace the commands that a message names with what does the same at another interface.

The use cases are shared, and their errors name the command that helps. Each interface that is not
the command line has a table of its own words.
"""

import re
import shlex
from collections.abc import Mapping, Sequence

_COMMAND = re.compile(r"`holdfast ([^`]+)`")
_PLACEHOLDER = re.compile(r"<([A-Z]+)>")


def replace_commands(message: str, replacements: Mapping[str, str]) -> str:
    """Return the message with the replacements of its commands; a command without one stays.

    `replacements` has them by the command's name; `NAME --OPTION` is the command with the option.
    A place such as `<JOB>` takes the next value of the command.
    """
    return _COMMAND.sub(lambda found: _replaced(found[1], replacements) or found[0], message)


def _replaced(command: str, replacements: Mapping[str, str]) -> str:
    """Return what replaces the command; empty if the table has nothing for it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    options = [word for word in words if word.startswith("--")]
    for length in (2, 1):
        name = " ".join(words[:length])
        keys = [f"{name} {option}" for option in options] + [name]
        if template := next((replacements[key] for key in keys if key in replacements), ""):
            return _filled(template, words[length:])
    return ""


def _filled(template: str, values: Sequence[str]) -> str:
    """Put the values into the template in their order; a place without a value keeps its name."""
    following = iter(values)
    return _PLACEHOLDER.sub(lambda place: next(following, place[1]), template)
