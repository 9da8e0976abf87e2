"""The TF1 side: its graphs are built, and run in sessions."""
