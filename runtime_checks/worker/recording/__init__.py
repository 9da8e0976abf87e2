"""Records what each side of a pair computes; runs in the interpreter of that side."""
