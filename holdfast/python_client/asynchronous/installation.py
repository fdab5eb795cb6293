"""Read what an installation offers, and manage its keys."""

from collections.abc import Sequence

from holdfast.python_client.answers import ApiKey, CreatedKey, JsonObject
from holdfast.python_client.asynchronous.session import AsyncSession
from holdfast.python_client.request_paths import path_part


class AsyncInstallation(AsyncSession):
    """The installation, its keys and its audit."""

    async def health(self) -> JsonObject:
        """The server answers; needs no key."""
        return await self._get(JsonObject, "/health")

    async def ready(self) -> JsonObject:
        """PostgreSQL and Temporal answer the server; needs no key."""
        return await self._get(JsonObject, "/ready")

    async def presets(self) -> JsonObject:
        """The named strategies, with their meaning and their settings."""
        return await self._get(JsonObject, "/presets")

    async def settings(self) -> list[JsonObject]:
        """The settings that a job may change, with their meaning and default."""
        return await self._get(list[JsonObject], "/settings")

    async def models(self) -> list[JsonObject]:
        """The models of the installation, with endpoint, price, roles and fault."""
        return await self._get(list[JsonObject], "/configured-models")

    async def check_models(self, *names: str) -> list[JsonObject]:
        """Ask models what they can do; four short paid calls for each."""
        return await self._post(
            list[JsonObject], "/configured-models/check", {"names": list(names)}
        )

    async def agents(self) -> list[JsonObject]:
        """The agents, and the tools that each can use."""
        return await self._get(list[JsonObject], "/agents")

    async def tools(self) -> JsonObject:
        """The tools that agents can use, and why others are missing."""
        return await self._get(JsonObject, "/tools")

    async def statistics(self) -> JsonObject:
        """Calls, tokens, recoveries and failures of all jobs."""
        return await self._get(JsonObject, "/statistics")

    async def doctor(self) -> list[JsonObject]:
        """Each part of the installation, with the way to repair what is broken."""
        return await self._get(list[JsonObject], "/doctor")

    async def keys(self) -> list[ApiKey]:
        """Every key without its secret, the newest first."""
        return await self._get(list[ApiKey], "/keys")

    async def create_key(
        self,
        name: str,
        owner: str,
        *,
        scopes: Sequence[str] = ("read", "ask", "steer"),
        days: int = 365,
    ) -> CreatedKey:
        """Make a key; the answer is the only one that has its secret."""
        body = {"name": name, "owner": owner, "scopes": list(scopes), "days": days}
        return await self._post(CreatedKey, "/keys", body)

    async def rotate_key(self, key_id: str, *, overlap_hours: int = 24) -> CreatedKey:
        """Make another key for the same use; the old one ends after the overlap."""
        body = {"overlap_hours": overlap_hours}
        return await self._post(CreatedKey, f"/keys/{path_part(key_id)}/rotate", body)

    async def revoke_key(self, key_id: str) -> ApiKey:
        """Refuse the key from now on."""
        return await self._delete(ApiKey, f"/keys/{path_part(key_id)}")

    async def quotas(self) -> list[JsonObject]:
        """What owners and keys may spend in a day, with what is used today."""
        return await self._get(list[JsonObject], "/quotas")

    async def set_quota(
        self,
        kind: str,
        subject: str,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        cost: str | None = None,
    ) -> JsonObject:
        """Set what an `owner`, by name, or a `key`, by id, may spend on models in a day."""
        body = {"calls": calls, "tokens": tokens, "cost": cost}
        return await self._put(JsonObject, f"/quotas/{path_part(kind)}/{path_part(subject)}", body)

    async def remove_quota(self, kind: str, subject: str) -> JsonObject:
        """Let the owner or the key spend without this quota."""
        return await self._delete(JsonObject, f"/quotas/{path_part(kind)}/{path_part(subject)}")

    async def webhooks(self) -> list[JsonObject]:
        """The webhooks, without their secrets."""
        return await self._get(list[JsonObject], "/webhooks")

    async def create_webhook(
        self,
        url: str,
        *,
        events: Sequence[str] | None = None,
        job: str | None = None,
        key: str | None = None,
    ) -> JsonObject:
        """Have events sent to an address; the answer is the only one that has the secret.

        Without `events` every kind is sent, and without `job` those of every job. With `key`, the
        id of an API key, only those of jobs of this key and of keys that replaced it are sent.
        """
        body: JsonObject = {"url": url}
        if events is not None:
            body["events"] = list(events)
        if job is not None:
            body["job"] = job
        if key is not None:
            body["key"] = key
        return await self._post(JsonObject, "/webhooks", body)

    async def webhook_deliveries(self, webhook_id: str, *, limit: int = 50) -> list[JsonObject]:
        """The newest messages of a webhook, and what became of them."""
        path = f"/webhooks/{path_part(webhook_id)}/deliveries"
        return await self._get(list[JsonObject], path, limit=limit)

    async def test_webhook(self, webhook_id: str) -> JsonObject:
        """Send a message to the webhook's address once."""
        return await self._post(JsonObject, f"/webhooks/{path_part(webhook_id)}/test")

    async def rotate_webhook(self, webhook_id: str, *, overlap_hours: int = 24) -> JsonObject:
        """Give the webhook another secret, which only this answer has.

        The old secret signs as well for `overlap_hours`.
        """
        body: JsonObject = {"overlap_hours": overlap_hours}
        return await self._post(JsonObject, f"/webhooks/{path_part(webhook_id)}/rotate", body)

    async def remove_webhook(self, webhook_id: str) -> JsonObject:
        """Send nothing more to the webhook's address."""
        return await self._delete(JsonObject, f"/webhooks/{path_part(webhook_id)}")

    async def audit(
        self,
        *,
        limit: int = 50,
        before: int | None = None,
        actor: str | None = None,
        resource: str | None = None,
    ) -> list[JsonObject]:
        """Who did what, the newest first."""
        return await self._get(
            list[JsonObject],
            "/audit",
            limit=limit,
            before=before,
            actor=actor,
            resource=resource,
        )
