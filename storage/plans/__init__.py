"""Read and write plans and their tasks: plan changes, task attempts, results and examples."""
