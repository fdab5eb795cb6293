"""Write the table of the rows that held while somebody tried to break them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.breakages.breakage_list import ROOT, Breakage
from tests.breakages.caught_records import CaughtRecord
from tests.support.conformance_run import states_by_row

PAGE = ROOT / "docs/broken-on-purpose.md"
_BEGIN, _END = "<!-- by python -m tests.breakages --record -->", "<!-- end -->"
_SUBJECTS = ("KPI", "HZN", "TDP", "VMAO", "WAVE", "MOD", "LOOP", "REP")
"""The rows of the papers, of models, loops and reports."""


def rows_of_page() -> list[str]:
    """The rows that the page is about, in the order of the conformance list."""
    known = states_by_row(ROOT / "docs/conformance.md")
    return [row for row in known if row.partition("-")[0] in _SUBJECTS]


def renewed_page(
    page: str, breakages: Sequence[Breakage], records: Mapping[str, CaughtRecord]
) -> str:
    """Return the page with the sums and the table of these records."""
    rows = rows_of_page()
    tried = [each for each in breakages if each.name in records and each.row in rows]
    head, _, rest = page.partition(_BEGIN)
    table = "\n".join(_table_lines(tried, records, rows))
    sums = _sums([each for each in breakages if each.row in rows], records, rows)
    return f"{head}{_BEGIN}\n\n{sums}\n\n{table}\n\n{_END}{rest.partition(_END)[2]}"


def renew_page(breakages: Sequence[Breakage], records: Mapping[str, CaughtRecord]) -> None:
    """Write the sums and the table of these records into the page."""
    PAGE.write_text(renewed_page(PAGE.read_text(), breakages, records))


def without_sums(page: str) -> str:
    """Return the page without the line that a new fault, which nobody has recorded, changes."""
    lines = page.splitlines()
    return "\n".join(line for line in lines if " rows HELD." not in line)


def _sums(
    listed: Sequence[Breakage], records: Mapping[str, CaughtRecord], rows: Sequence[str]
) -> str:
    """Say how many rows held, and name the others; a row holds with every fault of the list."""
    tried = [each for each in listed if each.name in records]
    missed = {each.row for each in tried if not records[each.name].caught_by}
    left = {each.row for each in listed if each.name not in records}
    seen = {each.row for each in tried}
    held = sum(row in seen - missed - left for row in rows)
    sentences = [f"{len(tried)} faults were tried. {held} of {len(rows)} rows HELD."]
    for label, names in (
        ("Not held", [row for row in rows if row in missed]),
        ("Noticed so far, with faults left to try", [r for r in rows if r in seen & left - missed]),
        ("Not tried", [row for row in rows if row not in seen]),
    ):
        sentences += [f"{label}: {', '.join(names)}."] if names else []
    return " ".join(sentences)


def _table_lines(
    tried: Iterable[Breakage], records: Mapping[str, CaughtRecord], rows: Sequence[str]
) -> Iterator[str]:
    """Yield the rows in their order, a line for each fault."""
    yield "| row | fault | what was broken | caught by |"
    yield "| --- | --- | --- | --- |"
    for each in sorted(tried, key=lambda one: rows.index(one.row)):
        broken = " ".join(each.breaks.split()).replace("|", "\\|")
        yield f"| {each.row} | `{each.name}` | {broken} | {_test(records[each.name].caught_by)} |"


def _test(caught_by: str) -> str:
    path, _, name = caught_by.rpartition("::")
    return f"`{Path(path).name}`, `{name}`" if name else "**nothing**"
