"""Hold today's prompts to the jobs that were recorded at commit b141a55, without their texts.

The texts of these jobs are other people's and are not part of the repository. Kept are the counts
that do not change with a prompt's words: how often each prompt was sent, how long the requests
were, and how long the inputs are as today's prompts show them. The rest is today's words.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from holdfast.evals.tokens.prompt_parts import recorded_parts, tokens
from holdfast.evals.tokens.recorded_requests import DEFAULT_FILE, RecordedRequest
from holdfast.evals.tokens.todays_prompts import PROMPTS, prompt_name, role_of, todays_prompt
from holdfast.models.frozen_model import Frozen
from holdfast.roles.endpoints.chat_request import RESPONSE_FORMATS

MOST = 0.6
"""Of the tokens of commit b141a55."""
JOBS_FILE = DEFAULT_FILE.with_name("recorded_jobs.json")
_OWN_WORDS = ("instructions", "notice", "schema")


class RecordedPrompt(Frozen):
    """How often one of today's prompts stands for a recorded request, and how long these are."""

    prompt: str
    """A name of `PROMPTS`."""
    calls: int
    before: int
    """Characters of the requests as they were sent."""
    given: int
    """Characters of the inputs and corrections in today's requests."""

    @property
    def after(self) -> int:
        """Characters of the same requests in today's words."""
        return self.given + self.calls * len(PROMPTS[self.prompt].system)


def counted_jobs(requests: Iterable[RecordedRequest]) -> list[RecordedPrompt]:
    """Return the counts of recorded requests; those that no role takes today are left out."""
    by_prompt: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for each in requests:
        role, prompt = role_of(each), todays_prompt(each, RESPONSE_FORMATS[0])
        if role is not None and prompt is not None:
            given = sum(n for part, n in prompt.parts.items() if part not in _OWN_WORDS)
            by_prompt[prompt_name(role)].append((recorded_parts(each).total(), given))
    return [
        RecordedPrompt(
            prompt=name,
            calls=len(counts),
            before=sum(before for before, _ in counts),
            given=sum(given for _, given in counts),
        )
        for name, counts in sorted(by_prompt.items())
    ]


def kept_jobs() -> list[RecordedPrompt]:
    """Return the committed counts."""
    return [RecordedPrompt.model_validate(each) for each in json.loads(JOBS_FILE.read_text())]


def keep_jobs(requests: Iterable[RecordedRequest]) -> Path:
    """Write the counts of the requests, and return the file."""
    rows = [each.model_dump() for each in counted_jobs(requests)]
    JOBS_FILE.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return JOBS_FILE


def share_of(jobs: Sequence[RecordedPrompt]) -> float:
    """Return today's share of the characters that were sent."""
    return sum(each.after for each in jobs) / sum(each.before for each in jobs)


def share_line(jobs: Sequence[RecordedPrompt]) -> str:
    """Return the sentence on the recorded jobs."""
    calls = sum(each.calls for each in jobs)
    before, after = sum(each.before for each in jobs), sum(each.after for each in jobs)
    return (
        f"{calls} recorded calls of commit b141a55: {tokens(before):,} tokens then, "
        f"{tokens(after):,} in today's words ({share_of(jobs):.1%}; at most {MOST:.0%})"
    )
