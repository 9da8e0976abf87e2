"""TensorFlow 1 API residue (TF4xx)."""
