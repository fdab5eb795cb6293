"""An OpenID Connect provider over HTTP that issues tokens with real keys."""

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm


@dataclass
class SignInProvider:
    """Serves its discovery document and its public keys; `asked` counts requests for the keys, `answered` all."""

    asked: int = 0
    answered: int = 0
    is_away: bool = False
    keys: dict[str, rsa.RSAPrivateKey] = field(default_factory=dict)
    _server: ThreadingHTTPServer = field(init=False)

    def __enter__(self) -> Self:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answered += 1
                found = provider.document(self.path)
                body = json.dumps(found).encode()
                self.send_response(503 if provider.is_away else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.add_key("first")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/realm"

    def document(self, path: str) -> dict[str, Any]:
        if path == "/realm/.well-known/openid-configuration":
            return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"}
        if path == "/realm/keys":
            self.asked += 1
            return {"keys": [self._public(name) for name in self.keys]}
        return {}

    def add_key(self, name: str) -> None:
        self.keys[name] = rsa.generate_private_key(public_exponent=65_537, key_size=2048)

    def token(self, key: str = "first", **claims: Any) -> str:
        """A token for `holdfast` that is valid for five minutes, with these claims changed."""
        usual = {"iss": self.issuer, "aud": "holdfast", "sub": "maria", "exp": time.time() + 300}
        stated = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        return jwt.encode(stated, self.keys[key], "RS256", headers={"kid": key})

    def _public(self, name: str) -> dict[str, Any]:
        public = RSAAlgorithm.to_jwk(self.keys[name].public_key(), as_dict=True)
        return {**public, "kid": name, "alg": "RS256", "use": "sig"}
