"""The same job on other durable systems, as programs of an environment of their own."""
