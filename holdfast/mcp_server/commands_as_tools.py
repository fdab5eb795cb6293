"""Say in the words of the tools what a message says in those of the command line.

A host calls tools and runs no command, so an answer names the tool. What only the operator can do,
such as `holdfast up`, stays a command, which the host's model can tell the user.
"""

from collections.abc import Mapping

from holdfast.api.commands_in_messages import replace_commands

TOOLS: Mapping[str, str] = {
    "answer": "`research_answer` of the job <JOB>",
    "cancel": "`research_stop` of the job <JOB>",
    "list": "`research_jobs`",
    "plan": "the resource `holdfast://jobs/<JOB>/plan`",
    "questions": "`research_status` of the job <JOB>",
    "report": "`research_report` of the job <JOB>",
    "report --partial": "`research_stop` of the job <JOB>",
    "resume": "`research_resume` of the job <JOB>",
    "retry": "`research_retry` of the job <JOB>",
    "run": "`research_start`",
    "schedules list": "`research_schedules`",
    "show": "`research_status` of the job <JOB>",
    "status": "`research_status` of the job <JOB>",
    "trace": "`research_source` of the job <JOB>",
    "wait": "`research_wait` of the job <JOB>",
}
"""What does the same as the command; `NAME --OPTION` is the command with the option."""
_OF_THE_USER: Mapping[str, str] = {
    "resume --set": "“Another limit…” on the page of the job <JOB>",
    "corpus list": "the page “Collections” of Holdfast",
    "models list": "the page “Models and tools” of Holdfast",
}
"""What the user does on the page, for which there is no tool."""
_WORDS = {**TOOLS, **_OF_THE_USER}


def in_tools(message: str) -> str:
    """Return the message with tools in the place of commands, where a tool does the same."""
    return replace_commands(message, _WORDS)
