"""Tests that messages name no command on the page where the page itself does the work."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.web.rendering.plain_words import plain_words

_ROOT = Path(__file__).parents[3]
_FLOORS = ("holdfast", "models", "planning", "storage", "activities", "workflows", "tools", "roles")
_OTHER_FACES = tuple(
    str(_ROOT / "holdfast" / face) for face in ("cli", "python_client", "mcp_server")
)
_COMMAND = re.compile(r"`holdfast ([a-z-]+(?: list)?)")
_OF_THE_INSTALLATION = {
    # Whoever runs the installation types these; the page has nothing for them.
    *(
        "up",
        "down",
        "doctor",
        "open",
        "serve",
        "restore",
        "prune",
        "erase",
        "erasures",
        "keys",
        "keys list",
    ),
    *("quotas", "quotas list", "webhooks list"),
    # Bundles that come from elsewhere; and a removal, which only the command line and HTTP have.
    *("import", "export", "cancel"),
    # What an embedding or a reranking model needs.
    "corpus",
}


def _texts(module: str) -> Iterator[str]:
    """The texts of a module besides its docstrings; a value that is filled in is `X`."""
    parts = list(ast.walk(ast.parse(module)))
    skipped = {id(part.value) for part in parts if isinstance(part, ast.Expr)}
    for part in parts:
        if isinstance(part, ast.JoinedStr):
            skipped |= {id(value) for value in part.values}
            yield "".join(
                str(each.value) if isinstance(each, ast.Constant) else "X" for each in part.values
            )
        elif isinstance(part, ast.Constant) and id(part) not in skipped:
            yield str(part.value)


def _modules() -> Iterator[Path]:
    """The modules of the engine and of the page; other faces have users of their own."""
    for floor in _FLOORS:
        # The links of `holdfast` lead to the other floors.
        for folder, _, files in os.walk(_ROOT / floor):
            if not folder.startswith(_OTHER_FACES):
                yield from (Path(folder, name) for name in files if name.endswith(".py"))


def _messages() -> set[str]:
    """Every text that names a command and may come to the page."""
    modules = (path.read_text() for path in _modules() if path.name != "commands_on_page.py")
    naming = (module for module in modules if "`holdfast " in module)
    return {text for module in naming for text in _texts(module) if "`holdfast " in text}


def test_a_command_stays_in_a_message_only_where_the_page_has_nothing_for_it() -> None:
    messages = _messages()

    left = {
        command: message
        for message in messages
        for command in _COMMAND.findall(plain_words(message))
    }

    assert len(messages) > 40
    assert not {each: left[each] for each in left if each not in _OF_THE_INSTALLATION}


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            "there is no job 'job-x'; `holdfast list` lists the jobs",
            "there is no job 'job-x'; the page “Jobs” lists the jobs",
        ),
        (
            "job job-1 is done; `holdfast retry job-1 TASK` runs tasks again",
            "job job-1 is done; “Run again” on the page of the job runs tasks again",
        ),
        (
            "delivered no report (planned); `holdfast resume job-1` runs its plan",
            "delivered no report (planned); “Resume” or “Run the plan” on the page of the job runs its plan",
        ),
        (
            "or take the limit away with `holdfast resume job-1 --set max_cost=none`",
            "or take the limit away with “Another limit…” on the page of the job",
        ),
        (
            "its report is not written yet; `holdfast wait job-1` shows when it has ended",
            "its report is not written yet; the page of the job shows when it has ended",
        ),
        (
            "start a worker with `holdfast up`, then `holdfast status job-1` shows whether",
            "start a worker with `holdfast up`, then the page of the job shows whether",
        ),
    ],
)
def test_a_command_is_said_in_the_words_of_the_page(message: str, shown: str) -> None:
    assert plain_words(message) == shown
