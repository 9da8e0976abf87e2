"""One probe a rule, found by the name of the rule."""
