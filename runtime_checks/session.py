"""One runtime check: a worker for every target and device or strategy, and what they say of the findings."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..linter.finding import Evidence, Finding, FindingKey, Target, Verdict
from ..linter.runtime_report import PhaseOutcome, RuntimeReport, WorkerRun
from . import interpreter, process, strategies
from .locate import Located, LocateError, locate
from .protocol import Results, ResultsError, job, results
from .verdict import failure, merged, observation, shown, together

__all__ = ["NotebookCode", "Request", "RuntimeUsageError", "locate_target", "run"]

_GIB = 1 << 30
_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker", "start.py")
_DECIDED_EARLY = (Verdict.CONFIRMED, Verdict.STATIC_ONLY)
"""Verdicts that hold whatever a run would have shown after it ended early."""
_LONGEST_FILE = 50 << 20
_DIMENSION = re.compile(r"\d+|\?|None", re.IGNORECASE)


class RuntimeUsageError(ValueError):
    """The run makes no sense as it was asked for; the text says why."""


@dataclass(frozen=True)
class NotebookCode:
    """The cells of a notebook as one module.

    ``cells`` are the lines of ``text`` where they begin; ``in_module`` places a finding of a cell there.
    """

    text: str
    cells: tuple[int, ...]
    in_module: Callable[[Finding], Finding]


@dataclass(frozen=True)
class Request:
    """What is to be run, and how.

    ``target`` names it (``model.py:build``), ``inputs`` sample inputs (``file.py:name``), ``shapes`` and ``dtypes``
    describe them (``2,28,28,1``; ``?`` is an unknown dimension), ``devices`` are such as ``CPU:0``; without one,
    placement is TensorFlow's. ``strategies`` are such as ``mirrored:2``, and each has a worker of its own, too.
    ``arguments`` are the program's own; ``method`` is called in place of the model; ``batch`` names what a training
    step gets and ``step`` such a step of the program's own, both as ``inputs`` does.
    ``targets`` are the Keras versions, by default the one of the interpreter; ``timeout`` is in seconds for each phase,
    ``memory_limit`` in GiB, ``roots`` are the folders whose files are the user's.
    ``notebook`` is the code of a target that is one, None of any other.
    ``found_for`` says for which targets a finding was made, where that is not all; ``working_folder`` is the model's,
    by default this process's.
    """

    target: str
    inputs: str | None = None
    shapes: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    method: str | None = None
    batch: str | None = None
    step: str | None = None
    devices: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    python: str | None = None
    timeout: float = 120.0
    memory_limit: float | None = 8.0
    roots: tuple[str, ...] = ()
    notebook: NotebookCode | None = None
    found_for: Mapping[FindingKey, frozenset[Target]] = field(default_factory=dict)
    working_folder: str | None = None


def locate_target(text: str, root: str | None = None) -> str | None:
    """The absolute path of a target's file; None for a module that is installed somewhere.

    Raises:
        RuntimeUsageError: if the text names nothing that could be run.
    """
    return _located(text, root).file


def run(
    request: Request,
    findings: Sequence[Finding],
    hidden: Sequence[Finding] = (),
    progress: Callable[[str], None] | None = None,
) -> RuntimeReport:
    """Run the model in a worker for every target and device or strategy, and judge every finding.

    Args:
        request: what is to be run.
        findings: what static analysis found; paths are relative to the working directory.
        hidden: findings that the user has suppressed or not selected; they are judged so that the run does not report
            the same again, and not returned.
        progress: told in words what runs now.

    Raises:
        RuntimeUsageError: if the target, the inputs, the interpreter, a device or a strategy cannot be had.
    """
    located = _located(request.target, request.roots[0] if request.roots else None, request.working_folder)
    try:
        python = interpreter.describe(request.python)
    except interpreter.InterpreterError as error:
        raise RuntimeUsageError(str(error)) from error
    places = _places(request)
    everything = [*findings, *hidden]
    evidence: list[list[Evidence]] = [[] for _ in everything]
    added: list[tuple[str, Finding]] = []
    runs: list[WorkerRun] = []
    for target in request.targets or (interpreter.default_target(python),):
        numbers = [n for n, finding in enumerate(everything) if _concerns(request, finding, target)]
        for place in places:
            attempt = _Attempt(request, located, python, target, place)
            attempt.execute([(n, os.path.realpath(everything[n].path), everything[n]) for n in numbers], progress)
            runs.append(attempt.summary())
            added += attempt.added()
            for number in numbers:
                evidence[number].append(attempt.evidence(number))
    judged = [merged(finding, said) for finding, said in zip(everything, evidence, strict=True)]
    return RuntimeReport(tuple(judged[: len(findings)]), tuple(together(added)), tuple(runs))


def _located(text: str, root: str | None, folder: str | None = None) -> Located:
    try:
        return locate(text, folder or os.getcwd(), root)
    except LocateError as error:
        raise RuntimeUsageError(str(error)) from error


def _concerns(request: Request, finding: Finding, target: Target) -> bool:
    place = (finding.path, finding.line, finding.column, finding.code)
    return target in request.found_for.get(place, frozenset(Target))


class _Place(NamedTuple):
    """Where a worker runs the model: on a device, under a strategy as `strategies.parse` gives it, or anywhere."""

    device: str | None = None
    strategy: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return self.strategy["text"] if self.strategy is not None else self.device or "CPU:0"

    @property
    def option(self) -> str:
        return f"--strategy {self.name}" if self.strategy is not None else f"--device {self.name}"

    @property
    def on_accelerator(self) -> bool:
        """Whether it may be: a strategy takes what there is."""
        device = self.device if self.strategy is None else self.strategy["device"] or "any"
        return device is not None and not device.startswith("CPU")


def _places(request: Request) -> list[_Place]:
    try:
        devices = [_Place(device=interpreter.device(text)) for text in request.devices]
        under = [_Place(strategy=strategies.parse(text)) for text in request.strategies]
    except ValueError as error:
        raise RuntimeUsageError(str(error)) from None
    return [*devices, *under] or [_Place()]


def _shape(text: str) -> list[int | None]:
    parts = [part.strip() for part in text.strip("()[] ").split(",") if part.strip()]
    if not all(_DIMENSION.fullmatch(part) for part in parts):
        raise RuntimeUsageError(f"--input-shape {text}: a shape is written 2,28,28,1, with ? for an unknown dimension")
    return [int(part) if part.isdigit() else None for part in parts]


def _named(option: str, text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    file, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier() or not os.path.isfile(file):
        raise RuntimeUsageError(f"{option} {text}: it is written file.py:name, with a file that exists")
    return {"file": os.path.abspath(file), "name": name}


class _Attempt:
    """One worker's run, for one target in one place."""

    def __init__(
        self, request: Request, located: Located, python: interpreter.Interpreter, target: Target, place: _Place
    ) -> None:
        self.request = request
        self.located = located
        self.python = python
        self.target = target
        self.place = place
        self.refused = interpreter.unsupported(python, target)
        self.outcome: process.Outcome | None = None
        self.results = Results()
        self.damage = ""

    def execute(self, findings: Sequence[tuple[int, str, Finding]], progress: Callable[[str], None] | None) -> None:
        """Run the worker to its end, whatever that is.

        Raises:
            RuntimeUsageError: if the device, or what the strategy needs, is not there.
        """
        request = self.request
        limit = None if not request.memory_limit else int(request.memory_limit * _GIB)
        notebook = request.notebook
        if notebook is not None:
            findings = [
                (number, path, notebook.in_module(finding) if path == self.located.file else finding)
                for number, path, finding in findings
            ]
        work = job(
            target=self.target,
            device=self.place.device,
            strategy=self.place.strategy,
            located=self.located,
            notebook=None if notebook is None else {"text": notebook.text, "cells": list(notebook.cells)},
            arguments=request.arguments,
            method=request.method,
            inputs=_named("--inputs", request.inputs),
            batch=_named("--batch", request.batch),
            step=_named("--step", request.step),
            shapes=[_shape(shape) for shape in request.shapes],
            dtypes=request.dtypes,
            roots=[*request.roots, *([os.path.dirname(self.located.file)] if self.located.file else [])],
            memory_limit=None if self.place.on_accelerator else limit,
            findings=findings,
        )
        if self.refused is not None:
            return
        accelerators = interpreter.accelerators() if self.place.on_accelerator else {}
        where = f"{self.target} on {self.place.name}"
        self.outcome = process.start(
            self.python.executable,
            _WORKER,
            work,
            timeout=request.timeout,
            memory_limit=limit,
            environment=interpreter.keras_environment(self.python, self.target) | accelerators,
            on_phase=None if progress is None else lambda phase: progress(f"{where}: {phase}"),
            working_folder=request.working_folder,
        )
        try:
            self.results = results(self.outcome.results or {}, [number for number, _, _ in findings])
        except ResultsError as error:
            self.damage = f"the results of the worker are damaged: {error}"
        if self.results.refused:
            raise RuntimeUsageError(f"{self.place.option}: {self.results.refused}")

    @property
    def cause(self) -> str | None:
        """Why the run has no end, if it has none."""
        if self.refused is not None:
            return self.refused
        if self.outcome is None or not (self.outcome.cause or self.damage):
            return None
        return self.damage or self.outcome.reason

    def evidence(self, number: int) -> Evidence:
        """What the run says of one finding."""
        judged = self.results.judged.get(number)
        if self.cause is not None and (judged is None or judged.verdict not in _DECIDED_EARLY):
            running = (self.outcome.phase if self.outcome is not None else None) or ""
            return self._evidence(Verdict.FAILED, running, self.cause)
        if judged is None:
            return self._evidence(Verdict.FAILED, "", "the worker gave no verdict")
        return self._evidence(judged.verdict, judged.phase, judged.detail)

    def _evidence(self, verdict: Verdict, phase: str, detail: str) -> Evidence:
        return Evidence(self.target, self.place.name, phase, verdict, detail)

    def summary(self) -> WorkerRun:
        """The run in short."""
        versions = self.results.versions
        outcome = self.outcome
        return WorkerRun(
            target=self.target,
            device=self.place.name,
            tensorflow=versions.get("tensorflow") or self.python.tensorflow or "none",
            keras=versions.get("keras") or "?",
            python=versions.get("python") or self.python.python_text,
            phases=tuple(self._phases()),
            scopes=self.results.scopes,
            notes=self.results.notes,
            lines=tuple(replace(file, path=shown(file.path)) for file in self.results.lines),
            cause=self.cause,
            seconds=0.0 if outcome is None else outcome.seconds,
            peak_memory=0 if outcome is None else outcome.peak_memory,
        )

    def _phases(self) -> Iterator[PhaseOutcome]:
        for phase in self.results.phases:
            if self.cause is not None and phase.outcome == "running":
                yield replace(phase, outcome="failed", detail=self.cause)
            else:
                yield phase

    def added(self) -> Iterator[tuple[str, Finding]]:
        """The observations, and what kept the model from being built or called, each with its kind."""
        for observed in self.results.observed:
            path = observed.path or self.located.file
            if path is not None:
                text = self._line_of(path, observed.line)
                yield (
                    observed.kind,
                    observation(observed, path=shown(path), text=text, target=self.target, device=self.place.name),
                )
        at = self.located.file or self.located.module or self.request.target
        if self.cause is not None:
            place = (self.outcome.crash_frame if self.outcome is not None else None) or (at, 1)
            phase = (self.outcome.phase if self.outcome is not None else None) or ""
            yield self._failure(place[0], place[1], self.cause, phase)
        if fatal := self.results.fatal:
            words = self.outcome.last_words(3) if fatal.ended == "exited" and self.outcome is not None else ""
            wrote = f"; it last wrote: {words}" if words else ""
            how = "not run" if fatal.ended == "not run" else "failed"
            reason = f"{fatal.phase} {how}: {fatal.detail}{wrote}"
            yield self._failure(fatal.path or at, fatal.line, reason, fatal.phase)

    def _line_of(self, path: str, line: int) -> str:
        """A line's text; empty where it is not known, or what the model calls a file is none."""
        notebook = self.request.notebook
        if notebook is not None and path == self.located.file:
            return "".join(notebook.text.split("\n")[line - 1 : line])
        if not os.path.isfile(path) or os.path.getsize(path) > _LONGEST_FILE:
            return ""
        return linecache.getline(path, line).rstrip("\r\n")

    def _failure(self, path: str, line: int, reason: str, phase: str) -> tuple[str, Finding]:
        message = f"{self.request.target} could not be judged on {self.target}: {reason}"
        return message, failure(
            path=shown(path), line=line, message=message, target=self.target, device=self.place.name, phase=phase
        )
