"""Define the routes by which the Temporal UI and `temporal` read encrypted payloads."""

import base64
import binascii
from collections.abc import Mapping

from fastapi import APIRouter
from pydantic import Field
from temporalio.api.common.v1 import Payload

from holdfast.api.api_context import Administrator
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.temporal.payload_codec import EncryptingCodec, payload_codec

_MOST_PAYLOADS = 1000

router = APIRouter(prefix="/codec", tags=["codec"])


class PayloadForm(Frozen):
    """A payload in the JSON form of Temporal's protocol, with bytes in Base64."""

    metadata: Mapping[str, str] = Field(default_factory=dict)
    data: str = ""


class PayloadList(Frozen):
    """Payloads, as Temporal's tools send them."""

    payloads: tuple[PayloadForm, ...] = Field(max_length=_MOST_PAYLOADS)


@router.post("/encode")
async def encode_payloads(session: Administrator, body: PayloadList) -> PayloadList:
    """The payloads encrypted, as Temporal stores them."""
    return _form(await _codec(session).encode(_payloads(body)))


@router.post("/decode")
async def decode_payloads(session: Administrator, body: PayloadList) -> PayloadList:
    """The payloads in plain text."""
    return _form(await _codec(session).decode(_payloads(body)))


def _codec(session: Administrator) -> EncryptingCodec:
    codec = payload_codec(session.holdfast.settings)
    if codec is None:
        raise BadInput("payloads are not encrypted here: HOLDFAST_PAYLOAD_KEYS is not set")
    return codec


def _payloads(body: PayloadList) -> list[Payload]:
    try:
        return [
            Payload(
                metadata={
                    name: base64.b64decode(value, validate=True)
                    for name, value in each.metadata.items()
                },
                data=base64.b64decode(each.data, validate=True),
            )
            for each in body.payloads
        ]
    except (binascii.Error, ValueError) as error:
        raise BadInput("`metadata` and `data` of a payload are bytes in Base64") from error


def _form(payloads: list[Payload]) -> PayloadList:
    return PayloadList(
        payloads=tuple(
            PayloadForm(
                metadata={
                    name: base64.b64encode(value).decode() for name, value in each.metadata.items()
                },
                data=base64.b64encode(each.data).decode(),
            )
            for each in payloads
        )
    )
