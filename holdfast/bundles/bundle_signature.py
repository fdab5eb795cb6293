"""Sign the manifest of a bundle with an Ed25519 key, and check such a signature."""

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.models.bundles.bundle_manifest import BundleSignature
from holdfast.models.errors import BadInput

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_MAX_KEY_BYTES = 10_000


def read_signing_key(path: Path) -> "Ed25519PrivateKey":
    """Return the private key of a PEM file, as `openssl genpkey -algorithm ed25519` writes it.

    Raises:
        BadInput: the file cannot be read, or contains no Ed25519 key without a password.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(_key_bytes(path), password=None)
    except (ValueError, TypeError) as error:
        raise BadInput(_no_key(path, "private")) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise BadInput(_no_key(path, "private"))
    return key


def read_public_key(path: Path) -> str:
    """Return the public key of a PEM file in base64.

    Raises:
        BadInput: the file cannot be read, or contains no public Ed25519 key.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(_key_bytes(path))
    except ValueError as error:
        raise BadInput(_no_key(path, "public")) from error
    if not isinstance(key, Ed25519PublicKey):
        raise BadInput(_no_key(path, "public"))
    return base64.b64encode(key.public_bytes_raw()).decode()


def sign_manifest(manifest: bytes, key: "Ed25519PrivateKey") -> BundleSignature:
    return BundleSignature(
        public_key=base64.b64encode(key.public_key().public_bytes_raw()).decode(),
        signature=base64.b64encode(key.sign(manifest)).decode(),
    )


def is_signed_by_its_key(manifest: bytes, signature: BundleSignature) -> bool:
    """True if the signature fits the manifest's bytes and the key that it names."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(
            base64.b64decode(signature.public_key, validate=True)
        )
        key.verify(base64.b64decode(signature.signature, validate=True), manifest)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True


def _key_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_KEY_BYTES)
    except OSError as error:
        raise BadInput(f"cannot read the key {str(path)!r}: {error.strerror}") from error


def _no_key(path: Path, kind: str) -> str:
    return (
        f"{str(path)!r} contains no {kind} Ed25519 key; `openssl genpkey -algorithm ed25519 -out "
        "key.pem` makes a pair, and `openssl pkey -in key.pem -pubout` prints its public key"
    )
