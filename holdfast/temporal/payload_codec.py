"""Encrypt every payload that leaves for Temporal, so that Temporal reads nothing of a job."""

from collections.abc import Sequence
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
)

from holdfast.settings import Settings
from holdfast.temporal.payload_keyring import PayloadKeyring, read_keyring

_ENCODING = b"binary/encrypted"
_KEY_FIELD = "holdfast-key"


class EncryptingCodec(PayloadCodec):
    """Encrypts payloads with the first key of the keyring; a payload names its key.

    Payloads without our mark, from before the codec was turned on, are passed as they are.
    """

    def __init__(self, keyring: PayloadKeyring) -> None:
        self.keyring = keyring

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return the payloads encrypted; an encrypted payload is not encrypted again."""
        return [each if _is_encrypted(each) else self._encrypted(each) for each in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Return the payloads as they were.

        Raises:
            BadConfiguration: a payload's key is missing, or the payload was changed.
        """
        return [self._decrypted(each) if _is_encrypted(each) else each for each in payloads]

    def _encrypted(self, payload: Payload) -> Payload:
        name = self.keyring.current
        return Payload(
            metadata={"encoding": _ENCODING, _KEY_FIELD: name.encode()},
            data=self.keyring.encrypt(payload.SerializeToString()),
        )

    def _decrypted(self, payload: Payload) -> Payload:
        name = payload.metadata[_KEY_FIELD].decode(errors="replace")
        return Payload.FromString(self.keyring.decrypt(name, payload.data))


def payload_codec(settings: Settings) -> EncryptingCodec | None:
    """Return the codec of the installation; None if the settings have no keys.

    Raises:
        BadConfiguration: the keys cannot be used.
    """
    if settings.payload_keys is None:
        return None
    return EncryptingCodec(read_keyring(settings.payload_keys.get_secret_value()))


def data_converter(settings: Settings) -> DataConverter:
    """Return the converter of all payloads; with a codec, errors are encrypted as well.

    Raises:
        BadConfiguration: the keys cannot be used.
    """
    codec = payload_codec(settings)
    if codec is None:
        return pydantic_data_converter
    changed: dict[str, Any] = {
        "payload_codec": codec,
        "failure_converter_class": DefaultFailureConverterWithEncodedAttributes,
    }
    return DataConverter(
        payload_converter_class=pydantic_data_converter.payload_converter_class, **changed
    )


def _is_encrypted(payload: Payload) -> bool:
    return payload.metadata.get("encoding") == _ENCODING
