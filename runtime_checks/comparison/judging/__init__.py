"""One value of both sides: which belong together, and how far they may be apart."""
