"""Variable lifecycle in the forward pass (TF1xx)."""
