"""The oracle's reports: the answer, and as many findings as the evidence requires."""

from typing import Any

from holdfast.evals.oracle.program_calls import RoleTask, joined_answer
from holdfast.models.reports.report_writer_messages import LEAST_FINDINGS
from holdfast.roles.reports.condenser import MOST_STATEMENTS
from holdfast.roles.verification.sentence_checker import SupportLevel

_MOST_CITED = 3


def condenser_answer(task: RoleTask) -> object:
    """A group of results in quotes of its evidence."""
    return {"statements": _quoted(task)[:MOST_STATEMENTS]}


def synthesiser_answer(task: RoleTask) -> object:
    """The report; a job that verifies has no answer yet, and concludes it from its results."""
    answer = _concluded(task) if task["concludes"] else task["answer"]
    ids = [item["id"] for item in task["evidence"]]
    told = {"text": str(answer or "No answer was found."), "evidence": ids[:_MOST_CITED]}
    # From twice as many passages on a report with one finding would be sent back.
    is_much = len(ids) >= 2 * LEAST_FINDINGS
    findings = _quoted(task)[:LEAST_FINDINGS] if is_much else [told] if ids else []
    conclusion = {"conclusion": answer} if task["concludes"] else {}
    return {"answer": [told], "findings": findings, "gaps": list(task["gaps"]), **conclusion}


def sentence_corrector_answer(task: RoleTask) -> object:
    """Leave every refused sentence out."""
    return {"sentences": [{"id": each["id"]} for each in task["sentences"]]}


def sentence_checker_answer(task: RoleTask) -> object:
    """Each sentence is carried: it is a quote, or the answer that was found."""
    return {
        "verdicts": [
            {"id": each["id"], "verdict": SupportLevel.SUPPORTED} for each in task["sentences"]
        ]
    }


def _quoted(task: RoleTask) -> list[dict[str, Any]]:
    return [{"text": item["quote"], "evidence": [item["id"]]} for item in task["evidence"]]


def _concluded(task: RoleTask) -> str:
    """The answer out of the results, in order of the plan."""
    return joined_answer(value for result in task["results"] for value in result["values"].values())
