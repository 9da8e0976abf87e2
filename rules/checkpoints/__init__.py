"""Checkpoints and fault tolerance (TF5xx)."""
