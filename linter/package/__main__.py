"""``python -m migrate_lint``."""

import os
import sys

if not sys.flags.safe_path and sys.path[:1] in ([""], [os.getcwd()]):
    del sys.path[0]  # a linted tree with a json.py of its own is not to be imported

from migrate_lint.linter.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
