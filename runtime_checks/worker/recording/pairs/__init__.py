"""What the user gives: a pair, its batches, the names of its variables, and what its functions return."""
