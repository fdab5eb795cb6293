"""Open a bundle of foreign origin: every name, size and hash is checked before anything is used."""

import hashlib
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from holdfast.bundles.bundle_signature import is_signed_by_its_key
from holdfast.models.bundles.bundle_manifest import (
    MANIFEST,
    SIGNATURE,
    BundleFile,
    BundleManifest,
    BundleSignature,
)
from holdfast.models.errors import BadInput

MAX_FILES = 200_000
MAX_TOTAL_BYTES = 4_000_000_000
_MAX_MANIFEST_BYTES = 100_000_000
_MAX_SIGNATURE_BYTES = 10_000
_MAX_EXPANSION = 300
"""Times; a job's own text compresses far less, a bomb a thousandfold."""
_FREE_BYTES = 10_000_000
"""A small bundle may expand as it likes."""
_PART_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*){0,3}")
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What reading a damaged archive raises."""


@dataclass(frozen=True)
class Bundle:
    """A bundle whose files all have the sizes and hashes of its manifest."""

    manifest: BundleManifest
    sha256: str
    """The hash of the manifest's bytes, which stands for the whole bundle."""
    signed_by: str
    """The public key of the signature in base64; empty if the bundle is not signed."""
    archive: zipfile.ZipFile

    def has(self, path: str) -> bool:
        return path in self.archive.NameToInfo

    def read(self, path: str) -> bytes:
        """Return a file of the bundle.

        Raises:
            BadInput: the bundle has no such file.
        """
        if not self.has(path):
            raise BadInput(f"the bundle has no file {path[:200]!r}")
        return self.archive.read(path)

    def lines(self, path: str) -> Iterator[bytes]:
        """Return the lines of a file; none if the bundle has no such file."""
        if self.has(path):
            with self.archive.open(path) as file:
                yield from file


@contextmanager
def open_bundle(file: IO[bytes] | Path, *, signed_by: str = "") -> Iterator[Bundle]:
    """Open and check a bundle; with `signed_by`, this public key must have signed it.

    Raises:
        BadInput: the file is no bundle, was altered or cut, is too large, or is not signed so.
    """
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(file))
            bundle = _checked_bundle(archive, signed_by)
        except OSError as error:
            name = f" {str(file)!r}" if isinstance(file, Path) else ""
            is_missing = isinstance(error, FileNotFoundError)
            way_out = "; `holdfast export JOB` writes the bundle of a job" if is_missing else ""
            raise BadInput(
                f"cannot read the bundle{name}: {error.strerror or error}{way_out}"
            ) from error
        except _DAMAGES as error:
            raise BadInput(
                f"this is no whole bundle: it was cut off, damaged or never one ({error})"
            ) from error
        yield bundle


def _checked_bundle(archive: zipfile.ZipFile, signed_by: str) -> Bundle:
    _check_entries(archive.infolist())
    if MANIFEST not in archive.NameToInfo:
        raise BadInput(f"the file has no {MANIFEST}: `holdfast export` did not write it")
    content = _bounded(archive, MANIFEST, _MAX_MANIFEST_BYTES)
    manifest = _manifest(content)
    key = _checked_signature(archive, content, signed_by)
    _check_names(archive, manifest)
    for each in manifest.files:
        _check_file(archive, each)
    return Bundle(manifest, hashlib.sha256(content).hexdigest(), key, archive)


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    """Check what the archive says about its files before one of them is opened."""
    if len(entries) > MAX_FILES:
        raise BadInput(f"the bundle has {len(entries):,} files; at most {MAX_FILES:,} are read")
    for each in entries:
        _check_entry(each)
    if len({each.filename for each in entries}) < len(entries):
        raise BadInput("the bundle has two files of one name")
    total = sum(each.file_size for each in entries)
    packed = sum(each.compress_size for each in entries)
    if total > MAX_TOTAL_BYTES:
        raise BadInput(f"the bundle has {total:,} bytes; at most {MAX_TOTAL_BYTES:,} are read")
    if total > _FREE_BYTES and total > packed * _MAX_EXPANSION:
        raise BadInput(
            f"the bundle's {packed:,} bytes would become {total:,}: nothing of a job expands so"
        )


def _check_entry(entry: zipfile.ZipInfo) -> None:
    shown = repr(entry.filename[:120])
    if not _NAME.fullmatch(entry.filename):
        raise BadInput(f"the bundle has a file {shown}, and no bundle names a file so")
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        raise BadInput(f"{shown} in the bundle is a link or a device, and not a file")
    if entry.flag_bits & _ENCRYPTED:
        raise BadInput(f"{shown} in the bundle is encrypted")
    if entry.compress_type not in _COMPRESSIONS:
        raise BadInput(f"{shown} in the bundle is compressed in a way that no bundle uses")


def _manifest(content: bytes) -> BundleManifest:
    try:
        return BundleManifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or MANIFEST
        raise BadInput(f"the manifest of the bundle cannot be read: {where}: {first['msg']}") from (
            error
        )


def _checked_signature(archive: zipfile.ZipFile, manifest: bytes, signed_by: str) -> str:
    """Return the key that signed the manifest; empty without a signature."""
    if SIGNATURE not in archive.NameToInfo:
        if signed_by:
            raise BadInput("the bundle is not signed, and you named the key that signs it")
        return ""
    try:
        signature = BundleSignature.model_validate_json(
            _bounded(archive, SIGNATURE, _MAX_SIGNATURE_BYTES)
        )
    except ValidationError as error:
        raise BadInput("the signature of the bundle cannot be read") from error
    if not is_signed_by_its_key(manifest, signature):
        raise BadInput("the signature does not fit: the manifest was altered after it was signed")
    if signed_by and signature.public_key != signed_by:
        raise BadInput(f"the bundle is signed by another key: {signature.public_key}")
    return signature.public_key


def _check_names(archive: zipfile.ZipFile, manifest: BundleManifest) -> None:
    listed = {each.path for each in manifest.files}
    there = set(archive.NameToInfo) - {MANIFEST, SIGNATURE}
    if len(listed) != len(manifest.files):
        raise BadInput("the manifest names a file twice")
    if there - listed:
        raise BadInput(f"{min(there - listed)!r} was added: the manifest does not name it")
    if listed - there:
        raise BadInput(f"{min(listed - there)[:200]!r} is missing: the manifest names it")


def _check_file(archive: zipfile.ZipFile, expected: BundleFile) -> None:
    digest, size = hashlib.sha256(), 0
    with archive.open(expected.path) as file:
        while part := file.read(_PART_BYTES):
            size += len(part)
            if size > expected.size_bytes:
                break
            digest.update(part)
    if size != expected.size_bytes or digest.hexdigest() != expected.sha256:
        raise BadInput(f"{expected.path!r} was altered: it is not what the manifest names")


def _bounded(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    with archive.open(name) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise BadInput(f"{name} of the bundle has more than {most:,} bytes")
    return content
