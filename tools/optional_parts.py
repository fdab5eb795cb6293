"""Say whether an optional part of Holdfast is installed, and which command installs it.

The parts are the extras of `pyproject.toml`: a plain installation leaves them out.
"""

from collections.abc import Mapping
from enum import StrEnum
from importlib.util import find_spec

from holdfast.models.errors import PartMissing


class OptionalPart(StrEnum):
    """The extras that users install by name."""

    CHARTS = "charts"
    DOCUMENTS = "documents"
    OBSERVABILITY = "observability"
    PDF = "pdf"
    PYTHON = "python"
    SEMANTIC = "semantic"
    TABLES = "tables"
    WEB = "web"


_MODULES: Mapping[OptionalPart, tuple[str, ...]] = {
    OptionalPart.CHARTS: ("vl_convert",),
    OptionalPart.DOCUMENTS: ("defusedxml", "docx", "openpyxl", "pptx", "pypdf"),
    OptionalPart.OBSERVABILITY: (
        "opentelemetry.exporter.otlp.proto.http",
        "opentelemetry.sdk",
        "prometheus_client",
    ),
    OptionalPart.PDF: ("typst",),
    OptionalPart.PYTHON: ("pydantic_monty",),
    OptionalPart.SEMANTIC: ("numpy", "safetensors", "threadpoolctl", "tokenizers"),
    OptionalPart.TABLES: ("duckdb",),
    OptionalPart.WEB: ("protego", "trafilatura"),
}


def is_installed(part: OptionalPart) -> bool:
    """Return True if all modules of the part can be imported; imports none of them."""
    return all(map(_can_be_imported, _MODULES[part]))


def _can_be_imported(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package above the module is missing
        return False


def missing_part_message(part: OptionalPart, use: str) -> str:
    """Return that `use`, such as "drawing charts", needs the part, and how to install it."""
    return f"{use} needs the part {part.value!r}: {install_command(part)}"


def install_command(part: OptionalPart) -> str:
    """Return the command that installs the part."""
    return f"pip install 'holdfast[{part.value}]'"


def require_part(part: OptionalPart, use: str) -> None:
    """Check that the part is installed before it is used.

    Raises:
        PartMissing: the part is not installed; the message says how to install it.
    """
    if not is_installed(part):
        raise PartMissing(missing_part_message(part, use))
