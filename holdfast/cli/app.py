"""All commands with their options; what they do is imported when one of them runs."""

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli import corpus, evaluate

app = typer.Typer(
    name="holdfast",
    help="A durable research engine: a question in, a cited report out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON with stable field names.")]
JobId = Annotated[str, typer.Argument(metavar="JOB", help="The job's id.")]
Question = Annotated[str, typer.Argument(help="The question; - reads it from standard input.")]
Docs = Annotated[Path | None, typer.Option(help="A folder of documents: text, PDF, office files.")]
Collection = Annotated[
    str | None, typer.Option(help="A collection that was ingested before, by its name.")
]
PresetName = Annotated[str | None, typer.Option("--preset", help="How the job is worked.")]
ModelName = Annotated[
    str | None, typer.Option("--model", help="A model of your endpoint, or `extractive`.")
]
Servers = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="Only these servers' tools; all there are if left out."),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one setting.")
]


@app.command()
def run(
    question: Question,
    docs: Docs = None,
    collection: Collection = None,
    preset: PresetName = None,
    model: ModelName = None,
    servers: Servers = None,
    settings: Settings = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only plan, and estimate what the rest would take.")
    ] = False,
    review: Annotated[
        bool, typer.Option("--review", help="See, edit, approve or refuse the plan before it runs.")
    ] = False,
    waits: Annotated[
        bool, typer.Option("--wait/--no-wait", help="With --review: whether to stay for the work.")
    ] = True,
    json_output: Json = False,
) -> None:
    """Ask a question, watch the work, and read the cited report."""
    from holdfast.cli.requests import Wish
    from holdfast.cli.running import run_command

    wish = Wish(question, docs, collection, preset, model, tuple(settings or ()), servers)
    if dry_run:
        from holdfast.cli.dry_run import dry_run_command

        raise typer.Exit(dry_run_command(wish, json_output=json_output))
    if review:
        from holdfast.cli.reviewing import review_command

        raise typer.Exit(review_command(wish, waits=waits, json_output=json_output))
    raise typer.Exit(run_command(wish, json_output=json_output))


@app.command()
def submit(
    question: Question,
    docs: Docs = None,
    collection: Collection = None,
    preset: PresetName = None,
    model: ModelName = None,
    servers: Servers = None,
    settings: Settings = None,
    key: Annotated[
        str | None, typer.Option("--id", help="Submitting again with this id gives the same job.")
    ] = None,
    json_output: Json = False,
) -> None:
    """Submit a question and print the job's id at once."""
    from holdfast.cli.requests import Wish
    from holdfast.cli.running import submit_command

    wish = Wish(question, docs, collection, preset, model, tuple(settings or ()), servers)
    submit_command(wish, key, json_output=json_output)


@app.command("list")
def list_jobs(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 20,
    status: Annotated[str | None, typer.Option(help="Only jobs of this status.")] = None,
    preset: PresetName = None,
    json_output: Json = False,
) -> None:
    """List the newest jobs."""
    from holdfast.cli.looking import list_command

    list_command(limit, status, preset, json_output=json_output)


@app.command()
def show(job: JobId, json_output: Json = False) -> None:
    """Show a job: its tasks, what they found, what it spent."""
    from holdfast.cli.looking import show_command

    show_command(job, json_output=json_output)


@app.command()
def status(job: JobId, json_output: Json = False) -> None:
    """Say what a job is doing, what blocks it, and what happens next."""
    from holdfast.cli.status_lines import status_command

    status_command(job, json_output=json_output)


@app.command()
def wait(
    job: JobId,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds; then exit with code 3.")
    ] = None,
    json_output: Json = False,
) -> None:
    """Wait until a job has ended; the exit code says how."""
    from holdfast.cli.running import wait_command

    raise typer.Exit(wait_command(job, timeout, json_output=json_output))


@app.command()
def report(
    job: JobId,
    form: Annotated[str, typer.Option("--format", help="md, json or html.")] = "md",
    partial: Annotated[
        bool, typer.Option("--partial", help="Have what a stopped job found written up first.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write it into this folder, with its figures.")
    ] = None,
    json_output: Json = False,
) -> None:
    """Print the report of a finished job."""
    from holdfast.cli.looking import report_command

    if partial:
        from holdfast.cli.acting import write_up_command

        write_up_command(job)
    report_command(job, "json" if json_output else form, out)


@app.command()
def figure(
    job: JobId,
    name: Annotated[
        str | None, typer.Argument(metavar="[FIGURE]", help="Its id; all are listed if left out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file; its ending says in which form.")
    ] = None,
    json_output: Json = False,
) -> None:
    """List the figures of a job's report, or write one to a file."""
    from holdfast.cli.figures import figure_command

    figure_command(job, name, out, json_output=json_output)


@app.command()
def pause(job: JobId, json_output: Json = False) -> None:
    """Start nothing more of a job; what runs comes to its end."""
    from holdfast.cli.acting import pause_command

    pause_command(job, json_output=json_output)


@app.command()
def resume(job: JobId, settings: Settings = None, json_output: Json = False) -> None:
    """Let a paused, failed, cancelled or lost job go on, with all it had."""
    from holdfast.cli.acting import resume_command

    resume_command(job, tuple(settings or ()), json_output=json_output)


@app.command()
def cancel(job: JobId, json_output: Json = False) -> None:
    """Stop a job and its calls in flight; what it found is kept."""
    from holdfast.cli.acting import cancel_command

    cancel_command(job, json_output=json_output)


@app.command()
def retry(
    job: JobId,
    tasks: Annotated[list[str], typer.Argument(metavar="TASK...", help="Their ids, such as T3.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would run again.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Run tasks again with what rests on them; everything else is kept."""
    from holdfast.cli.acting import retry_command

    retry_command(job, tasks, dry_run=dry_run, json_output=json_output)


@app.command()
def retract(
    job: JobId,
    evidence: Annotated[
        int, typer.Argument(metavar="EVIDENCE", help="Its number, as the report's sources name it.")
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why; the job's log keeps it.")],
    json_output: Json = False,
) -> None:
    """Take a piece of evidence back, and see what rested on it."""
    from holdfast.cli.retracting import retract_command

    retract_command(job, evidence, reason, json_output=json_output)


@app.command()
def source(
    number: Annotated[
        int,
        typer.Argument(
            metavar="SOURCE",
            min=1,
            max=2**63 - 1,
            help="Its number, as the report's sources name it.",
        ),
    ],
    json_output: Json = False,
) -> None:
    """Show what was read, where, when and by which tool, with the quoted words marked."""
    from holdfast.cli.source import source_command

    source_command(number, json_output=json_output)


@app.command()
def trace(
    job: JobId,
    mark: Annotated[int, typer.Argument(metavar="MARK", help="A mark of its report, such as 3.")],
    json_output: Json = False,
) -> None:
    """Follow a mark of the report back to the passage, the calls and Temporal's history."""
    from holdfast.cli.trace import trace_command

    trace_command(job, mark, json_output=json_output)


@app.command()
def recheck(job: JobId, json_output: Json = False) -> None:
    """Read the cited sources again, and say what became of the cited words."""
    from holdfast.cli.recheck import recheck_command

    raise typer.Exit(recheck_command(job, json_output=json_output))


@app.command()
def steer(
    job: JobId,
    guidance: Annotated[str, typer.Argument(help="What the next planning is told; - reads it.")],
    json_output: Json = False,
) -> None:
    """Tell a job's next planning what to heed."""
    from holdfast.cli.acting import steer_command

    steer_command(job, guidance, json_output=json_output)


@app.command()
def answer(
    job: JobId,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[N] [ANSWER...]",
            help="The question's number where several are open, and the answer; - reads it.",
        ),
    ] = None,
    json_output: Json = False,
) -> None:
    """Answer what a job asks: its plan, an agent's question, a doubtful result, its budget."""
    from holdfast.cli.answering import answer_command

    answer_command(job, tuple(words or ()), json_output=json_output)


@app.command()
def questions(job: JobId, json_output: Json = False) -> None:
    """List what a job asked, what it was answered, and by whom."""
    from holdfast.cli.answering import questions_command

    questions_command(job, json_output=json_output)


@app.command()
def plan(
    job: JobId,
    diff: Annotated[bool, typer.Option("--diff", help="Show each revision and its cause.")] = False,
    as_yaml: Annotated[
        bool, typer.Option("--yaml", help="Print it as `answer JOB edit FILE` reads it.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Show the plan as it stands, or how it came about."""
    if as_yaml:
        from holdfast.cli.editing import plan_yaml_command

        plan_yaml_command(job)
        return
    from holdfast.cli.looking import plan_command

    plan_command(job, diff=diff, json_output=json_output)


@app.command()
def memory(job: JobId, json_output: Json = False) -> None:  # noqa: ARG001 - it is JSON anyway
    """Print the entity memory as a JSON document."""
    from holdfast.cli.looking import memory_command

    memory_command(job)


@app.command()
def verification(job: JobId, json_output: Json = False) -> None:
    """Show what the verifier found round by round, and why it stopped."""
    from holdfast.cli.verification import verification_command

    verification_command(job, json_output=json_output)


@app.command()
def calls(job: JobId, json_output: Json = False) -> None:
    """List every model and tool call of a job."""
    from holdfast.cli.looking import calls_command

    calls_command(job, json_output=json_output)


@app.command()
def events(
    job: JobId,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until it ends.")] = False,
    json_output: Json = False,
) -> None:
    """Print a job's log, entry by entry."""
    from holdfast.cli.looking import events_command

    events_command(job, follow=follow, json_output=json_output)


@app.command()
def stats(
    job: Annotated[
        str | None, typer.Argument(metavar="[JOB]", help="All jobs if left out.")
    ] = None,
    json_output: Json = False,
) -> None:
    """Calls, tokens, recoveries and failures, of a job or of all."""
    from holdfast.cli.looking import stats_command

    stats_command(job, json_output=json_output)


@app.command()
def agents(json_output: Json = False) -> None:
    """List the agents by tier, with the tools that are there for them."""
    from holdfast.cli.agents import agents_command

    agents_command(json_output=json_output)


@app.command()
def demo(
    crash: Annotated[
        bool, typer.Option("--crash", help="Kill the worker in mid-run, and see what that cost.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Run a question over the documents that come with Holdfast; no key, no network."""
    from holdfast.cli.demo import demo_command

    raise typer.Exit(demo_command(crash=crash, json_output=json_output))


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen at; beyond this computer at your own risk.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes a free one.")] = 8765,
    json_output: Json = False,
) -> None:
    """Serve the jobs over HTTP to be looked at, and their logs as they grow."""
    from holdfast.cli.serving import serve_command

    serve_command(host, port, json_output=json_output)


@app.command()
def up(json_output: Json = False) -> None:
    """Start the embedded PostgreSQL, Temporal and worker, or attach to them."""
    from holdfast.cli.services import up_command

    up_command(json_output)


@app.command()
def down(json_output: Json = False) -> None:
    """Stop everything that `up` started; jobs and histories stay."""
    from holdfast.cli.services import down_command

    down_command(json_output)


@app.command()
def doctor(json_output: Json = False) -> None:
    """Check each part, and say how to mend what is broken."""
    from holdfast.cli.services import doctor_command

    doctor_command(json_output)


app.add_typer(corpus.app, name="corpus")
app.command("eval")(evaluate.evaluate)
