"""A training loop is run to its end, interrupted and resumed, and what it does is written down step by step."""
