"""Hold responses: what a client of the Responses API was given an id for."""
