"""Assemble the command line from its declarations; each command's code is imported when it runs."""

import typer

from holdfast.cli.declarations import (
    access_declarations,
    backup_declarations,
    bundle_declarations,
    control_declarations,
    corpus_declarations,
    erasure_declarations,
    evaluation_declarations,
    evidence_declarations,
    installation_declarations,
    job_start_declarations,
    model_declarations,
    observability_declarations,
    quota_declarations,
    record_declarations,
    removal_declarations,
    schedule_declarations,
    view_declarations,
    webhook_declarations,
)

app = typer.Typer(
    name="holdfast",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.callback()(installation_declarations.holdfast)
# `--help` lists the commands in this order.
app.command()(job_start_declarations.run)
app.command()(job_start_declarations.submit)
app.command("list")(view_declarations.list_jobs)
app.command()(view_declarations.show)
app.command()(view_declarations.status)
app.command()(job_start_declarations.wait)
app.command()(view_declarations.report)
app.command()(view_declarations.figure)
app.command()(control_declarations.pause)
app.command()(control_declarations.resume)
app.command()(control_declarations.cancel)
app.command()(control_declarations.retry)
app.command()(record_declarations.fork)
app.command()(record_declarations.compare)
app.command()(record_declarations.update)
app.command()(bundle_declarations.export)
app.command("import")(bundle_declarations.import_)
app.command()(bundle_declarations.verify)
app.command()(bundle_declarations.replay)
app.command()(removal_declarations.rm)
app.command()(removal_declarations.prune)
app.command()(erasure_declarations.erase)
app.command()(erasure_declarations.erasures)
app.command()(evidence_declarations.retract)
app.command()(evidence_declarations.source)
app.command()(evidence_declarations.trace)
app.command()(evidence_declarations.recheck)
app.command()(evidence_declarations.rederive)
app.command()(control_declarations.steer)
app.command()(control_declarations.answer)
app.command()(view_declarations.questions)
app.command()(view_declarations.plan)
app.command()(view_declarations.memory)
app.command()(view_declarations.verification)
app.command()(view_declarations.calls)
app.command()(view_declarations.events)
app.command()(view_declarations.stats)
app.command()(observability_declarations.otel)
app.command()(installation_declarations.agents)
app.command()(job_start_declarations.demo)
app.command("open")(installation_declarations.open_page)
app.command()(installation_declarations.serve)
app.command()(installation_declarations.mcp)
app.command()(installation_declarations.up)
app.command()(installation_declarations.down)
app.command()(installation_declarations.doctor)
app.command()(backup_declarations.backup)
app.command()(backup_declarations.restore)
app.command()(access_declarations.audit)
app.add_typer(access_declarations.app, name="keys")
app.add_typer(quota_declarations.app, name="quotas")
app.add_typer(schedule_declarations.app, name="schedules")
app.add_typer(webhook_declarations.app, name="webhooks")
app.add_typer(corpus_declarations.app, name="corpus")
app.add_typer(model_declarations.app, name="models")
app.command("eval")(evaluation_declarations.evaluate)
