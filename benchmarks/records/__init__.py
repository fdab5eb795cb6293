"""What work with finished jobs costs: forks."""
