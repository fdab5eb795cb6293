"""Define the arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON with stable field names.")]
JobArgument = Annotated[
    str, typer.Argument(metavar="JOB", help="The job's id, or a beginning that only it has.")
]
QuestionArgument = Annotated[
    str, typer.Argument(help="The question; - reads it from standard input.")
]
DocsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH", help="A folder of documents, or one document: text, PDF, office files."
    ),
]
CollectionOption = Annotated[
    str | None, typer.Option(help="The name of a collection that is already in the corpus.")
]
PresetOption = Annotated[
    str | None, typer.Option("--preset", help="A named strategy, such as kpi-chain or research.")
]
ModelOption = Annotated[
    str | None, typer.Option("--model", help="A model of your endpoint, or `extractive`.")
]
NotifyOption = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND",
        help="Run this in a shell when the job ends, asks or pauses, with JOB_ID, JOB_EVENT and "
        "JOB_MESSAGE in its environment.",
    ),
]
ServersOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...", help="Use only the tools of these tool servers; by default of all."
    ),
]
FollowsOption = Annotated[
    str | None,
    typer.Option(
        metavar="JOB", help="An ended job: start from what its report cites, and read the same."
    ),
]
SettingsOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one setting.")
]
ReviewOption = Annotated[
    bool, typer.Option("--review", help="See, edit, approve or refuse the plan before it runs.")
]
