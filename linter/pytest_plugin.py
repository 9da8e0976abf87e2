"""Runtime evidence from a project's own tests: ``pytest --migrate-lint-runtime``.

The project is linted, its tests run as ever, and then every model that a test made and called is run as ``--runtime``
runs one, in this process: each finding gets a verdict from the project's own suite.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from .own_path import own_path

if TYPE_CHECKING:
    from ..runtime_checks.in_tests import InTests
    from .result import Result

_OPTION = "--migrate-lint-runtime"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option, which nothing happens without."""
    parser.getgroup("migrate-lint").addoption(
        _OPTION,
        action="store_true",
        help="lint the project, run the models that its tests make, and give each finding of migrate-lint a verdict",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin before the project's own code is imported, and leave to Python what pytest would compile itself."""
    if early_config.known_args_namespace.migrate_lint_runtime:
        rewriting: Any = early_config.pluginmanager.rewrite_hook
        if rewriting in sys.meta_path:
            sys.meta_path.remove(rewriting)
        early_config.pluginmanager.register(_Watch(os.fspath(early_config.rootpath)), "migrate-lint-runtime")


class _Watch:
    """Listens to one session."""

    def __init__(self, root: str) -> None:
        with own_path():
            from ..runtime_checks.in_tests import InTests

        self.root = root
        self.checks: InTests = InTests(root)
        self.linted: Result | None = None
        self.judged: Result | None = None
        self.deselected = 0
        self.reason = ""

    def pytest_configure(self, config: pytest.Config) -> None:
        """Refuse what runs the tests in other processes."""
        if getattr(config.option, "numprocesses", None) or hasattr(config, "workerinput"):
            self.checks.tests.close()
            raise pytest.UsageError(f"{_OPTION} listens to the tests in this process: give -n 0 with it")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Lint the project, for the Keras that its tests run with; the project's settings hold."""
        with own_path():
            from ..runtime_checks.in_tests import target_here
            from .run.cache import default_folder
            from .run.pipeline import lint
            from .settings.config import ConfigError, load, with_nested
        try:
            target = target_here()
            config = with_nested(load(self.root), lambda nearer: nearer).aimed_at(target.value)
            self.linted = lint([self.root], config, cache=default_folder(), root=self.root)
        except (ImportError, ConfigError) as error:
            self.checks.tests.close()
            raise pytest.UsageError(f"{_OPTION}: {error}") from error
        self.checks.listen(target, self.linted.findings, self.linted.hidden, self.linted.found_for)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """A test, with its fixtures."""
        with self.checks.tests.test(item.nodeid):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test may have passed."""
        if report.when == "call" and report.passed:
            self.checks.tests.passed()

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Tests that are not to be run."""
        self.deselected += len(items)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Run the models, unless the session was ended from outside."""
        from .run.verdicts import with_verdicts

        if self.linted is None or exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            self.reason = "nothing was run, since the tests did not come to their end"
            self.checks.tests.close()
            return
        try:
            self.judged = with_verdicts(self.linted, self.checks.report(session.testscollected + self.deselected))
        except KeyboardInterrupt:
            self.reason = "interrupted: nothing was judged"
        except Exception as error:  # the outcome of the tests stands
            self.reason = f"this failed by itself, and nothing was judged: {type(error).__name__}: {error}"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was found, as the command line does."""
        from .reporters import Paint, summary
        from .reporters.formats.text import report

        terminalreporter.section("migrate-lint")
        if self.judged is None:
            terminalreporter.write_line(self.reason or "nothing was linted")
            return
        paint = Paint(False)
        for line in (*report(self.judged, paint), *summary(self.judged, paint)):
            terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        """Put everything back."""
        self.checks.tests.close()
