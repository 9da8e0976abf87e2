"""How long the HTML report of a folder takes to open and to filter, against an empty page.

    python benchmarks/html_report.py FOLDER

lints the folder and drives an installed Chromium, through playwright, over both pages in turn.
Each figure is a median; a page is open when it is loaded and painted.
The exit status is 1 if the report takes more than five times as long as an empty page.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BAR = 5.0
EMPTY = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>empty</title></html>"
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
FILTER = """() => {
    const start = performance.now();
    document.querySelector(".toggle.error").click();
    document.body.offsetHeight;
    return performance.now() - start;
}"""


def opening(page: Any, file: Path) -> float:
    """Seconds until a file is loaded and painted."""
    page.goto("about:blank")
    start = time.perf_counter()
    page.goto(file.as_uri())
    page.evaluate(PAINTED)
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="what is linted")
    parser.add_argument("--runs", type=int, default=15, help="how often each page is opened (default 15)")
    parser.add_argument("--chromium", help="the browser; the default is the one on PATH")
    arguments = parser.parse_args()
    chromium = arguments.chromium or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        parser.error("no Chromium on PATH: name one with --chromium")
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="migrate-lint-benchmark-") as folder, sync_playwright() as playwright:
        report, empty = Path(folder, "report.html").resolve(), Path(folder, "empty.html").resolve()
        empty.write_text(EMPTY, "ascii")
        lint = [sys.executable, "-m", "migrate_lint", "--exit-zero", "--output-format", "html", "--output-file"]
        subprocess.run([*lint, str(report), str(arguments.folder.resolve())], check=True)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        times = [(opening(page, empty), opening(page, report)) for _ in range(arguments.runs)]
        print(f"report      {report.stat().st_size / 1e6:.2f} MB, {page.locator('.lead').inner_text()}")
        filtering = statistics.median(page.evaluate(FILTER) for _ in range(arguments.runs))
        browser.close()
    plain, full = (statistics.median(each) * 1000 for each in zip(*times, strict=True))
    ratio = statistics.median(full / plain for plain, full in times)
    print(f"empty page  {plain:.0f} ms")
    print(f"report      {full:.0f} ms, {ratio:.2f} x (bar {BAR:g})")
    print(f"a filter    {filtering:.0f} ms")
    return int(ratio > BAR)


if __name__ == "__main__":
    sys.exit(main())
