"""Define the table `[oidc]` of `holdfast.toml`: whose tokens the API takes besides its own keys."""

from typing import Annotated

from pydantic import Field, StringConstraints

from holdfast.models.access.access_scopes import Scope
from holdfast.models.frozen_model import Frozen

_ADDRESS = r"^(https://[^\s/]|http://(127\.0\.0\.1|localhost|\[::1\])[:/])\S*$"
"""Keys that come unencrypted from another computer could be anybody's."""
Address = Annotated[str, StringConstraints(pattern=_ADDRESS)]


class OidcConfig(Frozen):
    """A provider of OpenID Connect, and what its tokens mean here."""

    issuer: Address
    """As the provider's tokens have it in `iss`, to the letter."""
    audience: Annotated[str, Field(min_length=1)]
    """What the provider's tokens for this installation have in `aud`."""
    owner_claim: Annotated[str, Field(min_length=1)] = "sub"
    """The claim that names the owner of a sender's jobs."""
    owner_prefix: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] = (
        "oidc."
    )
    """What an owner's name begins with, so that no user of the provider can be a local user."""
    scope_claim: Annotated[str, Field(min_length=1)] = "scope"
    """The claim with the scopes, a list or a text with blanks; `holdfast:read` means `read`."""
    default_scopes: tuple[Scope, ...] = (Scope.READ, Scope.ASK, Scope.STEER)
    """The scopes of a token that names none of Holdfast's."""
    jwks_url: Address | None = None
    """Where the provider's keys are; by default its discovery document says it."""
