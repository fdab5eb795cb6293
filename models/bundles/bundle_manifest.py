"""Define the manifest of a bundle, which names each file of it with size and hash."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from holdfast.models.frozen_model import Frozen

MANIFEST = "manifest.json"
SIGNATURE = "signature.json"
PAGE = "index.html"
CRATE = "ro-crate-metadata.json"


class Redaction(StrEnum):
    """What an export leaves out."""

    QUESTIONS = "questions"
    """The question, the questions to people, and their answers."""
    SOURCES = "sources"
    """The texts of sources, their quotes, and the answers of tools."""
    PROMPTS = "prompts"
    """The requests to models and their replies, and the transcripts of loops."""


class BundleFile(Frozen):
    """A file of the bundle."""

    path: str = Field(max_length=300)
    size_bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class BundleManifest(Frozen):
    """What a bundle contains; the signature signs exactly the bytes of this document."""

    format: Literal["holdfast-bundle/1"] = "holdfast-bundle/1"
    release: str = Field(max_length=100)
    """The release of Holdfast that wrote the bundle."""
    schema_revision: str = Field(pattern=r"^[0-9]{4}$")
    job_id: str = Field(min_length=1, max_length=200)
    exported_at: datetime
    redacted: tuple[Redaction, ...] = ()
    missing: tuple[str, ...] = ()
    """What could not be exported, such as a history that Temporal no longer has."""
    files: tuple[BundleFile, ...]


class BundleSignature(Frozen):
    """An Ed25519 signature of the manifest's bytes."""

    algorithm: Literal["Ed25519"] = "Ed25519"
    public_key: str = Field(max_length=100)
    """32 bytes in base64."""
    signature: str = Field(max_length=200)
    """64 bytes in base64."""


class JobImport(Frozen):
    """Where an imported job comes from."""

    bundle_sha256: str
    """The hash of the bundle's manifest."""
    job_id: str
    """The id of the job where it was exported."""
    release: str
    exported_at: datetime
    redacted: tuple[Redaction, ...] = ()
    signed_by: str = ""
    """The public key whose signature was checked, in base64; empty: the bundle is not signed."""
