"""Say what a message means by a command in the words of the page, where the page does the same.

Commands for which the page has nothing, such as `holdfast up`, stay: they are for whoever runs the
installation.
"""

from collections.abc import Mapping

from holdfast.api.commands_in_messages import replace_commands

_JOB_PAGE = "the page of the job"
_REPORT_PAGE = "the page of its report"
PLACES: Mapping[str, str] = {
    "answer": _JOB_PAGE,
    "corpus list": "the page of the collection",
    "list": "the page “Jobs”",
    "models list": "the page “Models and tools”",
    "plan": _JOB_PAGE,
    "questions": _JOB_PAGE,
    "report": _REPORT_PAGE,
    "report --partial": f"“Write the report now” on {_JOB_PAGE}",
    "resume": f"“Resume” or “Run the plan” on {_JOB_PAGE}",
    "resume --set": f"“Another limit…” on {_JOB_PAGE}",
    "retry": f"“Run again” on {_JOB_PAGE}",
    "schedules list": "the page “Schedules”",
    "show": _JOB_PAGE,
    "status": _JOB_PAGE,
    "trace": _REPORT_PAGE,
    "wait": _JOB_PAGE,
}
"""The place of the page that does what the command does; `NAME --OPTION` is one with the option."""


def in_words_of_page(text: str) -> str:
    """The message without the commands whose work the page does."""
    return replace_commands(text, PLACES)
