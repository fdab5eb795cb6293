"""Count the tokens of recorded prompts by role and part, as they were and as they are today.

    python -m holdfast.evals.tokens [PATH ...] [--form json_schema|json_object|text] [--json]
        [--renew] [--keep]

Needs no service and no model. Tokens are characters / 4 of the messages and of the function
schemas, without `response_format`. docs/evaluation.md says what came out.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from holdfast.evals.tokens.recorded_jobs import keep_jobs, kept_jobs, share_line
from holdfast.evals.tokens.recorded_requests import DEFAULT_FILE, read_requests
from holdfast.evals.tokens.renewed_figures import renew_figures
from holdfast.evals.tokens.token_figures import figure_lines, role_figures
from holdfast.models.errors import BadInput
from holdfast.roles.endpoints.chat_request import RESPONSE_FORMATS


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m holdfast.evals.tokens", description=__doc__)
    parser.add_argument("paths", type=Path, nargs="*", help="files or folders of recorded requests")
    parser.add_argument("--form", choices=RESPONSE_FORMATS, default=RESPONSE_FORMATS[0])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument(
        "--renew", action="store_true", help="write the figures that the test holds the roles to"
    )
    parser.add_argument(
        "--keep", action="store_true", help="write the counts of the recorded jobs of b141a55"
    )
    chosen = parser.parse_args(arguments)
    try:
        requests = read_requests(chosen.paths or [DEFAULT_FILE])
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    figures = role_figures(requests, chosen.form)
    if chosen.renew:
        print(f"written to {renew_figures()}")
    if chosen.keep:
        print(f"written to {keep_jobs(requests)}")
    if chosen.json:
        print(json.dumps([each.model_dump() for each in figures], indent=1))
    else:
        print("\n".join([*figure_lines(figures), "", share_line(kept_jobs())]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
