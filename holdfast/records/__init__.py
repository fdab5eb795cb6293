"""Work with finished jobs as records: fork, compare and update them."""
