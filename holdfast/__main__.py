"""`holdfast`: the command line, with every error in one line and no traceback for a mistake."""

import os
import sys


def main() -> None:
    """Run the command line and leave at once.

    Temporal's client can hang or crash an interpreter that shuts down in order, so it does not.
    """
    code = _run()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 1
    os._exit(code)


def _run() -> int:
    from holdfast.cli.app import app
    from models.errors import BadConfiguration, BadInput, HoldfastError

    try:
        _check_words(sys.argv[1:])
        app()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except HoldfastError as error:
        from holdfast.cli.output import printable

        # It may hold what a tool or a page wrote.
        sys.stderr.write(f"error: {printable(str(error))}\n")
        return 2 if isinstance(error, BadInput | BadConfiguration) else 1
    except BrokenPipeError:
        return 1
    return 0


def _check_words(words: list[str]) -> None:
    """Bytes that are no text would fail deep inside, in a driver or in JSON.

    Raises:
        BadInput: a word of the command is not valid UTF-8.
    """
    from models.errors import BadInput

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
