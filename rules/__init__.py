"""The hazards: a folder a family, a module a rule, named by its slug."""
