"""Keep the tokens of each role over the committed inputs, to which a test holds the prompts."""

import json
from collections.abc import Mapping
from pathlib import Path

from holdfast.evals.tokens.recorded_requests import DEFAULT_FILE, read_requests
from holdfast.evals.tokens.token_figures import role_figures
from holdfast.roles.endpoints.chat_request import RESPONSE_FORMATS

TOLERANCE = 0.02
FIGURES_FILE = DEFAULT_FILE.with_name("role_tokens.json")


def tokens_today() -> dict[str, dict[str, int]]:
    """The tokens of today's prompts over the committed inputs, by form and role."""
    requests = read_requests([DEFAULT_FILE])
    return {
        form: {each.role: each.tokens_after for each in role_figures(requests, form)}
        for form in RESPONSE_FORMATS
    }


def kept_tokens() -> Mapping[str, Mapping[str, int]]:
    """The figures as they were last renewed."""
    kept: Mapping[str, Mapping[str, int]] = json.loads(FIGURES_FILE.read_text("utf-8"))
    return kept


def renew_figures() -> Path:
    """Write today's figures, and return the file."""
    FIGURES_FILE.write_text(json.dumps(tokens_today(), indent=1) + "\n", "utf-8")
    return FIGURES_FILE


def grown_roles(
    kept: Mapping[str, Mapping[str, int]], today: Mapping[str, Mapping[str, int]]
) -> list[str]:
    """A line for each role whose tokens have changed by more than 2 %, or that is new."""
    lines = []
    for form, roles in today.items():
        for role, count in roles.items():
            announced = kept.get(form, {}).get(role, 0)
            if abs(count - announced) > TOLERANCE * announced:
                lines.append(
                    f"{role} ({form}): {count:,} tokens, {announced:,} were announced; if the "
                    "prompt is meant to change, run `python -m holdfast.evals.tokens --renew` and "
                    "commit the new figures"
                )
    return lines
