"""An OpenID Connect provider over HTTP that issues tokens with real keys."""

import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.support.endpoints.hosted_app import HostedApp


class SignInProvider(HostedApp):
    """Serves its discovery document and its public keys.

    `answered` counts all requests, `asked` those for the keys.
    """

    def __init__(self) -> None:
        discovery = Route("/realm/.well-known/openid-configuration", self._discovery)
        super().__init__(Starlette(routes=[discovery, Route("/realm/keys", self._keys)]))
        self.answered = 0
        self.asked = 0
        self.is_away = False
        self.keys: dict[str, rsa.RSAPrivateKey] = {}
        self.add_key("first")

    @property
    def issuer(self) -> str:
        return f"{self.address}/realm"

    def add_key(self, name: str) -> None:
        self.keys[name] = rsa.generate_private_key(public_exponent=65_537, key_size=2048)

    def token(self, key: str = "first", **claims: Any) -> str:
        """A token for `holdfast` that is valid for five minutes, with these claims changed."""
        usual = {"iss": self.issuer, "aud": "holdfast", "sub": "maria", "exp": time.time() + 300}
        stated = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        return jwt.encode(stated, self.keys[key], "RS256", headers={"kid": key})

    async def _discovery(self, _: Request) -> JSONResponse:
        return self._answer({"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"})

    async def _keys(self, _: Request) -> JSONResponse:
        self.asked += 1
        return self._answer({"keys": [self._public(name) for name in self.keys]})

    def _answer(self, document: dict[str, Any]) -> JSONResponse:
        self.answered += 1
        return JSONResponse(document, 503 if self.is_away else 200)

    def _public(self, name: str) -> dict[str, Any]:
        public = RSAAlgorithm.to_jwk(self.keys[name].public_key(), as_dict=True)
        return {**public, "kid": name, "alg": "RS256", "use": "sig"}
