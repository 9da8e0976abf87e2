"""What code becomes: a node of a rule's choosing, or a whole file on its way through compat.v1; libcst in, text out."""
