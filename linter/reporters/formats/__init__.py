"""A report format each: the module's name is the format's, its docstring says for whom it is."""
