"""Training steps of a TF1 graph in a session."""

from __future__ import annotations

from typing import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from ...frames import UserCode
from ..format.store import Chapter
from ..pairs import structures
from ..pairs.batches import Batch, Batches
from ..tensors import Array, Tensor, V1Session, Variable
from ..values import fills, sampling
from ..values.sampling import Places
from ..watching import v1_optimizers
from ..watching.operations import averages, upstream
from .building import Network, Value, order
from .operations import Operations
from .sessions import assign, initialize, opened, read, size_of
from .step import Step, run_values, step_of
from .variables import Slot, plain, slots, weights

__all__ = ["record_batch", "record_values", "record_variables", "train"]

_FEW = 1 << 20
"""Bytes of variables, gradients and slots up to which those of every step are kept."""
_FIRST = 3
_LARGE = 64 << 20
"""Bytes that wait in memory before they are written."""


def train(
    network: Network,
    batches: Batches,
    chapter: Chapter,
    code: UserCode,
    *,
    steps: int,
    automatic: bool,
    with_operations: bool,
    nudged: bool,
    grappler: bool,
    initial: Iterable[tuple[Variable, Array]],
    places: Mapping[str, Places],
    whole: Collection[int],
    heard: Callable[[int, list[tuple[str, Array]]], None],
    ended: Callable[[V1Session], None],
) -> None:
    """Record training from the graph's initial values.

    Args:
        network: a graph that has a ``train_op``.
        batches: of the steps.
        chapter: where to.
        code: tells the user's files.
        steps: how many.
        automatic: whether outputs of layers are recorded that nobody has asked for.
        with_operations: whether the single operations of the first step are recorded.
        nudged: whether the initial values are moved by about one unit in the last place, and each update by what
            the rounding of constants makes of it.
        grappler: whether TensorFlow may rewrite the graph.
        initial: values for variables that are not to begin with their own.
        places: of elements that are kept of large variables, where they are known.
        whole: the steps after which all elements of large variables are kept: TF2's get them.
        heard: gets the number and the weights by name after the first and after the last step.
        ended: gets the session after the last step.
    """
    variables, kept = weights(network), slots(network)
    wanted = [value for value in network.values if automatic or not value.more.get("auto")]
    within = upstream([getattr(network.train_op, "op", network.train_op)])
    operations = Operations(network, code, within) if with_operations else None
    step_fetches = step_of(network, [*wanted, *(operations.values if operations else ())], code)
    shares = _shares(network) if nudged else {}
    every = _is_little(variables, kept, network)
    with opened(network, grappler) as session:
        initialize(session, network)
        assign(session, initial)
        if nudged:
            assign(session, _nudged(session, variables))
        record_variables(chapter, session, variables, -1)
        for step in range(steps):
            shown = step < _FIRST or step == steps - 1
            batch = batches.at(step)
            record_batch(chapter, network, batch, step)
            before = list(read(session, [variable for variable in variables if plain(variable) in shares]))
            fetches = _without(step_fetches, shown, every, step == 0)
            choose = _choosing(chapter, variables, places) if step == 0 and not chapter.recording.places else None
            _one(session, fetches, network.feeds(batch), chapter, step, operations if step == 0 else None, choose)
            assign(session, _lengthened(session, before, shares))
            if shown or every:
                _record_state(session, variables, kept, chapter, step, step in whole)
            if step in (0, steps - 1):
                heard(step, [(plain(variable), value) for variable, value in read(session, variables)])
            chapter.flush()
        ended(session)


def record_batch(chapter: Chapter, network: Network, batch: Batch, step: int) -> None:
    """Record what is fed: the inputs, and the labels where the function wanted them."""
    for name, value in structures.flat(batch.inputs, "input"):
        chapter.add("input", name, value, step=step)
    if network.labels and batch.labels is not None:
        for name, value in structures.flat(batch.labels, "label"):
            chapter.add("label", name, value, step=step)


def record_variables(
    chapter: Chapter, session: V1Session, variables: Sequence[Variable], step: int = 0, whole: bool = False
) -> None:
    """Record the values of variables, written to disk some at a time."""
    size = 0
    for variable, value in read(session, variables):
        chapter.add("variable", plain(variable), value, step=step, whole=whole)
        size += value.nbytes
        if size > _LARGE:
            chapter.flush()
            size = 0


def record_values(
    chapter: Chapter,
    values: Sequence[Value],
    computed: list[Array],
    step: int = 0,
    operations: Operations | None = None,
) -> None:
    """Record what was computed for values, emptying the list: large taps lie in memory once.

    With `operations` layers say which of them give their inputs.
    """
    size = 0
    for at, value in enumerate(values):
        array, computed[at] = computed[at], None
        more = dict(value.more, inputs=operations.ids(value.given)) if operations and value.given else value.more
        chapter.add(value.kind, value.name, array, step=step, place=value.place, **more)
        size += getattr(array, "nbytes", 0)
        if size > _LARGE:
            chapter.flush()
            size = 0


def _choosing(
    chapter: Chapter, variables: Sequence[Variable], given: Mapping[str, Places]
) -> Callable[[Mapping[str, Array]], None] | None:
    """Chooses the elements of a large model that are kept from now on, by the first gradients; None for another one.

    Where they are `given` it is those.
    """
    if sum(map(size_of, variables)) < sampling.MODEL:
        return None

    def choose(gradients: Mapping[str, Array]) -> None:
        counts = {plain(variable): variable.shape.num_elements() or 0 for variable in variables}
        sampling.keep(
            chapter,
            {
                name: given.get(name) or sampling.places(count, gradients.get(name))
                for name, count in counts.items()
                if sampling.is_large(count)
            },
        )

    return choose


def _is_little(variables: Sequence[Variable], kept: Sequence[Slot], network: Network) -> bool:
    size = sum(size_of(variable) for variable in variables) + sum(size_of(slot.variable) for slot in kept)
    for applied in network.applied:
        size += sum(size_of(variable) for _, variable in applied.grads_and_vars)
    return size <= _FEW


def _without(step: Step, shown: bool, every: bool, first: bool) -> Step:
    """The fetches of a step: layers' outputs only where they are shown, gradients too unless all are kept.

    Operations are those of the first step alone.
    """

    def stays(value: Value) -> bool:
        if value.kind == "operation":
            return first
        if value.kind == "tap":
            return shown or not value.more.get("auto")
        return value.kind != "gradient" or shown or every

    return step._replace(
        before=[value for value in step.before if stays(value)], during=[value for value in step.during if stays(value)]
    )


def _one(
    session: V1Session,
    fetches: Step,
    feeds: dict[Tensor, Array],
    chapter: Chapter,
    number: int,
    operations: Operations | None,
    choose: Callable[[Mapping[str, Array]], None] | None,
) -> None:
    """Run one step and record what it computed, in the order of construction; `choose` gets the gradients before."""
    early = _early(session, fetches, feeds) if fetches.before else []
    during = run_values(session, fetches.during, feeds, fetches.operations)
    late = run_values(session, fetches.after, feeds) if fetches.after else []
    values = [*fetches.before, *fetches.during, *fetches.after]
    computed = [*early, *during, *late]
    del early, during, late
    if choose is not None:
        choose({value.name: array for value, array in zip(values, computed) if value.kind == "gradient"})
    if operations is not None:
        sketches = {value.name: array for value, array in zip(values, computed) if value.kind == "operation"}
        operations.record(chapter, [sketches[value.name] for value in operations.values], number)
    ranked = sorted(range(len(values)), key=lambda at: _rank(values[at]))
    ranked = [at for at in ranked if values[at].kind != "operation"]
    record_values(chapter, [values[at] for at in ranked], [computed[at] for at in ranked], number, operations)


def _early(session: V1Session, fetches: Step, feeds: dict[Tensor, Array]) -> list[Array]:
    """The values before a step; the variables are as before it when they have been computed."""
    kept = list(read(session, fetches.moved))
    computed = run_values(session, fetches.before, feeds)
    assign(session, kept)
    return computed


def _rank(value: Value) -> tuple[int, int]:
    """The forward pass in the order of construction, then metrics, rates and gradients in their own."""
    later = ("metric", "learning_rate", "gradient")
    return (later.index(value.kind) + 1, 0) if value.kind in later else (0, order(value))


def _record_state(
    session: V1Session, variables: Sequence[Variable], kept: Sequence[Slot], chapter: Chapter, step: int, whole: bool
) -> None:
    record_variables(chapter, session, variables, step, whole)
    for slot, (_, value) in zip(kept, read(session, [slot.variable for slot in kept])):
        chapter.add_slot(slot.weight, slot.canonical, value, step, slot.number)


def _nudged(session: V1Session, variables: Sequence[Variable]) -> Iterable[tuple[Variable, Array]]:
    for variable, value in read(session, variables):
        moved = fills.nudged(plain(variable), value)
        if moved is not None:
            yield variable, moved


def _shares(network: Network) -> dict[str, float]:
    """By the name of a variable, the share of an update that the rounding of constants can change.

    They are those of the optimizer, and the decay of a moving average: fused batch normalization of TF1 subtracts it
    from 1 in float32, all others in Python.
    """
    found = {name: v1_optimizers.rounding_of(decay) for name, decay in averages(network.graph).items()}
    for applied in network.applied:
        share = v1_optimizers.rounding(applied.optimizer)
        found.update((plain(variable), share) for _, variable in applied.grads_and_vars if share)
    return found


def _lengthened(
    session: V1Session, before: Sequence[tuple[Variable, Array]], shares: Mapping[str, float]
) -> Iterable[tuple[Variable, Array]]:
    """The weights after a step, with each update longer by its share."""
    for (variable, old), (_, new) in zip(before, read(session, [variable for variable, _ in before])):
        if fills.floating(new.dtype) is not None:
            update = new.astype(np.float64) - old.astype(np.float64)
            yield variable, (new + shares[plain(variable)] * update).astype(new.dtype)
