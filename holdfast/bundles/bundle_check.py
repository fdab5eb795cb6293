"""Check what a bundle says: its hashes, its signature, its sources and its quotes."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from holdfast.bundles.bundle_reader import Bundle, open_bundle
from holdfast.bundles.bundle_rows import bundle_rows
from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen


class BundleCheck(Frozen):
    """What `holdfast verify` found; a bundle that is not whole is refused instead."""

    job_id: str
    question: str
    status: str
    release: str
    exported_at: datetime
    sha256: str
    """The hash of the manifest; who knows it knows every byte of the bundle."""
    signed_by: str
    """The public key of the signature in base64; empty if nobody signed the bundle."""
    files: int
    size_bytes: int
    sources: int
    """The sources whose text has the hash that the job recorded when it read them."""
    quotes: int
    """The quotes that stand in their source at their place."""
    redacted: tuple[Redaction, ...]
    missing: tuple[str, ...]


def check_bundle(file: IO[bytes] | Path, *, signed_by: str = "") -> BundleCheck:
    """Check a bundle without storing anything.

    Raises:
        BadInput: the bundle is refused; the message says why.
    """
    with open_bundle(file, signed_by=signed_by) as bundle:
        return checked_content(bundle)


def checked_content(bundle: Bundle) -> BundleCheck:
    """Check the job, the sources and the quotes in a bundle whose files are whole.

    Raises:
        BadInput: a source has not the hash of its text, or a quote does not stand in its source.
    """
    manifest = bundle.manifest
    job = next(bundle_rows(bundle, "jobs"), None)
    if job is None or job.get("id") != manifest.job_id:
        raise BadInput("the bundle does not contain the job that its manifest names")
    sources, quotes = 0, 0
    if Redaction.SOURCES not in manifest.redacted:
        sources, quotes = _checked_sources(bundle)
    return BundleCheck(
        job_id=manifest.job_id,
        question=str(job.get("question")),
        status=str(job.get("status")),
        release=manifest.release,
        exported_at=manifest.exported_at,
        sha256=bundle.sha256,
        signed_by=bundle.signed_by,
        files=len(manifest.files),
        size_bytes=sum(each.size_bytes for each in manifest.files),
        sources=sources,
        quotes=quotes,
        redacted=manifest.redacted,
        missing=manifest.missing,
    )


def _checked_sources(bundle: Bundle) -> tuple[int, int]:
    """Return how many sources have the hash of their text, and how many quotes stand in theirs.

    The quotes are kept and one text at a time is read: the texts may be as large as a bundle.
    """
    quotes = _quotes(bundle)
    number, found = 0, set[str]()
    for row in bundle_rows(bundle, "sources"):
        number += 1
        text, source = str(row.get("text", "")), str(row.get("id"))
        if hashlib.sha256(text.encode()).hexdigest() != row.get("sha256"):
            raise BadInput(f"the text of source {source} has not the hash that it was read with")
        for quote in quotes.get(source, ()):
            if text[quote.start : quote.end] != quote.text:
                raise _no_quote(quote)
        found.add(source)
    for source in quotes.keys() - found:
        raise _no_quote(quotes[source][0])
    return number, sum(map(len, quotes.values()))


class _Quote(NamedTuple):
    evidence: Any
    start: int
    end: int
    text: Any


def _quotes(bundle: Bundle) -> Mapping[str, Sequence[_Quote]]:
    """Return the quotes of each source by its number."""
    quotes = defaultdict[str, list[_Quote]](list)
    for row in bundle_rows(bundle, "evidence"):
        start, end = row.get("start_char"), row.get("end_char")
        if not (isinstance(start, int) and isinstance(end, int)):
            raise BadInput(f"evidence {row.get('id')} has no place in its source")
        quote = _Quote(row.get("id"), start, end, row.get("quote"))
        quotes[str(row.get("source_id"))].append(quote)
    return quotes


def _no_quote(quote: _Quote) -> BadInput:
    return BadInput(f"the quote of evidence {quote.evidence} does not stand in its source")
