"""Run the embedded servers: PostgreSQL and Temporal, with their files."""
