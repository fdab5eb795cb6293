"""Implement `holdfast export`, `import` and `verify`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from holdfast.bundles.bundle_check import BundleCheck, check_bundle
from holdfast.bundles.bundle_import import ImportedJob, import_bundle
from holdfast.bundles.bundle_signature import read_public_key, read_signing_key
from holdfast.bundles.bundle_writer import write_bundle
from holdfast.bundles.redaction_names import redactions
from holdfast.cli.installation_access import run_with_client, run_with_job
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.client import Holdfast
from holdfast.models.bundles.bundle_manifest import BundleManifest, Redaction
from holdfast.models.errors import BadInput


def export_command(
    job: str, out: Path | None, redact: Sequence[str], sign: Path | None, *, json_output: bool
) -> None:
    """Write the bundle; the file appears when it is whole."""
    left_out = redactions(redact)
    key = None if sign is None else read_signing_key(sign)

    async def write(holdfast: Holdfast, job_id: str) -> tuple[Path, BundleManifest]:
        path = out or Path(f"{job_id}.crate.zip")
        with _new_file(path) as file:
            manifest = await write_bundle(holdfast, job_id, file, redacted=left_out, key=key)
        return path, manifest

    path, manifest = run_with_job(job, write)
    check = check_bundle(path)
    if json_output:
        print_json({"file": str(path.absolute()), **check.model_dump(mode="json")})
        return
    print_text(f"wrote {path} ({path.stat().st_size / 1000:,.0f} KB, {check.files} files)")
    print_text(f"sha256 of its manifest: {check.sha256}")
    if manifest.redacted:
        print_text(f"left out: {', '.join(manifest.redacted)}")
    for each in manifest.missing:
        print_text(f"it is without {each}")


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name when it is whole.

    Raises:
        BadInput: the file exists already, or its folder cannot be written to.
    """
    if path.exists():
        raise BadInput(f"{str(path)!r} exists already; name another file with `-o FILE`")
    try:
        file = NamedTemporaryFile(dir=path.absolute().parent, delete=False)  # noqa: SIM115
    except OSError as error:
        raise BadInput(f"cannot write {str(path)!r}: {error.strerror}") from error
    written = Path(file.name)
    try:
        with file:
            yield file
        written.replace(path)
    finally:
        written.unlink(missing_ok=True)


def import_command(file: Path, new_id: str, key: Path | None, *, json_output: bool) -> None:
    """Store the job, and say how to look at it."""
    signed_by = "" if key is None else read_public_key(key)

    async def store(holdfast: Holdfast) -> ImportedJob:
        return await import_bundle(holdfast, file, new_id=new_id, signed_by=signed_by)

    imported = run_with_client(store)
    if json_output:
        print_json(imported)
        return
    known = "" if imported.is_new else ", which was imported before"
    print_text(f"job {imported.job_id}{known}: {imported.question}")
    print_text(f"`holdfast report {imported.job_id}` prints its report")


def verify_command(file: Path, key: Path | None, *, json_output: bool) -> None:
    """Print what the bundle contains, which has been checked."""
    check = check_bundle(file, signed_by="" if key is None else read_public_key(key))
    if json_output:
        print_json(check)
        return
    print_text(
        f"job {check.job_id} ({check.status}), exported {check.exported_at:%Y-%m-%d %H:%M %Z}"
    )
    print_text(check.question)
    print_text(checked_line(check))
    if check.redacted:
        print_text(f"left out: {', '.join(check.redacted)}")
    for each in check.missing:
        print_text(f"missing: {each}")
    signature = f"signed by {check.signed_by}" if check.signed_by else "not signed"
    print_text(f"{signature}; sha256 of its manifest: {check.sha256}")


def checked_line(check: BundleCheck) -> str:
    """Say what of the bundle was checked, and what could not be."""
    files = f"every file is as the manifest names it ({check.files:,} in all)"
    if Redaction.SOURCES in check.redacted:
        return f"{files}; sources and quotes cannot be checked, because their texts are left out"
    if not check.sources:
        return f"{files}; the job read no source"
    return (
        f"{files}; every source has the hash that it was read with ({check.sources:,}); every "
        f"quote stands in its source ({check.quotes:,})"
    )
