"""Records a program that runs itself: any loop of a user's, of either side.

What comes before the first step is a forward pass, and goes into the scenario ``inference``; what comes after
`Run.step` goes into ``steps``.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import platform
import re
import sys
from typing import Iterable, Iterator, Mapping

import numpy as np

from ..errors import essence
from ..frames import UserCode, place_of
from .format.plan import Plan
from .format.reading import Recorded, read
from .format.rows import Place, VariableRow
from .format.scenarios import INFERENCE, STEPS, STRUCTURE
from .format.store import Chapter, Recording
from .pairs import mapping, structures
from .pairs.batches import Batch, Batches, PairError
from .pairs.pair import Pair
from .tensors import Array, Function, Json, Layer, Nest, Tensor, Variable
from .tf2.variables import shape_of
from .values.layout import Layouts

__all__ = ["Run", "record", "run_itself", "runs_itself"]

_SLOT = re.compile(r"(Adadelta|Adagrad|AdagradDA|Adam|AdaMax|ExponentialMovingAverage|Ftrl|Momentum|RMSProp)(_\d+)?")
_COUNTER = re.compile(r"beta[12]_power(_\d+)?|global_step")
_GIVEN = ("inputs", "labels", "params")


class Run:
    """What a program tells of itself while it runs.

    Values are numpy arrays, eager tensors, variables or numbers, and where outputs are meant also structures of them;
    in a TF1 program they are what ``session.run`` gave.

    Attributes:
        steps: how many training steps are wanted.
        seed: of all randomness.
    """

    def __init__(
        self, recording: Recording, code: UserCode, plan: Plan, pair: Pair | None = None, tf1: Recorded | None = None
    ) -> None:
        self.steps = plan.steps
        self.seed = plan.seed
        self._recording = recording
        self._code = code
        self._pair = pair
        self._tf1 = tf1
        self._batches: Batches | None = None
        self._initial: dict[str, tuple[Array, Place | None]] = {}
        self._step = -1
        self._chapters: dict[str, Chapter] = {}
        self._open = contextlib.ExitStack()

    def batch(self, step: int = 0) -> Batch:
        """The inputs and labels of a step, as the pair gives them.

        Raises:
            PairError: if the pair gives none, or the program was not given to a pair.
        """
        if self._pair is None:
            raise PairError("this run belongs to no pair, which could give a batch")
        if self._batches is None:
            others = None if self._tf1 is None else self._tf1.batches()
            self._batches = Batches(self._pair, others, self._recording.note)
        return self._batches.at(step)

    def input(self, value: Nest) -> None:
        """Keep the inputs; two sides are only compared if theirs are equal."""
        self._keep("input", _flat(value, "input"))

    def label(self, value: Nest) -> None:
        """Keep the labels."""
        self._keep("label", _flat(value, "label"))

    def tap(self, name: str, value: Nest) -> None:
        """Keep an intermediate value; on both sides it has the same name."""
        self._keep("tap", [(name, value)], auto=False)

    def output(self, value: Nest, name: str = "output") -> None:
        """Keep the outputs, one or a structure of them."""
        self._keep("output", _flat(value, name))

    def loss(self, value: Nest) -> None:
        """Keep the loss that the step minimizes."""
        self._keep("loss", [("loss", value)])

    def regularization(self, value: Nest, name: str = "total") -> None:
        """Keep a regularization loss, or the sum of all."""
        self._keep("regularization", [(name, value)])

    def metric(self, name: str, value: Nest) -> None:
        """Keep a metric."""
        self._keep("metric", [(name, value)])

    def learning_rate(self, value: Nest) -> None:
        """Keep the learning rate of the step."""
        self._keep("learning_rate", [("learning_rate", value)])

    def gradient(self, variable: Variable, value: Nest) -> None:
        """Keep the gradient of a variable, which is given itself or by its name."""
        self._keep("gradient", [(_name(variable), value)])

    def gradients(self, pairs: Iterable[tuple[Tensor, Variable]]) -> None:
        """Keep gradients as ``apply_gradients`` takes them: pairs of gradient and variable."""
        for value, variable in pairs:
            if value is not None:
                self.gradient(variable, value)

    def variables(self, source: Nest) -> None:
        """Keep the values of variables: before the first step, the initial ones; in a step, those after the update.

        Args:
            source: a model, layer or module; a ``tf.compat.v1.Session``, whose graph's variables are meant; variables;
                or a dict of values by name.
        """
        found = _variables(source)
        place = place_of(self._code.stack())
        if not self._recording.content["variables"]:
            self._recording.content["variables"] = [_described(*item) for item in found]
            with self._recording.scenario(STRUCTURE):
                pass
        values = _values(source, [variable for _, variable in found])
        if self._step < 0:
            self._initial = {name: (value, place) for (name, _), value in zip(found, values)}
            return
        self._keep("variable", [(name, value) for (name, _), value in zip(found, values)])

    def evaluation(self, value: Nest, name: str = "output") -> None:
        """Keep outputs in inference mode, with the weights as they are after the step."""
        self._keep("evaluation", _flat(value, name))

    def copy_initial_values(self, model: Layer) -> int:
        """Give a TF2 model the initial values that the TF1 side recorded; says how many variables got one."""
        if self._tf1 is None:
            raise PairError("there is no recording of the TF1 side to copy from")
        pair = self._pair
        scenario = self._tf1.scenario(STEPS)
        known = {record.name: record for record in scenario.of_kind("variable", -1)}
        known = known or {record.name: record for record in self._tf1.scenario(INFERENCE).of_kind("variable")}
        own = dict(_variables(model))
        matching = mapping.match(
            [dict(record.more, name=name, shape=record.shape) for name, record in known.items()],
            [_described(name, variable) for name, variable in own.items()],
            None if pair is None else pair.renames,
            () if pair is None else pair.ignore,
        )
        layouts = Layouts() if pair is None else Layouts(pair.transposes, pair.reshapes)
        for match in matching.pairs:
            name = match.tf1["name"]
            value = known[name].whole
            target = own[match.tf2["name"]]
            target.assign(layouts.value(name, value, shape_of(target)))
        copied = f"{len(matching.pairs)} of {len(known)} variables"
        self._recording.adapted(f"the program copied the initial values of {copied} from the TF1 side")
        return len(matching.pairs)

    def step(self) -> contextlib.AbstractContextManager[None]:
        """Begin the next training step, which ends the one before; may be used in a ``with``, which ends it as well."""
        chapter = self._chapter(STEPS)
        if self._step < 0:
            for name, (value, place) in self._initial.items():
                chapter.add("variable", name, value, -1, place)
        chapter.flush()
        self._step += 1
        return self._ending(chapter)

    @contextlib.contextmanager
    def _ending(self, chapter: Chapter) -> Iterator[None]:
        yield
        chapter.flush()

    @contextlib.contextmanager
    def recorded(self) -> Iterator[Run]:
        """Complete the recording when the body ends, also by an error, which passes through."""
        try:
            with self._open:
                yield self
                self._keep_forward_variables()
        except Exception as error:
            place = place_of(self._code.of_error(error))
            for name in self._chapters or (STEPS,):
                self._recording.failed(name, essence(error), place)
            raise
        finally:
            self._recording.quote(self._code.files)
            self._recording.save()

    def _keep_forward_variables(self) -> None:
        """The initial values belong to the forward pass too, if there was one."""
        chapter = self._chapters.get(INFERENCE)
        if chapter is not None:
            for name, (value, place) in self._initial.items():
                chapter.add("variable", name, value, 0, place)

    def _chapter(self, name: str) -> Chapter:
        if name not in self._chapters:
            self._chapters[name] = self._open.enter_context(self._recording.scenario(name))
        return self._chapters[name]

    def _keep(self, kind: str, values: Iterable[tuple[str, Nest]], **more: Json) -> None:
        chapter = self._chapter(INFERENCE if self._step < 0 else STEPS)
        place = place_of(self._code.stack())
        for name, value in values:
            chapter.add(kind, name, _array(value, kind, name), max(self._step, 0), place, **more)


@contextlib.contextmanager
def record(
    folder: str | os.PathLike[str],
    side: str,
    *,
    steps: int = 3,
    seed: int = 42,
    tf1: str | os.PathLike[str] | None = None,
    limit: int = 2 << 30,
) -> Iterator[Run]:
    """Record any program of the caller's; the body tells what it computes.

    Args:
        folder: where the recording is written; that of an earlier one is replaced.
        side: ``"tf1"`` or ``"tf2"``.
        steps: how many training steps are wanted, for the body to read.
        seed: of all randomness, likewise.
        tf1: the folder of the TF1 side's recording, for `Run.copy_initial_values`.
        limit: bytes of taps that are kept.

    Raises:
        ValueError: if there is no such side.
        RecordingError: if `tf1` holds no recording.
    """
    if side not in ("tf1", "tf2"):
        raise ValueError(f"side={side!r}: it is 'tf1' or 'tf2'")
    recording = Recording(os.fspath(folder), side, limit)
    recording.content["versions"] = _versions()
    code = UserCode([os.getcwd(), *_callers_folder()])
    other = None if tf1 is None else read(os.fspath(tf1))
    with Run(recording, code, Plan((), steps, seed), tf1=other).recorded() as run:
        yield run


def runs_itself(function: Function) -> bool:
    """Whether a side is a function with a parameter named ``run``."""
    try:
        return "run" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def run_itself(
    function: Function, pair: Pair, plan: Plan, recording: Recording, code: UserCode, tf1: Recorded | None = None
) -> None:
    """Run a side that is a function with a parameter named ``run``.

    Parameters named ``inputs``, ``labels`` and ``params`` get those of the pair: the first batch, and its params.

    Raises:
        PairError: if it has other required parameters.
        Exception: whatever the function raises, once the recording says so.
    """
    run = Run(recording, code, plan, pair, tf1)
    arguments: dict[str, Nest] = {"run": run}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in _GIVEN:
            arguments[name] = pair.params if name == "params" else getattr(run.batch(0), name)
        elif name != "run" and parameter.default is parameter.empty and parameter.kind not in _VARIADIC:
            raise PairError(f"a function with a parameter run may have {', '.join(_GIVEN)}, but not {name}")
    recording.content["brief"] = False  # it tells the same in any run
    with run.recorded():
        function(**arguments)
    for name in plan.scenarios:
        if name not in recording.content["scenarios"]:
            recording.not_run(name, "this side runs itself")
    recording.note(f"{recording.content['side']} ran itself, and recorded what it told")


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _callers_folder() -> list[str]:
    for frame in inspect.stack(context=0):
        if frame.filename not in (__file__, contextlib.__file__) and os.path.isfile(frame.filename):
            return [os.path.dirname(os.path.abspath(frame.filename))]
    return []


def _versions() -> dict[str, str]:
    framework = sys.modules.get("tensorflow")
    return {"tensorflow": str(getattr(framework, "__version__", "?")), "python": platform.python_version()}


def _flat(value: Nest, single: str) -> list[tuple[str, Tensor]]:
    """The leaves of a structure with their paths; a list of numbers is one of them."""
    return structures.flat(_joined(value), single)


def _joined(value: Nest) -> Nest:
    if isinstance(value, Mapping):
        return {key: _joined(part) for key, part in value.items()}
    if isinstance(value, list) and value and all(isinstance(part, (bool, int, float)) for part in value):
        return np.asarray(value)
    return [_joined(part) for part in value] if isinstance(value, list) else value


def _variables(source: Nest) -> list[tuple[str, Variable]]:
    if isinstance(source, Mapping):
        return [(_name(name), value) for name, value in source.items()]
    graph = getattr(source, "graph", None)
    if graph is not None and hasattr(source, "run"):
        found = graph.get_collection("variables")
        return [(_name(item), item) for item in found if not _is_other(_name(item))]
    for field in ("weights", "variables"):
        found = getattr(source, field, None)
        if found is not None and not callable(found):
            return [(_name(item), item) for item in found if "seed_generator" not in _name(item)]
    return [(_name(item), item) for item in source]


def _is_other(name: str) -> bool:
    """Whether a TF1 variable belongs to an optimizer, or counts steps."""
    last = name.rpartition("/")[2]
    return _SLOT.fullmatch(last) is not None or _COUNTER.fullmatch(last) is not None


def _name(variable: Variable) -> str:
    text = variable if isinstance(variable, str) else str(getattr(variable, "path", None) or variable.name)
    return mapping.plain(text)


def _described(name: str, variable: Variable) -> VariableRow:
    dtype = getattr(variable, "dtype", None)
    shape = getattr(variable, "shape", None)
    if shape is None:
        shape = np.shape(variable)
    return {
        "name": name,
        "shape": [int(size) for size in shape],
        "dtype": str(getattr(dtype, "name", dtype) or np.asarray(variable).dtype).replace("_ref", ""),
        "trainable": bool(getattr(variable, "trainable", True)),
        "tracked": True,
        "place": None,
        "initializer": None,
        "layer": None,
    }


def _values(source: Nest, variables: list[Variable]) -> list[Array]:
    if getattr(source, "graph", None) is not None and hasattr(source, "run"):
        return list(source.run(variables)) if variables else []
    return [_array(variable, "variable", _name(getattr(variable, "name", "?"))) for variable in variables]


def _array(value: Nest, kind: str, name: str) -> Array:
    """A numpy array of what is given.

    Raises:
        PairError: for a tensor of a graph, which has no value outside a session.
    """
    if hasattr(value, "indices") and hasattr(value, "dense_shape"):  # the gradient of a lookup
        import tensorflow as tf

        value = tf.convert_to_tensor(value)
    get = getattr(value, "numpy", None)
    if callable(get):
        with contextlib.suppress(NotImplementedError, AttributeError):
            return np.asarray(get())
    if hasattr(value, "op") and hasattr(value, "graph"):
        raise PairError(f"{kind} {name} is a tensor of a graph: record what session.run makes of it")
    return np.asarray(value)
