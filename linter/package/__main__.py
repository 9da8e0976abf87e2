"""``python -m migrate_lint``."""

from migrate_lint.linter.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
