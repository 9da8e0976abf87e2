"""Reads what a TF1 program is made of, and writes the pair that compares it with a TF2 program."""
