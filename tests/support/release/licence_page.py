"""Write the licences of the locked packages into docs/licences.md: `make licences`."""

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "licences.md"
_FIRST, _LAST = "<!-- made by `make licences` -->\n", "<!-- end -->\n"
_PIN = re.compile(r"^([a-z0-9-]+)==[^ ;]+(?: ; ([^\\]+))?", re.MULTILINE)
_LONGEST = 60
"""A longer field `License` is the text of a licence, and no name."""


def locked_packages(lock: str) -> dict[str, str]:
    """Return the packages of a lock file, each with the systems for which it is locked."""
    found = _PIN.findall((ROOT / lock).read_text())
    return {name: marker.strip() for name, marker in found}


def declared_licence(package: Distribution) -> str:
    """Return the licence as the package's metadata name it; empty if the metadata name none.

    The field of PEP 639 comes first, then the classifiers, then the older free text.
    """
    fields = package.metadata
    if expression := fields.get("License-Expression"):  # type: ignore[attr-defined]
        return str(expression)
    classified = [
        each.rpartition(" :: ")[2].removesuffix(" License")
        for each in fields.get_all("Classifier") or []
        if each.startswith("License :: ") and not each.endswith("OSI Approved")
    ]
    text = str(fields.get("License") or "").strip()  # type: ignore[attr-defined]
    named = text if len(text) <= _LONGEST and "\n" not in text else ""
    return " OR ".join(sorted(classified)) or named


def licence_rows() -> list[tuple[str, str, str]]:
    """Return name, licence and use of each package that an installation may contain.

    A package that is locked for other systems only is named with these systems.
    """
    plain, every = locked_packages("requirements.lock"), locked_packages("requirements-all.lock")
    rows = []
    for name, marker in sorted(every.items()):
        use = "always" if name in plain else "optional part"
        try:
            rows.append((name, declared_licence(distribution(name)), use))
        except PackageNotFoundError:
            rows.append((name, f"not read: installed where `{marker}`", use))
    return rows


def page_text() -> str:
    """Return the page as it has to be: what people wrote, and today's table."""
    before, _, rest = PAGE.read_text().partition(_FIRST)
    after = rest.partition(_LAST)[2]
    rows = "".join(f"| {' | '.join(row)} |\n" for row in licence_rows())
    table = f"| package | licence | installed |\n| --- | --- | --- |\n{rows}"
    return f"{before}{_FIRST}\n{table}\n{_LAST}{after}"


if __name__ == "__main__":
    PAGE.write_text(page_text())
