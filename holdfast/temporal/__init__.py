"""Connect to Temporal and reach the workflow of a job."""
