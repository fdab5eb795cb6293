"""Begin a fork with the plan, the results and the recorded calls of the job that was forked."""
