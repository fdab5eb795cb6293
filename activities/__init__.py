"""Activities: the work of the engine on models, tools and PostgreSQL, each safe to repeat."""
