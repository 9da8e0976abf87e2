"""The ledger of random operations: each draw with its kind, operation seed, shape, purpose and line.

Draws are seen at three places: where TensorFlow asks for an operation's seed, where a stateful random operation is
made, and where a stateless one or one of a ``tf.random.Generator`` is made, whose seeds nobody asks for.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any, Iterator, NamedTuple, Sequence

from ...frames import UserCode
from ...patching import replaced
from ..format.draws import INITIAL_VALUE, STEP
from ..format.rows import DrawRow, Place, Standing
from ..tensors import Function, Operation, Tensor, Variable
from ..watching.trace_graph import current_trace_graph
from ..watching.variable_creation import initial_values

__all__ = ["Draw", "Ledger", "Share", "initializing", "of_pipeline"]

_STATEFUL = "tensorflow.python.ops.gen_random_ops"
_UNASKED = (
    "tensorflow.python.ops.gen_stateless_random_ops",
    "tensorflow.python.ops.gen_stateless_random_ops_v2",
    "tensorflow.python.ops.gen_stateful_random_ops",
)
_KINDS = ("random_", "truncated_normal", "multinomial", "parameterized_", "stateless_", "stateful_")
_NO_DRAWS = ("random_gamma_grad", "stateless_random_get_", "stateful_random_get_")

_NEAR = 5
"""Lines between the draw of a value and the variable that gets it."""

# A variable's initial value is computed below one of these.
_CREATORS = ("__init__", "_init_from_args", "_initialize_with_initializer", "_deferred_initialize", "value")
_CREATING_FILES = (
    "/python/ops/variables.py",
    "/python/ops/variable_v1.py",
    "/python/ops/ref_variable.py",
    "/python/ops/resource_variable_ops.py",
    "/python/eager/def_function.py",
    "/python/eager/polymorphic_function/polymorphic_function.py",
    "/keras/src/backend/common/variables.py",
    "/keras/src/backend/tensorflow/core.py",
)
_PIPELINES = tuple(
    f"/{package}/python/{part}"
    for package in ("tensorflow", "tensorflow_core")  # as TF 1.15 has it
    for part in ("data/", "ops/data_flow_ops.py")
)
"""Where ``tf.data`` is, and queues."""


@dataclass(eq=False)
class Draw:
    """One random operation.

    ``op`` is its kind, or the function that asked for a seed and then made no operation; ``seed`` the seed of the
    operation, None where it has none; ``shape`` what it draws, None and unknown sizes as None; ``purpose`` is
    `INITIAL_VALUE` or `STEP`; ``place`` the user's innermost file and line, or None; ``step`` the training step.
    """

    op: str
    seed: int | None
    purpose: str
    place: Place | None
    step: int
    shape: list[int | None] | None = None
    operation: Operation = None
    """The operation itself, where it was made in a graph."""
    number: int | None = None
    """The seed that it has in the function that is called in place of the one in which it was made."""
    source: tuple[str, int] | None = None
    """The name of the function in whose trace it was made, and the step."""
    wanted: int | None = None
    """The seed that the program gives it."""


class Share(NamedTuple):
    """The rows of a batch that a replica gets: its number, its first row, how many rows, and how many there are."""

    replica: int
    first: int
    rows: int
    whole: int


class Ledger:
    """The draws in the order in which they were made; `code` tells the user's lines from all others.

    ``begin_step`` says that a training step begins.
    """

    def __init__(self, code: UserCode | None = None) -> None:
        self.draws: list[Draw] = []
        self.step = 0
        self._code = code
        self._begun = False
        self._asked: Draw | None = None
        self._thread = threading.local()

    @property
    def share(self) -> Share | None:
        """What the replica gets that this thread runs; None outside of replicas."""
        return getattr(self._thread, "share", None)

    @contextlib.contextmanager
    def replica(self, share: Share) -> Iterator[None]:
        """What this thread draws in the body is a replica's; only the first one's draws are kept."""
        before, self._thread.share = self.share, share
        try:
            yield
        finally:
            self._thread.share = before

    def begin_step(self, numbers: Sequence[Standing] = ()) -> None:
        """The draws that follow belong to the next training step; the first call begins step 0.

        Those that are numbered within a step get these numbers first, in place of 0, 1, 2 ...; those that stand for
        turns are drawn turn by turn.
        """
        self.step += 1 if self._begun else 0
        self._begun = True

    @contextlib.contextmanager
    def evaluating(self, numbers: Sequence[Standing] = ()) -> Iterator[None]:
        """What the body draws belongs to the inference after a training step, and is not kept; see `begin_step`."""
        before = list(self.draws)
        try:
            yield
        finally:
            self.draws[:] = before

    def asked(self, seed: int | None, purpose: str | None = None, wanted: int | None = None) -> None:
        """A seed was asked for, in place of one that was `wanted`; to be called by what stands for ``get_seed``."""
        caller = sys._getframe(2)
        self._asked = self._add(caller.f_code.co_name, seed, caller, purpose)
        self._asked.wanted = wanted if isinstance(wanted, int) else None

    def made(self, op: str, seed: int | None, result: Tensor) -> None:
        """An operation was made; to be called by what stands for the function that makes it."""
        if of_pipeline(sys._getframe(1)):
            return
        draw = self._asked
        if draw is None or seed is None or draw.seed != seed:
            draw = self._add(op, seed, sys._getframe(2), None)
        self._asked = None
        draw.op = op
        draw.shape = _shape(result)
        try:
            draw.operation = result.op
        except Exception:  # an eager tensor has none
            draw.operation = None

    def settle(self, initial: Sequence[Tensor]) -> None:
        """Correct the purposes of the draws in a graph by the operations that initial values are computed from."""
        known = {id(operation) for operation in initial}
        for draw in self.draws:
            if draw.operation is not None:
                draw.purpose = INITIAL_VALUE if id(draw.operation) in known else STEP

    def described(self, last_step: int = 0) -> list[DrawRow]:
        """As JSON data, up to the end of a training step; a graph's operations all belong to step 0."""
        found: list[DrawRow] = []
        for draw in self.draws:
            if draw.step <= last_step:
                said: DrawRow = {
                    "op": draw.op, "seed": draw.seed, "shape": draw.shape, "purpose": draw.purpose,
                    "place": draw.place,
                }  # fmt: skip
                if draw.wanted is not None:
                    said["wanted"] = draw.wanted
                if draw.operation is not None:
                    said["name"] = draw.operation.name
                within = _within(draw.operation)
                if within:
                    said["repeats" if within == "loop" else "sometimes"] = True
                found.append(said)
        return found

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Hear of every operation that draws, in the body."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(initial_values(self._created))
            for module, stateful in [(_STATEFUL, True)] + [(name, False) for name in _UNASKED]:
                for owner, name, function in _functions(module):
                    stack.enter_context(replaced(owner, name, self._heard(name, function, stateful)))
            yield

    def _created(self, variable: Variable, initial: Tensor) -> None:
        """A variable was made: a value of its shape that was drawn just before, near by, was for it."""
        last = self.draws[-1] if self.draws else None
        if last is None or last.purpose != STEP or last.place is None or callable(initial):
            return
        stack = () if self._code is None else self._code.stack(sys._getframe(1))
        near = bool(stack) and stack[0][0] == last.place[0] and 0 <= stack[0][1] - last.place[1] <= _NEAR
        if near and last.shape is not None and last.shape == _shape(variable):
            last.purpose = INITIAL_VALUE

    def _heard(self, name: str, function: Function, stateful: bool) -> Function:
        op = "".join(part[:1].upper() + part[1:] for part in name.split("_"))

        def call(*arguments: object, **named: Any) -> Tensor:
            result = function(*arguments, **named)
            self.made(op, named.get("seed2") if stateful else None, result)
            return result

        return call

    def _add(self, op: str, seed: int | None, frame: FrameType, purpose: str | None) -> Draw:
        if purpose is None:
            purpose = INITIAL_VALUE if initializing(frame) else STEP
        stack = () if self._code is None else self._code.stack(frame)
        draw = Draw(op, seed, purpose, (stack[0][0], stack[0][1]) if stack else None, self.step)
        first = self.share is None or not self.share.replica
        if first and not current_trace_graph()[1]:  # in a pass of Keras 3 that only asks for shapes nothing is drawn
            self.draws.append(draw)
        return draw


def _within(operation: Operation) -> str:
    """``loop`` for a part of what a loop of the graph does in each turn, ``branch`` for one of a branch alone."""
    found = ""
    graph = getattr(operation, "graph", None)
    while graph is not None:
        kind = type(graph).__name__
        if kind.startswith("While"):
            return "loop"
        found = "branch" if kind.startswith("Cond") else found
        graph = getattr(graph, "outer_graph", None)
    context = operation._get_control_flow_context() if hasattr(operation, "_get_control_flow_context") else None
    while context is not None:
        if context.IsWhileContext():
            return "loop"
        found = "branch" if context.IsCondContext() else found
        context = context.outer_context
    return found


def initializing(frame: FrameType | None) -> bool:
    """Whether a variable's initial value is being computed at a frame of the stack."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in _CREATORS and code.co_filename.replace("\\", "/").endswith(_CREATING_FILES):
            return True
        frame = frame.f_back
    return False


def _functions(module: str) -> list[tuple[ModuleType, str, Function]]:
    try:
        owner = importlib.import_module(module)
    except ImportError:
        return []
    return [
        (owner, name, value)
        for name, value in sorted(vars(owner).items())
        if name.startswith(_KINDS)
        and not name.startswith(_NO_DRAWS)
        and not name.endswith(("_eager_fallback", "_fallback"))
        and callable(value)
    ]


def _shape(tensor: Tensor) -> list[int | None] | None:
    try:
        return [None if size is None else int(size) for size in tensor.shape.as_list()]
    except (AttributeError, ValueError, TypeError):
        return None


def of_pipeline(frame: FrameType | None) -> bool:
    """Whether a queue or ``tf.data`` asks at a frame of the stack, for itself or by a function that a dataset maps.

    A pair gives batches in place of what they make.
    """
    while frame is not None:
        path = frame.f_code.co_filename.replace("\\", "/")
        if any(part in path for part in _PIPELINES):
            return True
        frame = frame.f_back
    return False
