"""What the code of a project means: names, classes, the call graph and the contexts in which code runs."""
