"""Read reports, and where their sentences come from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from holdfast.python_client.answers import JsonObject
from holdfast.python_client.asynchronous.session import AsyncSession
from holdfast.python_client.jobs_and_reports import Report
from holdfast.python_client.request_paths import path_part
from holdfast.python_client.sent_files import bundle_field, write_file


class AsyncEvidence(AsyncSession):
    """Reports, figures, sources and citations."""

    async def report(self, job: str) -> Report:
        """The delivered report.

        Raises:
            NotFound: the job has no report yet.
        """
        return await self._get(Report, f"/jobs/{path_part(job)}/report")

    async def report_text(self, job: str, form: Literal["md", "html"] = "md") -> str:
        """The report as Markdown, or as one HTML page with its figures."""
        return (await self._bytes(f"/jobs/{path_part(job)}/report", format=form)).decode()

    async def report_file(
        self,
        job: str,
        file: Path | str,
        form: Literal["docx", "pdf", "csl", "ris", "bibtex", "obsidian"] = "docx",
    ) -> None:
        """Write the report as a file of another program; `obsidian` is a ZIP of notes."""
        write_file(file, await self._bytes(f"/jobs/{path_part(job)}/report", format=form))

    async def figure(self, job: str, sha256: str) -> bytes:
        """A figure, by the hash in `figures[].forms[]` of the report."""
        return await self._bytes(f"/jobs/{path_part(job)}/figures/{path_part(sha256)}")

    async def trace(self, job: str, mark: int) -> JsonObject:
        """Where a citation comes from: passage, calls, and Temporal's history."""
        return await self._get(JsonObject, f"/jobs/{path_part(job)}/provenance/{path_part(mark)}")

    async def source(self, job: str, source: int) -> JsonObject:
        """A source that the job quotes, with its text."""
        return await self._get(JsonObject, f"/jobs/{path_part(job)}/sources/{path_part(source)}")

    async def recheck(self, job: str) -> JsonObject:
        """Read the cited sources again, and say whether the quotes are still there."""
        return await self._post(JsonObject, f"/jobs/{path_part(job)}/recheck")

    async def export(self, job: str, file: Path | str, *, redact: Sequence[str] = ()) -> None:
        """Write the ended job to a bundle, which anybody can read, check and import.

        Args:
            job: the id of the job.
            file: the file that is written.
            redact: what is left out: `questions`, `sources`, `prompts`.
        """
        query = {"redact": list(redact)} if redact else {}
        write_file(file, await self._bytes(f"/jobs/{path_part(job)}/bundle", **query))

    async def check_bundle(self, file: Path | str) -> JsonObject:
        """Check the hashes, signature, sources and quotes of a bundle; nothing is stored.

        Raises:
            InvalidRequest: the bundle is refused; `detail` says why.
        """
        return await self._send_bundle("/bundles/check", file)

    async def import_bundle(self, file: Path | str, *, new_id: str = "") -> JsonObject:
        """Store the job of a bundle under its own id, or under `new_id`.

        Raises:
            InvalidRequest: the bundle is refused, or another job has the id.
        """
        return await self._send_bundle("/bundles", file, new_id=new_id)

    async def _send_bundle(self, path: str, file: Path | str, **form: str) -> JsonObject:
        files = [bundle_field(file)]
        answer = await self._request("POST", path, form=form, files=files, is_safe=True)
        return TypeAdapter(JsonObject).validate_json(answer.content)

    async def rederive(self, job: str) -> JsonObject:
        """Plan changes, verdicts and delivery checks, derived again without a model."""
        return await self._get(JsonObject, f"/jobs/{path_part(job)}/rederivation")

    async def retract(self, job: str, evidence: int, reason: str) -> JsonObject:
        """Withdraw a piece of evidence; the answer names everything that depends on it."""
        body = {"evidence": evidence, "reason": reason}
        return await self._post(JsonObject, f"/jobs/{path_part(job)}/retractions", body)
