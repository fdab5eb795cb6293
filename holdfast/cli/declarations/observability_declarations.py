"""Declare the command that sends a job's trace to a collector."""

from holdfast.cli.declarations.option_types import JobArgument, JsonOption


def otel(job: JobArgument, json_output: JsonOption = False) -> None:
    """Send the trace of a job to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names."""
    from holdfast.cli.commands.jobs.trace_export_commands import otel_command

    otel_command(job, json_output=json_output)
