"""The documentation site: Markdown read by MyST, shown by furo.

sphinx-build -W --keep-going -n docs build/docs
"""

from __future__ import annotations

import sys
from pathlib import Path

import migrate_lint

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "migrate-lint"
version = release = migrate_lint.__version__
copyright = "the authors of migrate-lint"
extensions = ["myst_parser", "rule_pages", "command_line", "formats", "rungs", "tf1_names"]
exclude_patterns = ["_ext"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
nitpicky = True
# Pages of rules hold code that is wrong on purpose, Python 2 among it.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "text"

html_theme = "furo"
html_title = f"migrate-lint {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sphinx = False
