"""A run of a training loop that was interrupted and resumed is held against one that was not."""
