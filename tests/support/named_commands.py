"""The commands that texts of the shared floors name, for tests of the interfaces that name none."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_SHARED = (
    "holdfast/*",
    "planning",
    "storage",
    "tools",
    "activities",
    "workflows",
    "models",
    "roles",
)
_OTHER_FACES = {"cli", "web", "mcp_server", "python_client", "temporal_ui", "services"}
"""They answer people and hosts, who run commands and call tools."""
_NO_ERRORS = {
    "holdfast/jobs/current_status.py",
    "holdfast/reports/exports/word_document.py",
    "holdfast/bundles/bundle_reader.py",
    "holdfast/records/bundle_replay.py",
}
"""They say it in the status of a job, or only to the command line."""
_COMMAND = re.compile(r"`holdfast [a-z][^`]*`")


def named_commands() -> set[str]:
    """Every command in backticks that an error may name."""
    return set().union(*commands_by_module().values())


def commands_by_module() -> dict[str, set[str]]:
    """The commands in backticks that texts of shared modules name, by the module's path."""
    found = {str(each.relative_to(_ROOT)): set(_commands(each)) for each in _shared_sources()}
    return {module: commands for module, commands in found.items() if commands}


def _shared_sources() -> Iterator[Path]:
    for pattern in _SHARED:
        for folder in _ROOT.glob(pattern):
            if folder.name in _OTHER_FACES or (folder.is_symlink() and folder.parent != _ROOT):
                continue
            sources = folder.rglob("*.py") if folder.is_dir() else [folder]
            for source in sources:
                if str(source.relative_to(_ROOT)) not in _NO_ERRORS:
                    yield source


def _commands(source: Path) -> Iterator[str]:
    """Yield the commands that texts of the module name, other than its docstrings."""
    tree = ast.parse(source.read_text()) if source.suffix == ".py" else ast.Module([], [])
    spoken = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for part in ast.walk(tree):
        is_text = isinstance(part, ast.Constant) and isinstance(part.value, str)
        if id(part) in spoken or not (is_text or isinstance(part, ast.JoinedStr)):
            continue
        yield from _COMMAND.findall(ast.unparse(part))
