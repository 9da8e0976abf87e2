"""The TF9xx findings of the tool itself: about a file, a comment, a run of the model or a crash, not about a site.

They have no gates and never see code; they are here so that they are documented, selected and explained like any rule.
"""

from __future__ import annotations

from typing import ClassVar

from ..finding import (
    HARMFUL_FIX,
    INTERNAL_ERROR,
    PROBE_FAILED,
    PROBE_ONLY_FINDING,
    PYTHON2_SOURCE,
    UNPARSABLE_FILE,
    UNUSED_SUPPRESSION,
    ToolFinding,
)
from ..rule_api.rule import Rule


class _ToolRule(Rule):
    """The documentation of a `ToolFinding`: it is never asked about a site."""

    finding: ClassVar[ToolFinding]

    def __init_subclass__(cls) -> None:
        cls.code, cls.severity, cls.consequence = cls.finding.code, cls.finding.severity, cls.finding.consequence

    @classmethod
    def slug(cls) -> str:
        """The hazard's name in words."""
        return cls.finding.slug


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

    finding = UNPARSABLE_FILE


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

    finding = UNUSED_SUPPRESSION


class Python2Source(_ToolRule):
    """The file is written in Python 2, which TensorFlow 2 does not run on.

    ## Why
    TensorFlow 2.1 was the last release for Python 2.7, so such a file has to be converted before it is migrated.
    It is recognised by what only Python 2 reads: print and exec statements, `except X, e`, `raise X, "text"`,
    backticks, `<>`, `0777`, `10L` and `ur""`.
    The linter does not read it as it is. With the extra `migrate-lint[python2]`, which brings fissix (a fork of lib2to3
    that is kept up), the file is linted as it would read in Python 3, besides this finding: what TF2 breaks in it is
    known before it is converted. Its lines stay in place, columns may be a few characters off, and nothing is written.
    A notebook's cells are not converted, nor is a file whose lines would move, as those of `def f(a, (b, c))` do.

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

    finding = PYTHON2_SOURCE


class ProbeOnlyFinding(_ToolRule):
    """A hazard was observed while the model ran, at a line where none was found in its text.

    ## Why
    Names that are made at run time, dynamic dispatch and code of other packages hide hazards from any static analysis.
    With `--runtime` the model is built and called, and whatever it does that a migrated model may not do is reported
    at the user's line that led there, with the phase, the target and the device as evidence.
    Nothing is guessed: the line did this in this run.

    ## Example
    ```py
    class Scale(tf.keras.layers.Layer):
        def call(self, x):
            return x * getattr(tf, "Vari" + "able")(2.0)  # a new variable in every call
    ```

    ## Fix
    ```py
    class Scale(tf.keras.layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones")

        def call(self, x):
            return x * self.scale
    ```

    ## Source
    https://www.tensorflow.org/guide/migrate/validate_correctness
    """

    finding = PROBE_ONLY_FINDING


class ProbeFailed(_ToolRule):
    """The model could not be run as far as was asked, so hazards that show only there were not looked for.

    ## Why
    A run that ended early proves nothing about what would have come after.
    The message says what ended it: the target's own exception with its line, a limit of time or memory, a signal, an
    exit before the result. The static findings stand as they are, and the exit status is 1 even without any.
    No comment hides it; `--ignore TF908` does.

    ## Example
    ```text
    model.py:7:1: TF908[probe-failed] warning build() raised ValueError: no vocabulary file (keras3 on CPU:0)
    ```

    ## Fix
    ```text
    migrate-lint --runtime model.py:build --inputs samples.py:batch --timeout 300
    ```
    Give the run what it lacked: sample inputs, files, more time or memory, the interpreter of the model.

    ## Source
    https://docs.python.org/3/library/subprocess.html#subprocess.Popen.returncode
    """

    finding = PROBE_FAILED


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

    finding = INTERNAL_ERROR


class HarmfulFix(_ToolRule):
    """A fix of another finding would change what the program computes, so it was not applied.

    ## Why
    `--fix --prove` runs a pair of programs, or a model, with the fixes and without them, in a copy of the project.
    Where that is not equal, the fix that the difference comes from is searched for and left out, and the others are
    tried again without it.
    The message has the code of the finding that is left and the first difference that its fix makes.
    No comment hides it; `--ignore TF910` does.

    ## Example
    ```text
    net.py:9:12: TF910[harmful-fix] error the fix of TF406 here is not applied; with it: loss: 0.69 and 0.71
    ```

    ## Fix
    ```text
    migrate-lint rule TF406
    ```
    Mend the finding by hand, as its rule says, and report the fix with the lines that it was made for.

    ## Source
    https://www.tensorflow.org/guide/migrate/validate_correctness
    """

    finding = HARMFUL_FIX


TOOL_RULES: tuple[type[_ToolRule], ...] = tuple(_ToolRule.__subclasses__())
"""Every tool-level rule, by code."""
