"""One run: files, target, analysis, rules, findings; and what is kept of it for the next."""
