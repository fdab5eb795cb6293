"""Tests of what `verify` says of a bundle that it has checked."""

from datetime import UTC, datetime

import pytest

from holdfast.bundles.bundle_check import BundleCheck
from holdfast.cli.commands.bundle_commands import checked_line
from holdfast.models.bundles.bundle_manifest import Redaction


@pytest.mark.parametrize(
    ("sources", "redacted", "words"),
    [
        (2, (), "every source has the hash that it was read with (2); every quote stands in its"),
        (0, (), "the job read no source"),
        (0, (Redaction.SOURCES,), "sources and quotes cannot be checked, because their texts are"),
    ],
)
def test_verify_says_what_it_could_not_check(
    sources: int, redacted: tuple[Redaction, ...], words: str
) -> None:
    check = BundleCheck(
        job_id="job-1",
        question="When?",
        status="done",
        release="1",
        exported_at=datetime(2026, 1, 1, tzinfo=UTC),
        sha256="0",
        signed_by="",
        files=3,
        size_bytes=9,
        sources=sources,
        quotes=sources,
        redacted=redacted,
        missing=(),
    )

    line = checked_line(check)

    assert words in line
    assert "0 sources" not in line
