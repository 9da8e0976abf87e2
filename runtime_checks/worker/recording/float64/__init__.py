"""The same graph with the same values in float64: what float32 rounds, and what it does not."""
