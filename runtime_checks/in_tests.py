"""Runtime checks in the process of a program's own tests: each model that a test makes and calls is run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..linter.finding import Evidence, Finding, FindingKey, Target, Verdict
from ..linter.runtime_report import PhaseOutcome, RuntimeReport, WorkerRun
from .locate import Located
from .protocol import Results, job, results
from .verdict import merged, observation, shown, together
from .worker import results as worker_results
from .worker import shims
from .worker.own_tests import OwnTests

__all__ = ["InTests", "target_here"]

_DECIDED = (Verdict.CONFIRMED, Verdict.FAILED, Verdict.REFUTED)


def target_here() -> Target:
    """Which Keras ``tf.keras`` is in this process; imports TensorFlow.

    Raises:
        ImportError: if there is none.
    """
    return Target(shims.target())


class InTests:
    """Runtime evidence from the tests of a program, for what static analysis found in it."""

    def __init__(self, root: str) -> None:
        self.tests = OwnTests([root])
        self._target = Target.KERAS3
        self._findings: list[Finding] = []
        self._shown = 0
        self._concerned: list[int] = []
        self._device = ""

    def listen(
        self,
        target: Target,
        findings: Sequence[Finding],
        hidden: Sequence[Finding],
        found_for: Mapping[FindingKey, frozenset[Target]],
    ) -> None:
        """Listen to TensorFlow from now on.

        Args:
            target: which Keras this process has.
            findings: what static analysis found.
            hidden: what the user has suppressed or not selected.
            found_for: the targets of a finding, where those are not all.
        """
        self._target = target
        self._findings = [*findings, *hidden]
        self._shown = len(findings)
        for number, one in enumerate(self._findings):
            if target in found_for.get((one.path, one.line, one.column, one.code), frozenset(Target)):
                self._concerned.append(number)
        self.tests.listen(
            job(
                target=target,
                device=None,
                located=Located(None, None, "", ()),
                shapes=(),
                dtypes=(),
                roots=(),
                memory_limit=None,
                findings=[(number, os.path.realpath(one.path), one) for number, one in self._with_numbers()],
            )
        )

    def _with_numbers(self) -> Iterator[tuple[int, Finding]]:
        return ((number, self._findings[number]) for number in self._concerned)

    def report(self, tests: int) -> RuntimeReport:
        """Run the models of the tests, which are over, and judge every finding.

        Args:
            tests: how many there are, those that were not run included.
        """
        import tensorflow as tf

        self.tests.close()
        versions = worker_results.versions(tf)
        with tf.init_scope():
            self._device = tf.zeros(()).device.rpartition("device:")[2]
        evidence: dict[int, list[Evidence]] = {number: [] for number in range(len(self._findings))}
        added: list[tuple[str, Finding]] = []
        runs: list[WorkerRun] = []
        for watched in self.tests.run_on():
            said = results(watched.found, self._concerned)
            for number, one in self._evidence(said, watched.test):
                if one.verdict in _DECIDED and one.verdict not in {known.verdict for known in evidence[number]}:
                    evidence[number].append(one)
            added += self._added(said, watched.test)
            runs.append(self._run(said, versions, f"`{watched.model}` of {watched.test}"))
        rest = results(self.tests.rest(tests), self._concerned)
        for number, one in self._evidence(rest, ""):
            evidence[number] = evidence[number] or [one]
        judged = [merged(one, evidence[number]) for number, one in enumerate(self._findings)]
        return RuntimeReport(
            tuple(judged[: self._shown]), tuple(together(added)), (self._run(rest, versions), *runs)
        )

    def _evidence(self, said: Results, test: str) -> Iterator[tuple[int, Evidence]]:
        for number, one in said.judged.items():
            place = f"{one.phase} of {test}" if one.phase else test
            yield number, Evidence(self._target, self._device, place, one.verdict, one.detail)

    def _added(self, said: Results, test: str) -> Iterator[tuple[str, Finding]]:
        for one in said.observed:
            if one.path is not None:
                with contextlib.suppress(OSError):
                    text = _line_of(one.path, one.line)
                    here = one._replace(phase=f"{one.phase} of {test}")
                    yield one.kind, observation(
                        here, path=shown(one.path), text=text, target=self._target, device=self._device
                    )

    def _run(self, said: Results, versions: Mapping[str, str], model: str = "") -> WorkerRun:
        return WorkerRun(
            target=self._target,
            device=self._device,
            tensorflow=versions["tensorflow"],
            keras=versions["keras"],
            python=versions["python"],
            phases=said.phases or (PhaseOutcome("tests", "ok", 0.0, ""),),
            scopes=said.scopes,
            notes=said.notes,
            lines=tuple(replace(one, path=shown(one.path)) for one in said.lines),
            cause=None,
            seconds=sum(phase.seconds for phase in said.phases),
            peak_memory=0,
            model=model,
        )


def _line_of(path: str, line: int) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return next((text.rstrip("\r\n") for number, text in enumerate(file, 1) if number == line), "")
