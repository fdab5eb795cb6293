"""Read replies while they are written: events, the pieces of a chat completion, and silences."""
