"""Count the work of a check, and end the check when it has done too much."""


class UncheckableSchema(Exception):
    """The schema cannot be evaluated completely; the message gives the reason."""


class Steps:
    """The work that is left to a check.

    A step is the evaluation of one keyword, or one look at a name, an item or a piece of text:
    about half a microsecond.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def take(self, count: int = 1) -> None:
        """Count work that is about to be done.

        Raises:
            UncheckableSchema: the limit is reached.
        """
        self._left -= count
        if self._left < 0:
            raise UncheckableSchema(f"checking a value takes more than {self._limit:,} steps")
