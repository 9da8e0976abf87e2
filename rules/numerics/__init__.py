"""Numbers that silently change (TF6xx)."""
