"""From paths to files, text and trees, and the comments in them."""
