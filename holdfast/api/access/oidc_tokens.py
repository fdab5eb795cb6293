"""Check the tokens (JWT) of an OpenID Connect provider, and say who sends them.

The provider's public keys are fetched when a token needs them, and kept for `_KEPT_S`. After a
token with an unknown key the keys are fetched again, at most once in `_FETCH_AGAIN_AFTER_S`, and
after a failure at most once in `_TRY_AGAIN_AFTER_S`: a provider may rotate its keys, and nobody can
make this server flood the provider. Only algorithms with a public key are accepted (RFC 8725,
3.1).
"""

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import jwt

from holdfast.api.access.access_errors import KeyMissing
from holdfast.api.access.callers import Caller
from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.oidc_config import OidcConfig
from holdfast.models.errors import ServiceDown

_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
_LEEWAY_S = 60
"""The clocks of provider and server may differ by this."""
_FETCH_AGAIN_AFTER_S = 60
_TRY_AGAIN_AFTER_S = 10
_KEPT_S = 3600
"""A key that the provider withdraws is believed for this long at most, unless it is away."""
_TIMEOUT_S = 10
_MAX_BYTES = 1_000_000
_DISCOVERY = "/.well-known/openid-configuration"
_SCOPE_PREFIX = "holdfast:"
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")


def is_jwt(given: str) -> bool:
    """True if a bearer token has the three parts of a JWT, which no API key has."""
    return given.count(".") == 2


@dataclass
class OidcTokens:
    """Checks the tokens of one provider."""

    config: OidcConfig
    clock: Callable[[], float] = time.monotonic
    _keys: dict[str, jwt.PyJWK] = field(default_factory=dict)
    _asked_at: float | None = None
    """When the provider was last asked, whether or not it answered."""
    _failure: ServiceDown | None = None
    """How the last question ended, if badly."""
    _fetching: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def caller_of(self, token: str) -> Caller:
        """Return the sender of a request with this token.

        Raises:
            KeyMissing: the token is not valid here; says why.
            ServiceDown: the provider's keys cannot be fetched.
        """
        try:
            key = await self._key(str(jwt.get_unverified_header(token).get("kid", "")))
            claims = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                audience=self.config.audience,
                issuer=self.config.issuer,
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            raise KeyMissing(
                f"this token of {self.config.issuer} is not valid ({error}); get a new one for the "
                f"audience {self.config.audience!r}"
            ) from None
        owner = self._owner(claims)
        return Caller(owner, owner, self._scopes(claims), f"oidc:{owner}")

    def _owner(self, claims: Mapping[str, Any]) -> str:
        name = claims.get(self.config.owner_claim)
        owner = f"{self.config.owner_prefix}{name}"
        if not isinstance(name, str) or not name or not _OWNER.fullmatch(owner):
            raise KeyMissing(
                f"the claim {self.config.owner_claim!r} of this token is no name of an owner "
                "(letters, digits and . _ @ + -, at most 100 characters); the operator names "
                "another claim as owner_claim below [oidc] in holdfast.toml"
            )
        return owner

    def _scopes(self, claims: Mapping[str, Any]) -> frozenset[Scope]:
        stated = claims.get(self.config.scope_claim, "")
        words = stated.split() if isinstance(stated, str) else stated
        words = words if isinstance(words, list) else []
        named = {f"{_SCOPE_PREFIX}{scope.value}": scope for scope in Scope}
        given = {named[word] for word in words if isinstance(word, str) and word in named}
        return frozenset(given or self.config.default_scopes)

    async def _key(self, key_id: str) -> jwt.PyJWK:
        if self._needs_fetch(key_id):
            async with self._fetching:
                if self._needs_fetch(key_id):
                    await self._fetch()
        if key_id in self._keys:
            return self._keys[key_id]
        if self._failure is not None:
            raise self._failure
        raise jwt.InvalidKeyError(f"the provider has no key {key_id[:100]!r}")

    def _needs_fetch(self, key_id: str) -> bool:
        if self._asked_at is None:
            return True
        age_s = self.clock() - self._asked_at
        if self._failure is not None:
            is_known = key_id in self._keys
            return age_s > (_FETCH_AGAIN_AFTER_S if is_known else _TRY_AGAIN_AFTER_S)
        return age_s > _KEPT_S or (key_id not in self._keys and age_s > _FETCH_AGAIN_AFTER_S)

    async def _fetch(self) -> None:
        """Ask for the keys; a failure leaves the known ones."""
        self._asked_at = self.clock()
        try:
            self._keys = await self._fetched()
            self._failure = None
        except ServiceDown as error:
            self._failure = error

    async def _fetched(self) -> dict[str, jwt.PyJWK]:
        async with httpx2.AsyncClient(timeout=_TIMEOUT_S, follow_redirects=False) as client:
            url = self.config.jwks_url
            if url is None:
                address = self.config.issuer.rstrip("/") + _DISCOVERY
                url = _keys_address(await _document(client, address), self.config.issuer, address)
            found = await _document(client, url)
        try:
            usable = jwt.PyJWKSet.from_dict(found).keys
        except (jwt.PyJWKSetError, AttributeError, TypeError) as error:
            raise ServiceDown(f"{url} has no keys that can be used ({error})") from error
        return {key.key_id or "": key for key in usable}


def _keys_address(discovered: Mapping[str, Any], issuer: str, address: str) -> str:
    """Return where the keys are.

    Raises:
        ServiceDown: the document is not the issuer's (OpenID Connect Discovery, 4.3).
    """
    url = discovered.get("jwks_uri")
    if discovered.get("issuer") != issuer or not isinstance(url, str):
        raise ServiceDown(
            f"{address} is not the discovery document of {issuer!r}; correct issuer below [oidc] "
            "in holdfast.toml"
        )
    return url


async def _document(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    try:
        async with client.stream("GET", url) as answer:
            answer.raise_for_status()
            body = b""
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > _MAX_BYTES:
                    raise ServiceDown(f"{url} sends more than {_MAX_BYTES:,} bytes")
        document = json.loads(body)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise ServiceDown(
            f"the sign-in provider does not answer at {url} ({type(error).__name__}); try again "
            "later, or use an API key"
        ) from error
    if not isinstance(document, dict):
        raise ServiceDown(f"{url} is no JSON object")
    return document
