"""What roles are told about tasks: the context of an agent, explained values, calls tried."""
