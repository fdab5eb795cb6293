"""Define every shape of data in Holdfast; models are valid by construction and do no I/O."""
