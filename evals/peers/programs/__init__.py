"""Programs that run in the peers' environment: they read an order and print what they deliver."""
