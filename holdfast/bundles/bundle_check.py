"""Check what a bundle says: its hashes, its signature, its sources and its quotes."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any

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
        texts = _checked_sources(bundle)
        sources, quotes = len(texts), _checked_quotes(bundle, texts)
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


def _checked_sources(bundle: Bundle) -> dict[Any, str]:
    """Return the text of each source by its number."""
    texts: dict[Any, str] = {}
    for row in bundle_rows(bundle, "sources"):
        text = str(row.get("text", ""))
        if hashlib.sha256(text.encode()).hexdigest() != row.get("sha256"):
            raise BadInput(
                f"the text of source {row.get('id')} has not the hash that it was read with"
            )
        texts[row.get("id")] = text
    return texts


def _checked_quotes(bundle: Bundle, texts: Mapping[Any, str]) -> int:
    """Return how many quotes stand in their sources."""
    number = 0
    for row in bundle_rows(bundle, "evidence"):
        number += 1
        start, end = row.get("start_char"), row.get("end_char")
        text = texts.get(row.get("source_id"), "")
        is_place = isinstance(start, int) and isinstance(end, int)
        if not is_place or text[start:end] != row.get("quote"):
            raise BadInput(f"the quote of evidence {row.get('id')} does not stand in its source")
    return number
