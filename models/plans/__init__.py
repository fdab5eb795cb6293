"""Plans as data: tasks with inputs and promised entities, and changed fields."""
