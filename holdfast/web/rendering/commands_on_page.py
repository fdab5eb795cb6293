"""Say what a message means by a command in the words of the page, where the page does the same.

Messages are written for the command line and name what to type. Commands for which the page has
nothing, such as `holdfast up`, stay: they are for whoever runs the installation.
"""

import re

_ANY = r"[^`]*`"
_JOB_PAGE = "the page of the job"
_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(sign), words)
    for sign, words in (
        (r"wait for it with `holdfast wait\b" + _ANY, f"{_JOB_PAGE} shows its end"),
        (r"look at it with `holdfast (?:show|status)\b" + _ANY, f"look at {_JOB_PAGE}"),
        (r"look with `holdfast (?:show|status)\b" + _ANY, f"look on {_JOB_PAGE}"),
        (r"`holdfast (?:show|status|questions|answer|plan)\b" + _ANY, _JOB_PAGE),
        (
            r"run `holdfast corpus add` again, which says so",
            "add its documents again, which says so",
        ),
        (r"`holdfast corpus list\b" + _ANY, "the page of the collection"),
        (r"`holdfast models list`", "the page “Models and tools”"),
        (r"`holdfast schedules list`", "the page “Schedules”"),
        (r"`holdfast (?:list|jobs)`", "the page “Jobs”"),
        (r"`holdfast report [^`]*--partial`", f"“Write the report now” on {_JOB_PAGE}"),
        (r"`holdfast (?:report|trace)\b" + _ANY, "the page of its report"),
        (
            r"`holdfast resume [^`]*--set max_(?:cost|tokens)=" + _ANY,
            f"“Another limit…” on {_JOB_PAGE}",
        ),
        (
            r"`holdfast resume\b" + _ANY + r"(?= runs (?:its|the) plan)",
            "“Run the plan”",
        ),
        (r"`holdfast resume\b" + _ANY, f"“Resume” on {_JOB_PAGE}"),
        (r"`holdfast retry\b" + _ANY, f"“Run again” on {_JOB_PAGE}"),
    )
)


def in_words_of_page(text: str) -> str:
    """The message without the commands whose work the page does."""
    if "`holdfast " not in text:
        return text
    for command, words in _WORDS:
        text = command.sub(words, text)
    return text
