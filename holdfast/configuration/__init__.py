"""Read `holdfast.toml`, open the built-in tool servers, and configure logging."""
