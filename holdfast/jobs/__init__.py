"""Look up, describe, estimate and control jobs for the command line and the HTTP API."""
