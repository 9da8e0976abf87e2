"""The cause found by trying, and what a comparison would catch: which changes of the TF2 program to run, and what of it."""
