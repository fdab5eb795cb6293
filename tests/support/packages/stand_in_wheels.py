"""Small wheels that own the same files as the wheels of other projects."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

_WHEEL = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_stand_in(folder: Path, name: str, files: Mapping[str, str]) -> Path:
    """Write the wheel of a project that consists of these files; return its path."""
    facts = f"{name.replace('-', '_')}-1.0.dist-info"
    contents = {
        **files,
        f"{facts}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{facts}/WHEEL": _WHEEL,
    }
    record = "".join(f"{path},,\n" for path in (*contents, f"{facts}/RECORD"))
    wheel = folder / f"{facts.removesuffix('.dist-info')}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in (contents | {f"{facts}/RECORD": record}).items():
            archive.writestr(path, text)
    return wheel
