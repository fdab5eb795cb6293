"""The oracle's reports: the answer, and as many findings as the evidence must carry."""

from typing import Any

from evals.oracle.calls import Task, joined
from roles.condenser import MOST_STATEMENTS
from roles.sentence_checker import Support
from roles.synthesiser import LEAST_FINDINGS

_MOST_CITED = 3


def condensed(task: Task) -> object:
    """A group of results in quotes of its evidence."""
    return {"statements": _quoted(task)[:MOST_STATEMENTS]}


def written(task: Task) -> object:
    """The report; a job that verifies has no answer yet, and concludes it from its results."""
    answer = _concluded(task) if task["concludes"] else task["answer"]
    ids = [item["id"] for item in task["evidence"]]
    told = {"text": str(answer or "No answer was found."), "evidence": ids[:_MOST_CITED]}
    # From twice as many passages on a report with one finding would be sent back.
    is_much = len(ids) >= 2 * LEAST_FINDINGS
    findings = _quoted(task)[:LEAST_FINDINGS] if is_much else [told] if ids else []
    conclusion = {"conclusion": answer} if task["concludes"] else {}
    return {"answer": [told], "findings": findings, "gaps": list(task["gaps"]), **conclusion}


def checked(task: Task) -> object:
    """Each sentence is carried: it is a quote, or the answer that was found."""
    return {
        "verdicts": [{"id": each["id"], "verdict": Support.SUPPORTED} for each in task["sentences"]]
    }


def _quoted(task: Task) -> list[dict[str, Any]]:
    return [{"text": item["quote"], "evidence": [item["id"]]} for item in task["evidence"]]


def _concluded(task: Task) -> str:
    """The answer out of the results, in order of the plan."""
    return joined(value for result in task["results"] for value in result["values"].values())
