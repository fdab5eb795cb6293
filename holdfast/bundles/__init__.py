"""Write a job to one file that anybody can read and check, and take such a file back."""
