"""The same job on other durable systems, as programs with an environment of their own."""
