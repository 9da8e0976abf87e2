"""All rules: those here, those of packages and of a project, and those of the tool itself."""
