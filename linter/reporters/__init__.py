"""How findings are shown, a module a format."""
