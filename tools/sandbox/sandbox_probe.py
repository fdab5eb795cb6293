"""Show from inside the sandbox that our programs can start there."""


def main() -> None:
    """Import a compiled package and one of ours; the exit status says whether it worked."""
    import pydantic_core  # noqa: F401

    import holdfast.models.errors  # noqa: F401
