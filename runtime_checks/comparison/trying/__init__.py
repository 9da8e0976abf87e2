"""The cause found by trying, and what a comparison would catch: which changes of the TF2 program are run."""
