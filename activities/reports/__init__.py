"""Write the report of a job, check its sentences against the evidence and deliver it."""
