"""Read reports, and where their sentences come from."""

from typing import Literal

from holdfast.python_client.answers import JsonObject
from holdfast.python_client.asynchronous.session import AsyncSession
from holdfast.python_client.jobs_and_reports import Report


class AsyncEvidence(AsyncSession):
    """Reports, figures, sources and citations."""

    async def report(self, job: str) -> Report:
        """The delivered report.

        Raises:
            NotFound: the job has no report yet.
        """
        return await self._get(Report, f"/jobs/{job}/report")

    async def report_text(self, job: str, form: Literal["md", "html"] = "md") -> str:
        """The report as Markdown, or as one HTML page with its figures."""
        return (await self._bytes(f"/jobs/{job}/report", format=form)).decode()

    async def figure(self, job: str, sha256: str) -> bytes:
        """A figure, by the hash in `figures[].forms[]` of the report."""
        return await self._bytes(f"/jobs/{job}/figures/{sha256}")

    async def trace(self, job: str, mark: int) -> JsonObject:
        """Where a citation comes from: passage, calls, and Temporal's history."""
        return await self._get(JsonObject, f"/jobs/{job}/provenance/{mark}")

    async def source(self, job: str, source: int) -> JsonObject:
        """A source that the job quotes, with its text."""
        return await self._get(JsonObject, f"/jobs/{job}/sources/{source}")

    async def recheck(self, job: str) -> JsonObject:
        """Read the cited sources again, and say whether the quotes are still there."""
        return await self._post(JsonObject, f"/jobs/{job}/recheck")

    async def retract(self, job: str, evidence: int, reason: str) -> JsonObject:
        """Withdraw a piece of evidence; the answer names everything that depends on it."""
        body = {"evidence": evidence, "reason": reason}
        return await self._post(JsonObject, f"/jobs/{job}/retractions", body)
