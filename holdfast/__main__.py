"""Run the `holdfast` command line and print each expected error as one line without a traceback."""

import os
import sys

from holdfast.cycle_collection import look_for_cycles_rarely

_EXIT_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit at once.

    Temporal's client can hang or crash an interpreter that shuts down in order.
    """
    look_for_cycles_rarely()
    try:
        code = _run()
    except KeyboardInterrupt:
        # The command was still being imported: it has done nothing.
        sys.stderr.write("interrupted: the command had not begun\n")
        code = _EXIT_INTERRUPTED
    except Exception as error:  # what a foreign module raises, or lacks, can be anything
        code = _report_foreign_modules(error)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 1
    os._exit(code)


def _run() -> int:
    """The exit code of the command."""
    from holdfast.cli.app import app
    from holdfast.models.errors import BadConfiguration, BadInput, HoldfastError

    try:
        _check_arguments(sys.argv[1:])
        app()
    except SystemExit as leaving:
        if _is_interrupted(leaving):
            sys.stderr.write("\ninterrupted; jobs that were submitted continue\n")
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except HoldfastError as error:
        from holdfast.cli.render.terminal_output import printable

        # The message may hold text that a tool or a page wrote.
        sys.stderr.write(f"error: {printable(str(error))}\n")
        return 2 if isinstance(error, BadInput | BadConfiguration) else 1
    except BrokenPipeError:
        return 1
    return 0


def _report_foreign_modules(error: Exception) -> int:
    """Print which modules are foreign; if none is, the error is raised again.

    `holdfast doctor` does the same, but cannot start if a module is hidden that every command
    imports.
    """
    from holdfast.installed_modules import find_module_faults

    faults = find_module_faults()
    if not faults:
        raise error
    sys.stderr.write(f"error: {type(error).__name__}: {error}\n")
    for fault in faults:
        sys.stderr.write(f"{fault.detail}\n     -> {fault.remedy}\n")
    return 1


def _is_interrupted(leaving: SystemExit) -> bool:
    """True if an interrupt ended the command before the command could say so itself."""
    # Typer exits with 130 from a KeyboardInterrupt that reaches it.
    return isinstance(getattr(leaving.__context__, "__cause__", None), KeyboardInterrupt)


def _check_arguments(words: list[str]) -> None:
    """Refuse bytes that are not text: they would fail deep inside, in a driver or in JSON.

    Raises:
        BadInput: a word of the command is not valid UTF-8.
    """
    from holdfast.models.errors import BadInput

    for number, word in enumerate(words, start=1):
        try:
            word.encode()
        except UnicodeEncodeError as error:
            shown = word.encode("utf-8", "replace").decode()
            message = (
                f"word {number} of the command, {shown!r}, is not valid UTF-8; set a UTF-8 locale, "
                "or give the question on standard input with -"
            )
            raise BadInput(message) from error


if __name__ == "__main__":
    main()
