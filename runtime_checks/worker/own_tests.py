"""A program's own tests: the models that they make and call, which are run on when all tests are over.

While the tests run, this listens and changes nothing that they could see. What is done with their models comes after
the last of them, so that no test meets a model, a random stream or a layer's name that it would not have met.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import threading
from collections import Counter
from typing import Any, Iterator, NamedTuple, Sequence

import numpy as np

from . import inputs, shims, steps
from .execution import Execution
from .frames import UserCode
from .hooks import all_hooks
from .hooks.layers import layer_classes
from .judge import report, take_snapshots
from .lines import Lines
from .patching import replaced
from .phases import IMPORT, Phase
from .recorder import Event, Recorder
from .run import FAILED, UNREACHED, Run, StaticFinding
from .target import TargetError

__all__ = ["OwnTests", "Watched"]

_FITTING = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
_SOURCE = "those of the test"
_ROWS = 8
"""Of the arrays that a test gives to ``fit``."""


class _Call(NamedTuple):
    """A model, and the arguments of its first call with values, or else what it was fitted to."""

    model: Any
    sample: inputs.Sample | None
    batch: Any


class _Test:
    """What a test did, in the phase ``build``; ``calls`` are its models, by address."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.building = Phase("build")
        self.events: Sequence[Event] = ()
        self.calls: dict[int, _Call] = {}
        self.symbolic: set[int] = set()
        self.passed = False


class Watched(NamedTuple):
    """What came of one model: the test's name, the class of the model, and the results, as `Execution.found` gives."""

    test: str
    model: str
    found: dict[str, Any]


class OwnTests:
    """Listens to the tests of a program, and runs on the models that they made."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._code = UserCode(roots)
        self._lines = Lines(self._code)
        self._recorder = Recorder(self._code)
        self._importing = Phase(IMPORT)
        self._kept: list[_Test] = []
        self._known: set[Any] = set()
        self._reached: set[int] = set()
        self._came: dict[int, str] = {}
        self._tested: set[tuple[str, int, str]] = set()
        self._counts: Counter[str] = Counter()
        self._test: _Test | None = None
        self._calling = threading.local()
        self._job: dict[str, Any] = {}
        self._ran_after: set[tuple[str, int, str]] = set()
        self._open = contextlib.ExitStack()
        self._open.enter_context(self._lines.recording())

    def listen(self, job: dict[str, Any]) -> None:
        """Listen to TensorFlow from now on, for the findings of a job; what is imported from now on is seen."""
        self._job = job
        Run(job, self._code, self._recorder)  # tells the recorder which findings there are
        self._open.enter_context(self._code.following_autograph())
        self._open.enter_context(self._recorder.hooked(all_hooks()))
        for cls in layer_classes():
            self._open.enter_context(replaced(cls, "__call__", self._listening(cls.__call__)))
        for cls in _model_classes():
            for name in _FITTING:
                self._open.enter_context(replaced(cls, name, self._fitting(getattr(cls, name), name)))
        self._recorder.phase = self._importing

    @contextlib.contextmanager
    def test(self, name: str) -> Iterator[None]:
        """What happens in the body belongs to a test."""
        test = self._test = _Test(name)
        first = len(self._recorder.events)
        self._enter(test.building)
        try:
            yield
        finally:
            self._enter(self._importing)
            self._test = None
            test.events = self._recorder.cut(first)
            self._keep(test)

    def _keep(self, test: _Test) -> None:
        """Keep of a test that has passed the models to be run, and not all of a large suite.

        Of models of the same classes one is run, and another where its test came to a finding's line that no test
        before had come to.
        """
        run = self._run_of(test)
        came = {finding.id for finding in run.findings if run.ran(finding)}
        for number in came:
            self._came.setdefault(number, test.name)
        self._tested |= test.building.ran
        models = _models(test)
        self._counts.update(
            tests=1,
            ran=bool(models),
            failed=not test.passed and bool(test.calls),
            symbolic=bool(test.symbolic) and not test.calls,
        )
        test.calls = {id(call.model): call for call in models if self._is_new(call.model, came)}
        if test.calls:
            self._kept.append(test)

    def _is_new(self, model: Any, came: set[int]) -> bool:
        classes = (_name(model), frozenset(map(_name, _parts(model))))
        if classes in self._known and came <= self._reached:
            return False
        self._known.add(classes)
        self._reached |= came
        return True

    def passed(self) -> None:
        """The test that runs has passed."""
        if self._test is not None:
            self._test.passed = True

    def _enter(self, phase: Phase | None) -> None:
        if self._recorder.phase is not None:
            self._recorder.phase.ran |= self._lines.take()
        self._recorder.phase = phase

    def close(self) -> None:
        """Stop listening, and put everything back."""
        self._enter(None)
        self._open.close()

    # What tests do with models

    def _listening(self, original: Any) -> Any:
        @functools.wraps(original)
        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            with self._outermost() as is_outermost:
                if is_outermost:
                    self._keep_call(layer, args, kwargs)
                return original(layer, *args, **kwargs)

        call.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph leaves it as it is
        return call

    def _fitting(self, original: Any, name: str) -> Any:
        @functools.wraps(original)
        def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
            with self._outermost() as is_outermost:
                if is_outermost:
                    self._keep_fit(model, args, kwargs, name)
                return original(model, *args, **kwargs)

        fit.autograph_info__ = {}  # type: ignore[attr-defined]
        return fit

    @contextlib.contextmanager
    def _outermost(self) -> Iterator[bool]:
        """Whether the test itself calls, and no other model."""
        inside = getattr(self._calling, "inside", False)
        self._calling.inside = True
        try:
            yield not inside
        finally:
            self._calling.inside = inside

    def _keep_call(self, layer: Any, args: Any, kwargs: Any) -> None:
        test = self._test
        if test is None or id(layer) in test.calls:
            return
        with contextlib.suppress(Exception):
            sample = _sample(args, kwargs)
            if sample is None:
                test.symbolic.add(id(layer))
            else:
                test.calls[id(layer)] = _Call(layer, sample, None)

    def _keep_fit(self, model: Any, args: Any, kwargs: Any, name: str) -> None:
        test = self._test
        if test is None or id(model) in test.calls:
            return
        with contextlib.suppress(Exception):
            names = ("x",) if name.startswith("predict") else ("x", "y")
            given = dict(zip(names, args), **{key: value for key, value in kwargs.items() if key in names})
            parts = _first_rows([given[key] for key in names if given.get(key) is not None])
            if parts and len(names) == 1:
                test.calls[id(model)] = _Call(model, inputs.Sample((parts[0],), {}, _SOURCE), None)
            elif parts:
                test.calls[id(model)] = _Call(model, None, tuple(parts) if len(parts) > 1 else parts[0])

    # What is done with them afterwards

    def run_on(self) -> Iterator[Watched]:
        """Run the models that were kept, in the order of their tests."""
        import tensorflow as tf

        with contextlib.suppress(AttributeError):
            tf.debugging.disable_traceback_filtering()
        for test in self._kept:
            for call in test.calls.values():
                yield Watched(test.name, type(call.model).__qualname__, self._run(tf, test, call))

    def _run_of(self, test: _Test | None) -> Run:
        """The run that imported what the tests import, and in which a test was the ``build``."""
        run = Run(self._job, self._code, self._recorder)
        run.phases = [self._importing] if test is None else [self._importing, test.building]
        for phase in run.phases:
            phase.outcome, phase.detail = "ok", ""
        imported = {path for phase in run.phases for path, _, _ in phase.ran}
        if test is not None:
            run.findings = [finding for finding in run.findings if finding.path in imported]
        return run

    def _run(self, tf: Any, test: _Test, call: _Call) -> dict[str, Any]:
        run = self._run_of(test)
        before = len(self._recorder.events)
        self._recorder.add(test.events)
        execution = Execution(run, self._lines)
        run.model = run.keeper = run.built = call.model
        run.batch = call.batch
        later = steps.after_build(run)
        run.phases += [phase for phase, _ in later]
        with self._code.following_autograph(), self._recorder.hooked(all_hooks()), shims.for_slim(
            run.target, run.notes.append
        ), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                run.sample = call.sample or inputs.find(call.model, None, None, self._job, call.batch)
            except TargetError as error:
                for phase in run.phases[2:]:
                    phase.detail = str(error)
                later = []
            for phase, body in later:
                execution.do(phase, body)
                if isinstance(phase.error, KeyboardInterrupt):
                    raise phase.error
            take_snapshots(run, None)
        found = execution.found(None)
        for finding in run.findings:  # a model that raises says nothing of lines that it has nothing to do with
            if found["judgements"][str(finding.id)][0] == FAILED and not run.ran(finding):
                del found["judgements"][str(finding.id)]
        self._recorder.cut(before)
        self._ran_after.update(place for phase in run.phases[2:] for place in phase.ran)
        return found

    def rest(self, tests: int) -> dict[str, Any]:
        """What the tests show without any of their models: verdicts by number, lines, and how many of all tests ran."""
        run = self._run_of(None)
        judgements, _ = report(run)
        said = {number: [one.verdict, "", one.detail] for number, one in judgements.items()}
        for finding in run.findings:
            if judgements[str(finding.id)].verdict == UNREACHED:
                said[str(finding.id)][2] = self._why_unreached(finding)
        return {"judgements": said, "lines": self._lines_run(), "notes": list(self._counted(tests))}

    def _why_unreached(self, finding: StaticFinding) -> str:
        came = self._came.get(finding.id)
        return "no test came to this line" if came is None else f"no model that was run came to this line; {came} did"

    def _lines_run(self) -> list[Any]:
        ran: dict[str, dict[str, set[int]]] = {}
        for name, places in ((IMPORT, self._importing.ran), ("tests", self._tested), ("models", self._ran_after)):
            for path, line, _ in places:
                ran.setdefault(path, {}).setdefault(name, set()).add(line)
        statements = self._lines.statements()
        return [
            [path, sorted(statements[path]), [[name, sorted(lines)] for name, lines in ran.get(path, {}).items()]]
            for path in sorted(statements)
        ]

    def _counted(self, number: int) -> Iterator[str]:
        """How many tests there were, and of which the models were not run, where there are such."""
        counts = self._counts
        ran = f"{counts['tests']} of {number} were run" if number > counts["tests"] else str(number)
        yield f"tests: {ran}, of which {counts['ran']} passed and called a model"
        left = {"that did not pass": counts["failed"], "that gave them symbolic tensors alone": counts["symbolic"]}
        yield from (f"not run: models of tests {why}: {count}" for why, count in left.items() if count)


def _models(test: _Test) -> list[_Call]:
    """What a test that has passed called, of models that are no part of another one."""
    if not test.passed:
        return []
    parts = {id(part) for call in test.calls.values() for part in _parts(call.model)}
    return [call for address, call in test.calls.items() if address not in parts]


def _model_classes() -> list[type[Any]]:
    """The base classes of models, of each Keras that is there."""
    found = [sys.modules[cls.__module__.partition(".")[0]].Model for cls in layer_classes()]
    return list(dict.fromkeys(found))


def _name(model: Any) -> tuple[str, str]:
    """Of its class, which a test may define anew each time."""
    return type(model).__module__, type(model).__qualname__


def _parts(model: Any) -> Sequence[Any]:
    flatten = getattr(model, "_flatten_layers", None)
    return () if flatten is None else list(flatten(include_self=False))


def _sample(args: Any, kwargs: Any) -> inputs.Sample | None:
    """The arguments of a call, as the test cannot change them any more; None if one of them has no value."""
    import tensorflow as tf

    if any(map(_is_symbolic, tf.nest.flatten((args, kwargs)))):
        return None
    args, kwargs = tf.nest.map_structure(_copied, (args, kwargs))
    kwargs.pop("training", None)
    return inputs.Sample(tuple(args), dict(kwargs), _SOURCE)


def _is_symbolic(value: Any) -> bool:
    has_type = hasattr(value, "dtype") and hasattr(value, "shape")
    return has_type and not isinstance(value, (np.ndarray, np.generic)) and not hasattr(value, "numpy")


def _copied(value: Any) -> Any:
    return np.array(value) if isinstance(value, np.ndarray) else value


def _first_rows(given: Sequence[Any]) -> list[Any]:
    """Of the arrays that ``fit`` was given the first rows, of a dataset its first element; of anything else nothing."""
    import tensorflow as tf

    if given and isinstance(given[0], tf.data.Dataset):
        element = next(iter(given[0]))
        return list(element) if isinstance(element, tuple) else [element]
    leaves = tf.nest.flatten(list(given))
    if not all(isinstance(leaf, np.ndarray) or (tf.is_tensor(leaf) and hasattr(leaf, "numpy")) for leaf in leaves):
        return []
    return [tf.nest.map_structure(lambda leaf: tf.convert_to_tensor(leaf[:_ROWS]), one) for one in given]
