"""Implement `holdfast source`: print a stored source with its quoted passages marked."""

from holdfast.cli.installation_access import run_with_client
from holdfast.cli.render.evidence.source_lines import source_lines
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.storage.evidence.source_queries import load_source_view


def source_command(source_id: int, *, json_output: bool) -> None:
    """Print the source."""
    source = run_with_client(lambda holdfast: load_source_view(holdfast.db, source_id))
    if json_output:
        print_json(source)
        return
    for line in source_lines(source):
        print_text(line)
