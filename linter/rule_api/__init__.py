"""What the author of a rule writes against."""
