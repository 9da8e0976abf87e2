"""For projects that cannot mend everything at once: a baseline, a revision to compare with, written comments."""
