"""Read and write jobs: submission, workflow runs, control by people, and estimates."""
