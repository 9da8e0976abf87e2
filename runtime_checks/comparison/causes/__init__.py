"""Classes of causes, and the clues for each."""
