"""migrate-lint: find what breaks, and what silently changes, when a TensorFlow 1 program moves to TensorFlow 2."""

__version__ = "0.1.0"
