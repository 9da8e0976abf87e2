"""tf.function and tracing (TF2xx)."""
