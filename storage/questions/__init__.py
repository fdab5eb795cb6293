"""Read and write the questions that a job asks of people, and their answers."""
