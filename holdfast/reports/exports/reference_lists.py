"""Write the cited documents as CSL-JSON, RIS or BibTeX, for reference managers."""

import json
import re
from datetime import date
from typing import Any, NamedTuple

from holdfast.models.evidence.evidence import Report
from holdfast.models.text.terminal_text import single_line
from holdfast.reports.source_list import CitedDocument, cited_documents

_BIBTEX_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


class _Reference(NamedTuple):
    """A cited document as a reference manager knows it."""

    key: str
    title: str
    address: str
    is_on_the_web: bool
    issued: tuple[int, ...]
    """Year, month and day, as far as they are known."""
    read_on: date | None
    note: str


def to_csl_json(report: Report) -> str:
    """Return the cited documents as CSL-JSON, which Zotero, Pandoc and others read."""
    items: list[dict[str, Any]] = []
    for each in _references(report):
        item: dict[str, Any] = {
            "id": each.key,
            "type": "webpage" if each.is_on_the_web else "document",
            "title": each.title,
            "note": each.note,
        }
        item |= {"URL": each.address} if each.is_on_the_web else {"archive_location": each.address}
        if each.issued:
            item["issued"] = {"date-parts": [list(each.issued)]}
        if each.read_on is not None:
            on = each.read_on
            item["accessed"] = {"date-parts": [[on.year, on.month, on.day]]}
        items.append(item)
    return json.dumps(items, ensure_ascii=False, indent=2) + "\n"


def to_ris(report: Report) -> str:
    """Return the cited documents as RIS, which EndNote, Zotero and Mendeley read."""
    lines = []
    for each in _references(report):
        fields = [
            ("TY", "ELEC" if each.is_on_the_web else "GEN"),
            ("ID", each.key),
            ("TI", each.title),
            # A place in an archive, such as a file of a collection, is no address to open.
            ("UR" if each.is_on_the_web else "AV", each.address),
            ("PY", str(each.issued[0]) if each.issued else ""),
            ("DA", "/".join(f"{part:02}" for part in each.issued)),
            ("Y2", f"{each.read_on:%Y/%m/%d}" if each.read_on else ""),
            ("N1", each.note),
            ("ER", ""),
        ]
        lines += [f"{tag}  - {text}" for tag, text in fields if text or tag == "ER"]
        lines.append("")
    return "\n".join(lines) + "\n" if lines else ""


def to_bibtex(report: Report) -> str:
    """Return the cited documents as BibTeX in UTF-8, as biber and recent LaTeX read it."""
    entries = []
    for each in _references(report):
        fields = {
            # Braces keep the capitals of names.
            "title": f"{{{_escaped(each.title)}}}",
            "year": str(each.issued[0]) if each.issued else "",
            "date": "-".join(f"{part:02}" for part in each.issued),
            "url": each.address.replace("{", "%7B").replace("}", "%7D")
            if each.is_on_the_web
            else "",
            "howpublished": "" if each.is_on_the_web else _escaped(each.address),
            "urldate": f"{each.read_on:%Y-%m-%d}" if each.read_on and each.is_on_the_web else "",
            "note": _escaped(each.note),
        }
        lines = [f"  {name} = {{{text}}}" for name, text in fields.items() if text]
        kind = "online" if each.is_on_the_web else "misc"
        entries.append(f"@{kind}{{{each.key},\n" + ",\n".join(lines) + "\n}\n")
    return "\n".join(entries)


def _references(report: Report) -> list[_Reference]:
    cited = [each for each in cited_documents(report) if not each.citations[0].is_calculation]
    return [_reference(at, document) for at, document in enumerate(cited, start=1)]


def _reference(at: int, document: CitedDocument) -> _Reference:
    first = document.citations[0]
    known = _DATE.match(first.date)
    marks = ", ".join(f"[{each.mark}]" for each in document.citations)
    return _Reference(
        key=f"source{at}",
        title=single_line(document.title) or single_line(first.address),
        address=document.link or single_line(first.address),
        is_on_the_web=bool(document.link),
        issued=tuple(int(part) for part in known.groups() if part) if known else (),
        read_on=first.fetched_at.date() if first.fetched_at else None,
        note=f"Cited as {marks}; SHA-256 of the passage {first.sha256}",
    )


def _escaped(text: str) -> str:
    return "".join(_BIBTEX_SIGNS.get(sign, sign) for sign in text)
