"""Keras serialization and Keras 3 (TF3xx)."""
