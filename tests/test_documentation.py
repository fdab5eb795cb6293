"""Tests that the documentation agrees with the code."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from holdfast.cli.app import app
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.views.job_views import JobLine, JobView
from holdfast.planning.strategies.strategy_presets import all_presets
from tests.support.documentation.pages import (
    ROOT,
    DocumentedCommand,
    anchors,
    documentation_pages,
    inline_commands,
    shell_commands,
)

LINK = re.compile(r"\]\((?!https?:)([^)]+)\)")
OPTION = re.compile(r"--[a-z][a-z-]*|(?<![\w-])-[a-zA-Z](?![\w-])")
FOLDERS = (
    "activities|benchmarks|deploy|docs|evals|holdfast|migrations|models|planning|roles|storage|"
    "tests|tools|workflows"
)
FILE_NAME = re.compile(rf"`((?:{FOLDERS})/[\w./-]*)`")

TESTED = {"holdfast", "make", "python"}
NOT_TESTED = {
    "source": "of the shell",
    "export": "of the shell",
    "cp": "of the system; copies files of the reader",
    "rm": "of the system; deletes files of the reader",
    "pip": "needs a package index; tests/packaging/ installs the wheel, tests/tools/test_optional_parts.py "
    "reads the parts",
    "pipx": "needs a package index; tests/packaging/ installs the wheel",
    "uv": "needs a package index; tests/packaging/ installs the wheel",
    "uvx": "needs a package index; tests/packaging/ installs the wheel",
    "pg_dump": "of PostgreSQL; tests/holdfast/test_backup_commands.py runs the documented command",
    "pg_restore": "of PostgreSQL; tests/holdfast/test_backup_commands.py runs it as well",
    "curl": "of the system; tests/holdfast/api/ asks the same addresses",
    "gh": "of GitHub; needs a release",
    "sha256sum": "of the system; `make packages` writes the file",
    "openssl": "of the system; tests/support/services/key_files.py makes the same files",
    "temporal": "of Temporal; tests/engine/control/test_payload_codec.py asks the same addresses",
    "kubectl": "needs Kubernetes",
    "helm": "needs Kubernetes; tests/test_helm_chart.py reads what the chart renders",
    "docker": "needs Docker; tests/test_compose_file.py reads the composition",
}


def test_every_setting_is_documented_with_its_default() -> None:
    page = (ROOT / "docs/settings.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", page, re.MULTILINE))

    default = Strategy().model_dump(mode="json")

    assert rows == {
        name: value if isinstance(value, str) else str(value).lower()
        for name, value in default.items()
    }


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs/cli.md").read_text()
    names = [
        info.name or info.callback.__name__ for info in app.registered_commands if info.callback
    ]

    assert [name for name in names if f"holdfast {name}" not in page] == []


def test_every_field_of_show_and_list_is_documented() -> None:
    page = (ROOT / "docs/cli.md").read_text()

    missing = [n for n in (*JobView.model_fields, *JobLine.model_fields) if n not in page]

    assert missing == []


def test_every_preset_is_in_the_readme() -> None:
    page = (ROOT / "README.md").read_text()

    assert [name for name in all_presets() if f"`{name}`" not in page] == []


def test_every_link_of_the_documentation_leads_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in documentation_pages()
        for target in LINK.findall(page.read_text())
        if not leads_somewhere(page, target)
    ]

    assert broken == []


def leads_somewhere(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    there = page.parent / path if path else page
    return there.exists() and (not anchor or anchor in anchors(there))


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs/README.md").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}

    assert sorted(page for page in pages - {"README.md"} if f"({page})" not in index) == []


def test_the_comparison_repeats_the_figures_of_the_pages_that_measured_them() -> None:
    page = (ROOT / "docs/comparison.md").read_text()
    played_jobs, performance = (
        (ROOT / f"docs/{name}.md").read_text() for name in ("played-jobs", "performance")
    )
    tokens = re.findall(r"\b\d\d,\d{3}\b", page)
    seconds = re.findall(r"\(\d\.\d\d-\d\.\d\d\)", page)

    assert (len(tokens), len(seconds)) == (4, 3)
    assert [each for each in tokens if f"| {each} |" not in played_jobs] == []
    assert [each for each in seconds if f" {each} |" not in performance] == []


def test_every_file_that_the_documentation_names_exists() -> None:
    missing = [
        f"{page.name}: {name}"
        for page in documentation_pages()
        for name in FILE_NAME.findall(page.read_text())
        if not (ROOT / name).exists()
    ]

    assert missing == []


def test_every_make_target_of_the_documentation_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    unknown = [
        str(command)
        for command in shell_commands()
        if command.words[0] == "make"
        and not re.search(rf"^{re.escape(command.words[1])}:", makefile, re.MULTILINE)
    ]

    assert unknown == []


def test_every_module_that_the_documentation_runs_exists_and_knows_the_options() -> None:
    for command in shell_commands():
        if command.words[:2] == ("python", "-m"):
            source = module_source(command.words[2])
            options = [word for word in command.words if word.startswith("--")]
            assert [option for option in options if option not in source] == [], command


def module_source(name: str) -> str:
    path = ROOT.joinpath(*name.split("."))
    return (path / "__main__.py" if path.is_dir() else path.with_suffix(".py")).read_text()


@pytest.mark.parametrize(
    "command", [c for c in shell_commands() if c.words[0] == "holdfast"], ids=str
)
@pytest.mark.slow
def test_a_holdfast_command_of_the_documentation_is_understood(command: DocumentedCommand) -> None:
    parse(command.words[1:])


@cache
def command_of_app() -> Any:
    """`holdfast` with all its commands, which take long to build."""
    return typer.main.get_command(app)


def parse(words: Sequence[str]) -> None:
    """Parse the words of a command as `holdfast` does, without running the command.

    Raises:
        click.UsageError: a command, an option or an argument is unknown, wrong or missing.
    """
    group, name = command_of_app(), "holdfast"
    context = group.make_context(name, list(words))
    while isinstance(group, typer.core.TyperGroup):
        name, found, rest = group.resolve_command(context, [*words])
        assert found is not None
        assert name is not None
        group, words = found, rest
        context = group.make_context(name, list(rest), parent=context)


@pytest.mark.slow
def test_every_command_and_option_in_running_text_exists() -> None:
    unknown = [
        f"{command}: {word}"
        for command in inline_commands()
        if command.page != "conformance.md"  # names planned commands as well
        for word in unknown_words(command)
    ]

    assert unknown == []


def unknown_words(command: DocumentedCommand) -> list[str]:
    """The name of a command that does not exist, or the options that the command does not have."""
    known = command_of_app()
    words = list(command.words[1:])
    while words and isinstance(known, typer.core.TyperGroup) and OPTION.match(words[0]) is None:
        if words[0] not in known.commands:
            return [words[0]]
        known = known.commands[words.pop(0)]
    options = {"--help", "-h"} | {name for each in known.params for name in each.opts}
    options |= {name for each in known.params for name in each.secondary_opts}
    return [name for word in words for name in OPTION.findall(word) if name not in options]


def test_every_other_command_of_the_documentation_is_a_known_exception() -> None:
    unknown = [str(c) for c in shell_commands() if c.words[0] not in TESTED | set(NOT_TESTED)]

    assert unknown == []


@pytest.mark.slow
def test_every_message_of_the_troubleshooting_page_is_one_of_the_product() -> None:
    page = (ROOT / "docs/troubleshooting.md").read_text()
    messages = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    texts = product_texts()

    assert len(messages) > 15
    assert [message for message in messages if not is_said(message, texts)] == []


def is_said(message: str, texts: list[str]) -> bool:
    """True if one text has the message; `…` in the message stands for any value."""
    pattern = re.compile(".*".join(re.escape(part) for part in message.split("…")), re.DOTALL)
    return any(pattern.search(text) for text in texts)


def product_texts() -> list[str]:
    """Every string of the product's code; a value in an f-string is a space."""
    folders = ("holdfast", "models", "planning", "roles", "storage", "tools", "activities")
    files = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return [text for path in files for text in strings_of(ast.parse(path.read_text()))]


def strings_of(tree: ast.AST) -> Iterator[str]:
    for part in ast.walk(tree):
        if isinstance(part, ast.JoinedStr):
            yield "".join(
                str(value.value) if isinstance(value, ast.Constant) else " "
                for value in part.values
            )
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
