"""The folder of inputs that once broke a reader, by target."""

from pathlib import Path

_INPUTS = Path(__file__).parent / "inputs"


def folder_of(target: str) -> Path:
    """The folder of the target's kept inputs; it exists only where there are some."""
    return _INPUTS / target.replace(" ", "_")


def kept_inputs(target: str) -> list[Path]:
    """The target's kept inputs by name."""
    return sorted(path for path in folder_of(target).glob("*") if path.is_file())
