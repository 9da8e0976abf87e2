"""Values for variables: filled, read from a checkpoint, laid out as the TF2 side has them."""
