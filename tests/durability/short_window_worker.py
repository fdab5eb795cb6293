"""A worker that counts the requests of two seconds instead of a minute, for the tests of limits."""

from holdfast.storage.limits import model_turns
from holdfast.worker import main

WINDOW_S = 2.0

if __name__ == "__main__":
    model_turns.WINDOW_S = WINDOW_S
    main()
