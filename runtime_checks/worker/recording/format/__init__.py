"""A recording on disk: what is planned, written and read."""
