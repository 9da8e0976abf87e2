"""Known differences between TF1 and TF2, changed in the TF2 program while it runs; its files stay as they are."""
