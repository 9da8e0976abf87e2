"""The TF9xx findings that the linter itself makes: about a file, a comment or a crash, not about a site.

They have no gates and never see code; they are here so that they are documented, selected and explained like any rule.
"""

from __future__ import annotations

from .finding import Consequence, Finding, Severity
from .rule import Rule

__all__ = ["TOOL_RULES", "InternalError", "Python2Source", "UnparsableFile", "UnusedSuppression"]


class _ToolRule(Rule):
    """A finding of the tool: made with `at`, never by a walk."""

    @classmethod
    def at(
        cls,
        path: str,
        message: str,
        line: int = 1,
        column: int = 1,
        end_line: int | None = None,
        end_column: int | None = None,
    ) -> Finding:
        """Make the finding; without an end it spans one character."""
        return Finding(
            path=path,
            line=line,
            column=column,
            end_line=line if end_line is None else end_line,
            end_column=column + 1 if end_column is None else end_column,
            code=cls.code,
            slug=cls.slug(),
            severity=cls.severity,
            consequence=cls.consequence,
            message=message,
        )


class UnparsableFile(_ToolRule):
    """A file that cannot be read or parsed has not been linted.

    ## Why
    Nothing is known about such a file, so it must not pass as clean.
    The message says what stands in the way: a syntax error with its line, syntax newer than the running Python,
    an undeclared encoding, a missing target of a link, a FIFO or a device.
    Every other file is still linted.

    ## Example
    ```py
    def forward(x:
        return x
    ```

    ## Fix
    ```py
    def forward(x):
        return x
    ```

    ## Source
    https://docs.python.org/3/reference/lexical_analysis.html
    """

    code = "TF900"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS

    @classmethod
    def slug(cls) -> str:
        """The hazard's name in words."""
        return "unparsable-file"


class UnusedSuppression(_ToolRule):
    """A suppression comment hides nothing, or names a rule that does not exist.

    ## Why
    A comment that has outlived its finding hides the next one that appears on its line.
    Only TF codes are judged, only those selected in this run, and never a blanket `noqa`.

    ## Example
    ```py
    rate = 0.1  # migrate-lint: disable=TF101
    ```

    ## Fix
    ```py
    rate = 0.1
    ```

    ## Source
    https://docs.astral.sh/ruff/rules/unused-noqa/
    """

    code = "TF901"
    severity = Severity.WARNING
    consequence = Consequence.LEGACY

    @classmethod
    def slug(cls) -> str:
        """The hazard's name in words."""
        return "unused-suppression"


class Python2Source(_ToolRule):
    """The file is written in Python 2, which TensorFlow 2 does not run on and this linter does not read.

    ## Why
    TensorFlow 2.1 was the last release for Python 2.7, so such a file has to be converted before it is migrated.
    It is recognised by what only Python 2 reads: print and exec statements, `except X, e`, `raise X, "text"`,
    backticks, `<>`, `0777`, `10L` and `ur""`.

    ## Example
    ```py
    print "loss", loss
    ```

    ## Fix
    ```py
    print("loss", loss)
    ```

    ## Source
    https://docs.python.org/3.12/library/2to3.html
    """

    code = "TF902"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS

    @classmethod
    def slug(cls) -> str:
        """The hazard's name in words."""
        return "python2-source"


class InternalError(_ToolRule):
    """A rule crashed, so a hazard may have gone unseen.

    ## Why
    The message names the rule, the file and the line; the other rules and files are still linted.
    The exit status is 2, whatever else was found, because the result is incomplete.

    ## Example
    ```text
    model.py:12:5: TF909[internal-error] error TF101 crashed: IndexError: tuple index out of range
    ```

    ## Fix
    ```text
    migrate-lint check --ignore TF101 model.py
    ```
    Report the crash with the lines that it names; until it is repaired, run without the rule.

    ## Source
    https://docs.astral.sh/ruff/linter/#exit-codes
    """

    code = "TF909"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS

    @classmethod
    def slug(cls) -> str:
        """The hazard's name in words."""
        return "internal-error"


TOOL_RULES: tuple[type[_ToolRule], ...] = (UnparsableFile, UnusedSuppression, Python2Source, InternalError)
"""Every tool-level rule, by code."""
