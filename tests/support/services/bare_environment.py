"""The environment variables of the test process without variables that name services or keys."""

import os

_OURS = ("HOLDFAST_", "OPENAI_", "TEMPORAL_")


def bare_environment() -> dict[str, str]:
    """This process's variables without those that name services, keys or settings of ours.

    Jobs that name no preset are worked by the plainest one: what a test scripts is its plan.
    No worker embeds what a test stores.
    """
    bare = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return bare | {"HOLDFAST_PRESET": "kpi-chain", "HOLDFAST_LOCAL_EMBEDDINGS": "false"}
