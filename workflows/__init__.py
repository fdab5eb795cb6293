"""The durable part: carries out, step by step, what `planning` decides."""
