"""The first file that the model's interpreter runs: ``python start.py job.json``.

Python puts this folder first on ``sys.path``, where ``run.py`` or ``target.py`` would be found in place of the user's
modules of these names.
So the folder goes away before anything else is imported, and the worker is loaded as one package under a name of its
own.
"""

import sys

if __name__ == "__main__":
    del sys.path[0]

    import importlib.util
    import os

    _folder = os.path.dirname(os.path.abspath(__file__))
    _spec = importlib.util.spec_from_file_location(
        "_migrate_lint_worker", os.path.join(_folder, "__init__.py"), submodule_search_locations=[_folder]
    )
    if _spec is None or _spec.loader is None:
        raise SystemExit(f"the worker cannot be loaded from {_folder}")
    _package = importlib.util.module_from_spec(_spec)
    sys.modules["_migrate_lint_worker"] = _package
    _spec.loader.exec_module(_package)

    from _migrate_lint_worker.main import main  # type: ignore[import-not-found]

    main(sys.argv[1])
