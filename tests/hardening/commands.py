"""The command line, run in this process."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from migrate_lint.linter.cli.main import main
from migrate_lint.linter.registry import registry

from .source import TOO_SLOW, HangsError, described, limited
from .tally import Tally

_NEVER = ("migrate-lint: internal error", "Traceback (most recent call last)", "TF909[internal-error] error", "\x1b")


@dataclass(frozen=True)
class Ran:
    """How a command ended: `status` is None where it raised or did not end."""

    status: int | None
    output: str
    errors: str
    seconds: float
    """Of a processor."""

    def wrong(self, *allowed: int) -> str:
        """What a command may never do, whatever it is given: raise, hang, or end with a status of none of its ends."""
        for text in (self.output, self.errors):
            for mark in _NEVER:
                if mark in text:
                    return f"{mark!r}: {text[:600]}"
        if self.status not in allowed:
            return f"status {self.status}: {self.errors[:600]}"
        if self.status == 2 and not self.errors:
            return "status 2, and no reason"
        if self.seconds > TOO_SLOW:
            return f"{self.seconds:.1f} s of a processor"
        return ""


def ran(*words: str) -> Ran:
    """Run the command with these words."""
    output, errors = io.StringIO(), io.StringIO()
    began = time.process_time()
    status: int | None
    try:
        with limited(), redirect_stdout(output), redirect_stderr(errors):
            status = main(words)
    except HangsError:
        status = None
        errors.write("it did not end")
    except Exception as error:
        status = None
        errors.write(described(error))
    finally:
        registry.use(())
    return Ran(status, output.getvalue(), errors.getvalue(), time.process_time() - began)


def judged(tally: Tally, kind: str, data: bytes, problem: str, seconds: float) -> None:
    """Count one input, with what was wrong."""
    tally.tried(kind)
    tally.took(kind, seconds, f"{len(data)} bytes, {data[:60]!r}")
    if problem:
        tally.failed(kind, problem, data)
