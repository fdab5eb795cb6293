"""Tests for requests with a token of an OpenID Connect provider instead of an API key."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from holdfast.api.access.access_errors import KeyMissing
from holdfast.api.access.oidc_tokens import OidcTokens
from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.oidc_config import OidcConfig
from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.storage.jobs.job_rows import find_job_owner
from tests.support.endpoints.sign_in_provider import SignInProvider
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow

QUESTION = {"question": "Who built the pier?"}


@pytest.fixture
def provider() -> Iterator[SignInProvider]:
    with SignInProvider() as provider:
        yield provider


@pytest.fixture
def tokens(provider: SignInProvider) -> OidcTokens:
    return OidcTokens(OidcConfig(issuer=provider.issuer, audience="holdfast"))


@pytest.fixture
def serving(
    idle_engine: RunningEngine, provider: SignInProvider, tmp_path: Path
) -> Iterator[HttpService]:
    file = tmp_path / "holdfast.toml"
    file.write_text(f'[oidc]\nissuer = "{provider.issuer}"\naudience = "holdfast"\n')
    settings = idle_engine.holdfast.settings.model_copy(update={"config_file": file})
    with HttpService(replace(idle_engine.holdfast, settings=settings), writes=True) as serving:
        yield serving


async def asked(
    serving: HttpService, token: str, method: str, path: str, **more: Any
) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as client:
        return await client.request(method, f"{serving.url}/v1{path}", **more)


async def test_a_token_asks_for_its_owner_who_sees_nothing_of_another(
    serving: HttpService, provider: SignInProvider
) -> None:
    marias, ottos = provider.token(), provider.token(sub="otto")

    submitted = await asked(serving, marias, "POST", "/jobs", json=QUESTION)
    assert submitted.status_code == 202, submitted.text
    job = submitted.json()["job_id"]

    assert (await asked(serving, marias, "GET", f"/jobs/{job}")).status_code == 200
    assert await find_job_owner(serving.holdfast.db, job) == "oidc.maria"
    assert (await asked(serving, ottos, "GET", f"/jobs/{job}")).status_code == 404
    assert (await asked(serving, ottos, "GET", "/jobs")).json() == []
    # A provider's user is no administrator, whatever the user is called.
    root = provider.token(sub=serving.holdfast.settings.home.owner())
    assert (await asked(serving, root, "GET", "/jobs")).json() == []
    assert (await asked(serving, root, "GET", "/keys")).status_code == 403


async def test_a_browser_cannot_sign_in_with_a_token(
    serving: HttpService, provider: SignInProvider
) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        answer = await client.post(
            f"{serving.url}/sign-in",
            data={"key": provider.token(), "to": "/"},
            headers={"Sec-Fetch-Site": "same-origin"},
        )

    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "signs in with an API key" in answer.text


async def test_scopes_are_those_that_the_token_names(
    tokens: OidcTokens, provider: SignInProvider
) -> None:
    async def scopes(**claims: Any) -> set[str]:
        return {scope.value for scope in (await tokens.caller_of(provider.token(**claims))).scopes}

    assert await scopes() == {"read", "ask", "steer"}
    assert await scopes(scope=None) == {"read", "ask", "steer"}
    assert await scopes(scope=7) == {"read", "ask", "steer"}
    assert await scopes(scope="openid email") == {"read", "ask", "steer"}
    assert await scopes(scope="openid holdfast:read") == {"read"}
    assert await scopes(scope=["holdfast:admin", 7, "holdfast:odd"]) == {"admin"}


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": -3600}, "expired"),
        ({"exp": None}, "exp"),
        ({"nbf": 36_000}, "not yet valid"),
        ({"aud": "another"}, "udience"),
        ({"aud": None}, "aud"),
        ({"iss": "https://elsewhere.example.org"}, "ssuer"),
        ({"sub": "a/b"}, "no name of an owner"),
        ({"sub": ""}, "no name of an owner"),
        ({"sub": None}, "no name of an owner"),
        ({"sub": "m" * 101}, "no name of an owner"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_a_token_that_does_not_hold_is_refused_with_the_reason(
    tokens: OidcTokens, provider: SignInProvider, claims: dict[str, Any], reason: str
) -> None:
    now = time.time()  # not in the parameters: each process of a run must name tests alike
    stated = {n: now + v if isinstance(v, int) else v for n, v in claims.items()}

    with pytest.raises(KeyMissing, match=reason):
        await tokens.caller_of(provider.token(**stated))


async def test_a_forged_token_is_refused(tokens: OidcTokens, provider: SignInProvider) -> None:
    claims = jwt.decode(provider.token(), options={"verify_signature": False})
    headers = {"kid": "first"}
    another = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    public = provider.keys["first"].public_key()
    known = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, body, signature = provider.token().split(".")
    forged = [
        jwt.encode(claims, another, "RS256", headers=headers),
        jwt.encode(claims, "", "none", headers=headers),
        # The public key as the secret of a symmetric algorithm.
        _signed_with_public_key(claims, known, headers),
        f"{head}.{body[:-4]}AAAA.{signature}",
        "..",
        "a.b.c",
    ]

    for token in forged:
        with pytest.raises(KeyMissing, match="is not valid"):
            await tokens.caller_of(token)


async def test_a_rotated_key_is_fetched_and_unknown_keys_do_not_flood_the_provider(
    tokens: OidcTokens, provider: SignInProvider
) -> None:
    now = 1_000.0
    tokens.clock = lambda: now
    await tokens.caller_of(provider.token())
    provider.add_key("second")
    for _ in range(5):
        with pytest.raises(KeyMissing, match="has no key 'second'"):
            await tokens.caller_of(provider.token("second"))
    assert provider.asked == 1

    now += 61
    await tokens.caller_of(provider.token("second"))
    await tokens.caller_of(provider.token("first"))

    assert provider.asked == 2


async def test_a_provider_that_is_away_is_no_wrong_key(
    tokens: OidcTokens, provider: SignInProvider
) -> None:
    now = 1_000.0
    tokens.clock = lambda: now
    token = provider.token()
    provider.is_away = True
    for _ in range(5):
        with pytest.raises(ServiceDown, match="try again later, or use an API key"):
            await tokens.caller_of(token)
    assert provider.answered == 1, "tokens that nobody signed must not flood the provider"

    provider.is_away = False
    now += 11
    assert Scope.ASK in (await tokens.caller_of(token)).scopes


async def test_a_withdrawn_key_is_not_believed_for_ever(
    tokens: OidcTokens, provider: SignInProvider
) -> None:
    now = 1_000.0
    tokens.clock = lambda: now
    provider.add_key("second")
    token = provider.token("second", exp=time.time() + 36_000)
    await tokens.caller_of(token)
    withdrawn = provider.keys.pop("second")
    await tokens.caller_of(token)

    now += 3_601
    with pytest.raises(KeyMissing, match="has no key 'second'"):
        await tokens.caller_of(token)

    # While the provider is away, the keys that are known stay.
    provider.keys["second"] = withdrawn
    now += 61
    await tokens.caller_of(token)
    provider.is_away = True
    now += 3_601
    await tokens.caller_of(token)


async def test_the_discovery_document_of_another_issuer_is_refused(
    provider: SignInProvider,
) -> None:
    tokens = OidcTokens(OidcConfig(issuer=f"{provider.issuer}/", audience="holdfast"))

    with pytest.raises(ServiceDown, match="correct issuer below"):
        await tokens.caller_of(provider.token())


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ('issuer = "https://a.example"', "oidc.audience: Field required"),
        ('issuer = "http://a.example"\naudience = "h"', "oidc.issuer: .*write for example"),
        ('issuer = "https://a.example"\naudience = "h"\nsecret = "x"', "not a known key"),
        (
            'issuer = "https://a.example"\naudience = "h"\ndefault_scopes = ["all"]',
            "oidc.default_scopes: .*write for example",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, lines: str, reason: str) -> None:
    from holdfast.configuration.http_settings import read_oidc

    file = tmp_path / "holdfast.toml"
    file.write_text(f"[oidc]\n{lines}\n")

    with pytest.raises(BadConfiguration, match=reason):
        read_oidc(file)


def _signed_with_public_key(claims: dict[str, Any], key: bytes, headers: dict[str, str]) -> str:
    """A token whose secret is a public key, which the library refuses to make by itself."""
    import hashlib
    import hmac

    unsigned = jwt.encode(claims, "x" * 64, "HS256", headers=headers).rsplit(".", 1)[0]
    signature = hmac.new(key, unsigned.encode(), hashlib.sha256).digest()
    return f"{unsigned}.{jwt.utils.base64url_encode(signature).decode()}"
