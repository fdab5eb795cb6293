"""Define the routes of the HTTP API by subject; each calls one use case."""
