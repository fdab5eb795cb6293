"""Break the code on purpose, and see whether the tests that carry the row notice.

`python -m tests.breakages` applies each breakage of `breakages.toml` in a copy of the checkout and
runs there the tests that carry its row of docs/conformance.md. It is no part of `make test`, which
only checks that each breakage still fits the code.
"""
