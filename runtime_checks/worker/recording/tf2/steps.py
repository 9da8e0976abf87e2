"""Training steps of a TF2 model, recorded from within."""

from __future__ import annotations

import contextlib
import inspect
import os
from typing import Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ... import signature
from ...errors import essence, text_of
from ...frames import place_of
from ..format import scenarios
from ..format.attempts import NotRunError
from ..format.rows import AverageRow, OptimizerRow, Place, Standing, VariableRow
from ..format.store import Chapter
from ..mutations.patches import exchanged
from ..pairs import structures
from ..pairs.batches import Batch, PairError
from ..tensors import Array, Function, Nest, Optimizer, Tensor, Variable
from ..watching import averages, clipping, constructions, keras_optimizers
from . import probing
from .listening import array
from .model import converted, eagerly, in_function
from .replicas import Part, Replicas, gradients_of, loss_of, spread
from .session import Made, Session
from .step_events import Applied, Seen, heard_function, watching
from .variables import Creation, value_of

__all__ = ["check_step", "step_function", "step_numbers", "train", "try_unbuilt"]

_FIRST = 3
"""So many steps are always recorded with everything, and the last one."""
_FEW = 1 << 20
"""Bytes of weights, gradients and slots up to which those of every step are kept."""
_EAGER_ONLY = (
    "has no attribute 'numpy'",
    "numpy() is only available when eager execution",
    "to a numpy array",
    "Using a symbolic",
    "using a `tf.Tensor` as a Python",
    "must be a string or a real number, not 'SymbolicTensor'",
    "only supports singleton tf.Variables",
)


_GIVEN = ("model", "inputs", "labels")
"""What the training step of a pair is called with."""


class _Step(NamedTuple):
    """What a step gave, as arrays; places of the loss, the model's call and the update."""

    outputs: Mapping[str, Nest]
    endpoints: Mapping[str, Tensor]
    taps: Mapping[str, Tensor]
    regularization: Mapping[str, Tensor]
    loss: Tensor
    metrics: Mapping[str, Tensor]
    rates: Sequence[Tensor]
    gradients: Mapping[str, Tensor]
    squares: Mapping[str, Tensor]


def train(session: Session, made: Made, chapter: Chapter) -> None:
    """Run the training steps of a plan from the TF1 side's initial values, and record each.

    In the scenario ``steps-other`` every step is one call of a ``tf.function``; in the others all functions are run
    eagerly.
    """
    trainer = _Trainer(session, made, chapter)
    traced = chapter.name == scenarios.STEPS_OTHER
    with contextlib.nullcontext() if traced else eagerly():
        trainer.begin()
        run = trainer.traced() if traced else trainer.replicated if session.plan.strategy else trainer.eager
        with contextlib.closing(trainer.assignments):
            for step in range(session.plan.steps):
                trainer.step(step, run)
        if chapter.name == scenarios.STEPS and not session.plan.strategy:
            trainer.look_ahead()
    chapter.say(random_ops=made.ledger.described())


def check_step(session: Session) -> None:
    """See whether the training step of the pair can be called.

    Raises:
        PairError: if it takes other arguments than it gets.
    """
    given = session.pair.train_step
    if given is None:
        return
    wanted = "wanted is a function train_step(model, inputs, labels), in which labels are None where there are none"

    def named() -> str:
        place = constructions.written_at(getattr(given, "func", given), session.code)
        where = "" if place is None else f" ({os.path.basename(place[0])}:{place[1]})"
        return f"train_step={getattr(given, '__name__', None) or type(given).__name__}{where}"

    if not callable(given):
        raise PairError(f"{named()} cannot be called: {wanted}")
    parameters = signature.parameters(given)
    if parameters is None:
        return
    try:
        inspect.Signature(parameters).bind(*_GIVEN)
    except TypeError as error:
        takes = ", ".join(item.name for item in parameters) or "nothing"
        raise PairError(
            f"{named()} takes {takes}, but is given three arguments, the model, the inputs and the labels ({error}): "
            f"{wanted}"
        ) from None


def try_unbuilt(session: Session, made: Made) -> None:
    """Take the first step with a model that nothing has called, as the program itself may begin, and say if it raises.

    `train` calls a model before its first step, to give it the values of the TF1 side. Keras's own training builds a
    model, too, so that only a step of the pair is tried.
    """
    if session.pair.train_step is None or made.variables.weights():
        return
    batch = session.batch_tensors(0)
    try:
        structures.step_results(converted(session.pair.train_step, made.model.value, batch.inputs, batch.labels))
    except Exception as error:
        place = place_of(session.code.of_error(error))
        where = "" if place is None else f" ({os.path.basename(place[0])}:{place[1]})"
        session.recording.content["unbuilt"] = essence(error) + where


def step_numbers(session: Session, chapter: Chapter) -> list[Standing]:
    """The numbers of what a training step draws, as a first step of a model of its own shows it.

    Where nothing is drawn, or that step fails, there are none: it will be told of where it is recorded.
    """
    if not session.copying.draws(scenarios.STEPS):
        return []
    batch = session.batch_tensors(0)
    with contextlib.suppress(Exception), session.aligned() as made, eagerly():
        trainer = _Trainer(session, made, chapter)
        trainer.prepare()
        made.ledger.begin_step()
        with watching(made.model, made.listening, session.code) as seen:
            trainer._user_step(seen, batch.inputs, batch.labels)
        return session.numbers(scenarios.STEPS, made.ledger.described())
    return []


def step_function(session: Session, made: Made, chapter: Chapter) -> Function:
    """The ``tf.function`` of the first training step from the TF1 side's initial values, as `_told` gives it."""
    trainer = _Trainer(session, made, chapter)
    trainer.prepare()
    return trainer.function()


class _Trainer:
    def __init__(self, session: Session, made: Made, chapter: Chapter) -> None:
        self.session = session
        self.made = made
        self.chapter = chapter
        self.seen: Seen | None = None
        self.assignments = probing.Assignments()
        self._every = True
        self._inferring: Sequence[Standing] = ()
        self._updates: dict[str, Place | None] = {}
        self._optimizers: list[Optimizer] = []
        self._updating: dict[str, Optimizer] = {}
        self._averages: dict[str, tuple[averages.Average, str, str]] = {}

    def begin(self) -> None:
        """Give the model its initial values, and record them."""
        self.prepare()
        weights = self.made.variables.weights()
        for name, variable in weights:
            self.chapter.add("variable", name, value_of(variable), -1)
        self.chapter.flush()
        self._every = 4 * sum(value_of(variable).nbytes for _, variable in weights) <= _FEW

    def prepare(self) -> None:
        """Give the model its initial values."""
        session, made = self.session, self.made
        with eagerly():
            self._inferring = session.build(made)
        if session.copying.possible:
            session.copy(made, "steps")
        else:
            session.recording.note("the TF1 side recorded no initial values: training began with those of the TF2 side")
        if self.chapter.name == scenarios.STEPS_NUDGED:
            made.variables.nudge(session.plan.precision)

    def step(self, number: int, run: Callable[[Batch, int], _Step]) -> None:
        """Run one step and record it."""
        session, made, chapter = self.session, self.made, self.chapter
        session.give(chapter, number)
        if chapter.name == scenarios.STEPS_FORCED and number:
            session.forcing.copy_step(made.variables, number - 1)
        made.ledger.begin_step(session.step_numbers or ())
        shown = number < _FIRST or number == session.plan.steps - 1
        batch = session.batch_tensors(number)
        first = chapter.name == scenarios.STEPS
        with_taps = first or chapter.name == scenarios.STEPS_NUDGED  # the noise of what was asked for
        if with_taps and not session.plan.strategy:  # whose replicas call each layer with a part
            operations = first and session.plan.operations and number == 0
            with made.listening.recording(chapter, number, automatic=first and shown, operations=operations):
                found = run(batch, number)
                made.listening.endpoints(found.endpoints, found.taps, self._place("forward"))
        else:
            found = run(batch, number)
        self._record(number, found, shown or self._every)
        if number == 0:
            self._describe()
        if shown or self._every:
            self._state(number)
        if number in (0, session.plan.steps - 1):
            self._evaluate(batch, number)
        chapter.flush()

    # Running a step

    def eager(self, batch: Batch, number: int) -> _Step:
        """A step as Python runs it."""
        with watching(self.made.model, self.made.listening, self.session.code) as seen:
            value = self._user_step(seen, batch.inputs, batch.labels)
        self._saw(seen, number)
        told = self._told(seen, value, True)
        for name, leaf in told["outputs"].items():
            self.made.listening.result("output", name, leaf)
        self.made.listening.result("loss", "loss", told["loss"])
        return _Step(**{name: _arrays(part) for name, part in told.items()})

    def replicated(self, batch: Batch, number: int) -> _Step:
        """A step on the replicas of the strategy, and what it comes to for the whole batch."""
        found = Replicas(self.session.plan.strategy, batch, self.made.ledger)
        made = len(self.made.variables.created)
        own = self.session.distributes
        value = None
        with watching(self.made.model, self.made.listening, self.session.code, found.current), found.drawing():
            if own:
                value = self._user_step(found.cross, found.batch.inputs, found.batch.labels)
            else:
                found.run(self._user_step)
        parts = found.parts(self._part)
        if not parts:
            raise NotRunError("the training step ran nothing on the replicas of the strategy")
        whole = self._whole(found, parts, value, number)
        self._tell_of_replicas(found, parts, number, self.made.variables.created[made:])
        return whole

    def _tell_of_replicas(
        self, found: Replicas, parts: Sequence[Part], number: int, made: Sequence[Creation]
    ) -> None:
        """Record what replicas do each for itself: rows, what they minimize, and weights that are apart afterwards."""
        self.chapter.add("replica", "rows", np.array([share.rows for share in found.shares]), number)
        for at in range(min(len(part.targets) for part in parts)):
            targets: list[Array] = [np.sum(part.targets[at]) for part in parts]
            self.chapter.add("replica", f"loss/{at}", np.array(targets), number)
        for name, _, variable in self._trained():
            apart = spread(variable)
            if apart:
                self.chapter.add("replica", f"apart/{name}", np.array(apart), number)
        for one in made:
            if not one.purpose and one.place is not None:
                name = self.made.variables.name(one.variable)
                self.chapter.add("replica", f"variable/{name}", np.array(number), number, one.place)

    def _part(self, seen: Seen, value: structures.Results | None) -> Part:
        """What one replica did, as arrays."""
        told = self._told(seen, structures.Results() if value is None else value, True)
        returned = None if value is None or self.session.pair.train_step is None else value.loss
        return Part(
            outputs=_arrays(told["outputs"]),
            regularization=_arrays(told["regularization"]),
            targets=[array(target) for target, _ in seen.losses],
            loss=None if returned is None else array(returned),
            metrics=_arrays(told["metrics"]),
            rates=_arrays(told["rates"]),
            gradients=_arrays(told["gradients"]),
            summed=bool(seen.applied) and not keras_optimizers.sums_later(seen.applied[0].optimizer),
        )

    def _whole(
        self, found: Replicas, parts: Sequence[Part], value: structures.Results | None, number: int
    ) -> _Step:
        """What a step of all replicas comes to: see `replicas`."""
        note = self.session.recording.note
        gradients = gradients_of(parts)
        if found.cross.applied:
            gradients = _arrays(self._gradients(found.cross))
        loss = loss_of(parts, note) if value is None or value.loss is None else array(value.loss)
        self._saw(found.first(), number)
        return _Step(
            outputs=found.joined([part.outputs for part in parts], note),
            endpoints={},
            taps={},
            regularization=parts[0].regularization,
            loss=loss,
            metrics=self._metrics(parts, value),
            rates=parts[0].rates,
            gradients=gradients,
            squares={},
        )

    def _metrics(self, parts: Sequence[Part], value: structures.Results | None) -> Mapping[str, Array]:
        """Metrics over all replicas: what the step made of them, or what those of the model say by then."""
        if value is not None:
            return dict(_arrays(dict(structures.flat(dict(value.metrics)))))
        model, found = self.made.model.value, {}
        kept: dict[str, Tensor] = {}
        if parts[0].metrics and hasattr(model, "get_metrics_result"):
            with contextlib.suppress(Exception):  # its own are not those of the step
                kept = dict(structures.flat(model.get_metrics_result()))
        for name, first in parts[0].metrics.items():
            if name in kept:
                found[name] = array(kept[name])
            elif all(np.array_equal(part.metrics.get(name), first) for part in parts):
                found[name] = first
            else:
                self.session.recording.note(
                    f"the metric {name} is another one on each replica: what it is over all of them is for the program "
                    "to say, so it was not compared"
                )
        return found

    def traced(self) -> Callable[[Batch, int], _Step]:
        """A step that is a ``tf.function``, and gives back what was seen in its graph."""
        function = self.function()

        def run(batch: Batch, number: int) -> _Step:
            try:
                parts = function(batch.inputs, batch.labels)
            except Exception as error:
                if number == 0 and any(sign in text_of(error) for sign in _EAGER_ONLY):
                    raise NotRunError(f"the training step runs only eagerly: {essence(error)}") from error
                raise
            return _Step(**{name: _arrays(part) for name, part in parts.items()})

        return run

    def function(self) -> Function:
        """The ``tf.function`` of a step: of inputs and labels, it gives the fields of `_Step`."""
        if self.made.model.is_compiled:
            self.session.recording.adapted(
                "the train_step of the compiled model was called in one tf.function a step, without XLA"
            )

        def body(inputs: Nest, labels: Nest) -> dict[str, Nest]:
            with watching(self.made.model, self.made.listening, self.session.code) as seen:
                value = self._user_step(seen, inputs, labels)
                self.seen = seen
                self._saw_averages(seen)
                return self._told(seen, value, False)

        return in_function(body)

    def _user_step(self, seen: Seen, inputs: Nest, labels: Nest) -> structures.Results:
        """The user's step: of the pair, or of the model."""
        model = self.made.model
        given = self.session.pair.train_step
        if given is not None:
            subject = heard_function(model.value, seen.called) if model.is_function else model.value
            return structures.step_results(converted(given, subject, inputs, labels))
        data = (inputs,) if labels is None else (inputs, labels)
        if model.is_keras3:  # which does not use AutoGraph
            return structures.step_results(model.value.train_step(data))
        return structures.step_results(converted(model.value.train_step, data))

    def _told(self, seen: Seen, value: structures.Results, eager: bool) -> dict[str, Nest]:
        """The parts of a step; inside ``tf.function`` only tensors that its graph can give back."""
        forward = seen.forward
        outputs = dict(structures.flat(value.outputs)) if value.outputs is not None else None
        told: dict[str, Nest] = {
            "outputs": outputs if outputs is not None else (forward.outputs if forward else {}),
            "endpoints": forward.endpoints if forward else {},
            "taps": dict(forward.taps if forward else {}, **value.taps),
            "regularization": forward.regularization if forward else {},
            "loss": self._loss(seen, value),
            "metrics": dict(structures.flat(dict(value.metrics))),
            "rates": _rates(seen, value),
            "gradients": value.gradients if value.gradients is not None else self._gradients(seen),
            "squares": self._squares(seen),
        }
        return told if eager else {name: _reachable(part) for name, part in told.items()}

    def _loss(self, seen: Seen, value: structures.Results) -> Tensor:
        """What is minimized: what the pair's step says, or what gradients were taken of."""
        if value.loss is not None and (self.session.pair.train_step is not None or not seen.losses):
            return exchanged(value.loss)
        return exchanged(seen.losses[0][0]) if seen.losses else None

    def _gradients(self, seen: Seen) -> dict[str, Tensor]:
        """What was applied, by variable."""
        self._updates.update((name, applied.place) for name, applied, _ in self._named(seen))
        return {name: applied.pairs[at][0] for name, applied, at in self._named(seen)}

    def _squares(self, seen: Seen) -> dict[str, Tensor]:
        """What the squares of slices add up to, of each gradient that repeats a row."""
        found = ((name, applied.squares[at]) for name, applied, at in self._named(seen))
        return {name: squares for name, squares in found if squares is not None}

    def _named(self, seen: Seen) -> Iterator[tuple[str, Applied, int]]:
        """The names of the gradients that were applied: further ones of one variable are numbered from 2 on."""
        met: set[str] = set()
        for applied in seen.applied:
            for at, (_, variable) in enumerate(applied.pairs):
                name = self.made.variables.name(variable)
                number = 1
                while name in met:
                    number += 1
                    name = f"{self.made.variables.name(variable)}#{number}"
                met.add(name)
                yield name, applied, at

    def _saw(self, seen: Seen, number: int) -> None:
        self.seen = seen
        for applied in seen.applied:
            names = [self.made.variables.name(variable) for _, variable in applied.pairs]
            if all(applied.optimizer is not one for one in self._optimizers):
                self._met(applied.optimizer, [self._updating[name] for name in names if name in self._updating], number)
            self._updating.update(dict.fromkeys(names, applied.optimizer))
            self.assignments.watch(applied.optimizer)
        self._saw_averages(seen)
        if seen.scaled:
            self.session.recording.content["scales_loss"] = True
        if seen.distributed and not self.session.plan.strategy:
            self.session.recording.content["distributes"] = True
        if number == 0:
            for applied in seen.applied:
                made = _iterations(applied.optimizer)
                if made > 1:
                    self.session.recording.note(
                        f"{type(applied.optimizer).__name__} had made {made - 1} steps before the first one: make it "
                        "where the model is made, so that every fresh model has a fresh optimizer"
                    )

    def _met(self, optimizer: Optimizer, before: Sequence[Optimizer], number: int) -> None:
        """Note an optimizer; `before` are those that updated its variables last, of which it may take the place.

        One that the same line makes again is said to be made ``anew``, with the first step that does so.
        """
        rows = self.session.recording.content["optimizers"]
        for at, one in enumerate(self._optimizers):
            alike = type(one) is type(optimizer) and constructions.made_at(one) == constructions.made_at(optimizer)
            if alike and any(one is last for last in before):
                self._optimizers[at] = optimizer
                if at < len(rows):
                    rows[at].setdefault("anew", number)
                return
        self._optimizers.append(optimizer)

    def _saw_averages(self, seen: Seen) -> None:
        """Name what is averaged, each average once."""
        for average in seen.averages:
            if all(average.variable is not one.variable for one, _, _ in self._averages.values()):
                name = self.made.variables.name(average.source)
                number = sum(weight == name for _, weight, _ in self._averages.values())
                slot = averages.SLOT + (f"_{number}" if number else "")
                self._averages[f"{name}/{slot}"] = (average, name, slot)

    def _place(self, what: str) -> Place | None:
        if self.seen is None:
            return None
        if what == "forward":
            return self.seen.place
        if what == "loss":
            return self.seen.losses[0][1] if self.seen.losses else None
        return self.seen.applied[0].place if self.seen.applied else None

    # Recording

    def _record(self, number: int, found: _Step, everything: bool) -> None:
        add = self.chapter.add
        for name, value in found.outputs.items():
            add("output", name, value, number, self._place("forward"))
        for name, value in found.regularization.items():
            add("regularization", name, value, number, self._place("forward"))
        if found.loss is not None:
            add("loss", "loss", found.loss, number, self._place("loss"))
        for name, value in found.metrics.items():
            add("metric", name, value, number)
        for at, value in enumerate(found.rates):
            add("learning_rate", "learning_rate" + (f"_{at}" if at else ""), value, number, self._place("update"))
        if everything:
            for name, value in found.gradients.items():
                add("gradient", name, value, number, self._updates.get(name, self._place("update")))
            for name, value in found.squares.items():
                add("squares", name, value, number, self._updates.get(name))

    def _state(self, number: int) -> None:
        """Record weights and slots as they are after the update."""
        variables = self.made.variables
        for name, variable in variables.weights():
            self.chapter.add("variable", name, value_of(variable), number)
        for name, optimizer, variable, which in self._updated():
            for canonical, slot in keras_optimizers.slots(optimizer, variable).items():
                self.chapter.add_slot(name, canonical, value_of(slot), number, which)
        for average, name, canonical in self._averages.values():
            self.chapter.add_slot(name, canonical, value_of(average.variable), number)

    def _trained(self) -> Iterator[tuple[str, Optimizer, Variable]]:
        """Each weight once, with the optimizer that updates it first."""
        yield from (found[:3] for found in self._updated() if found[3] == 1)

    def _updated(self) -> Iterator[tuple[str, Optimizer, Variable, int]]:
        """Weights with all that update them, which are counted from 1 on."""
        met: dict[str, list[Optimizer]] = {}
        for applied in self.seen.applied if self.seen is not None else ():
            for _, variable in applied.pairs:
                name = self.made.variables.name(variable)
                optimizers = met.setdefault(name, [])
                if all(applied.optimizer is not one for one in optimizers):
                    optimizers.append(applied.optimizer)
                    yield name, applied.optimizer, variable, len(optimizers)

    def _describe(self) -> None:
        """Say which optimizers there are, and what they made."""
        content = self.session.recording.content
        content["other_variables"] = _merged(content.get("other_variables", ()), self.made.variables.other_rows())
        if content["optimizers"] or self.seen is None:
            return
        met: list[Optimizer] = []
        for applied in self.seen.applied:
            if all(applied.optimizer is not one for one in met):
                met.append(applied.optimizer)
        content["optimizers"] = [{**self._described(one), "rows": self._rows_of(one)} for one in met]
        if not met:
            self.session.recording.note(
                "no optimizer was seen applying gradients on the TF2 side: gradients, learning rate and slots are "
                "recorded only where the training step returns them"
            )

    def _rows_of(self, optimizer: Optimizer) -> list[str]:
        """The weights of which an optimizer is given the gradient of some rows."""
        applied = [one for one in (self.seen.applied if self.seen is not None else ()) if one.optimizer is optimizer]
        pairs = [pair for one in applied for pair in zip(one.pairs, one.sliced)]
        return [self.made.variables.name(variable) for (_, variable), sliced in pairs if sliced]

    def _described(self, optimizer: Optimizer) -> OptimizerRow:
        """An optimizer, with the lines that make it and its rate: of a schedule of the user's, where that computes."""
        given = getattr(optimizer, "_hyper", {}).get("learning_rate")
        rate = getattr(optimizer, "_learning_rate", given)
        written = type(rate).__call__ if callable(rate) else None
        places = {
            "made": constructions.made_at(optimizer),
            "rate_made": constructions.written_at(written, self.session.code) or constructions.made_at(rate),
        }
        row = keras_optimizers.describe(optimizer)
        given_weights = keras_optimizers.given(optimizer)
        if given_weights is not None:
            row["weights"] = [self.made.variables.name(variable) for variable in given_weights]
        return {**row, **{key: list(place) for key, place in places.items() if place is not None}}

    # Steps that are not run

    def look_ahead(self) -> None:
        """Say what training would do later: learning rates, averages, and what becomes of large gradients.

        The optimizers make no updates any more, but count steps: nothing is recorded of the model after this.
        """
        content, run = self.session.recording.content, self.session.plan.steps
        content["averages"] = self._kept_averages()
        more = self.session.copying.steps_of_rates()
        names = [("learning_rate" + (f"_{at}" if at else ""), one) for at, one in enumerate(self._optimizers)]
        try:
            content["rates"] = [
                probing.rate(name, one, run, self.assignments.of(one), more.get(name, ())) for name, one in names
            ]
        except Exception as error:
            note = f"the learning rates of later steps were not found out on the TF2 side: {essence(error)}"
            self.session.recording.note(note)
        try:
            found = self._limits()
        except Exception as error:
            self.session.recording.note(f"how the TF2 side clips gradients was not found out: {essence(error)}")
            found = {}
        for optimizer, said in zip(self._optimizers, content["optimizers"]):
            if id(optimizer) in found:
                for name in clipping.NAMES:
                    said.pop(name, None)
                said.update(found[id(optimizer)])
            elif not set(clipping.NAMES) & set(said):
                said["clipping"] = clipping.UNKNOWN

    def _kept_averages(self) -> list[AverageRow]:
        rows = [
            averages.described(self.made.variables.name(one.variable), name, one.decay)
            for one, name, _ in self._averages.values()
        ]
        for name, optimizer, variable in self._trained():
            slot = keras_optimizers.slots(optimizer, variable).get(averages.SLOT)
            if slot is not None:
                decay = keras_optimizers.describe(optimizer).get("ema_momentum")
                known = float(decay) if isinstance(decay, (int, float)) else None
                rows.append(averages.described(f"{name}/{averages.SLOT}", name, known))
        return rows

    def _limits(self) -> dict[int, clipping.Limits]:
        """By optimizer, how the gradients are clipped that it is given."""
        batch = self.session.batch_tensors(0)
        given: dict[str, Array] = {}
        got: dict[int, list[Mapping[str, Array]]] = {id(one): [] for one in self._optimizers}
        for scale in reversed(clipping.SCALES):
            with self.made.ledger.evaluating(), probing.given_gradients(self.made.variables.name, scale) as heard:
                self._user_step(Seen(), batch.inputs, batch.labels)
            given.update(heard[0])
            same = all(one is heard[1].get(name) for found in heard[2].values() for name, one in found.items())
            if same and scale == max(clipping.SCALES):  # nothing comes between the tape and the optimizers
                return {optimizer: {} for optimizer in heard[2]}
            for optimizer, found in heard[2].items():
                arrays = {name: array(one) for name, one in found.items()}
                got.setdefault(optimizer, []).insert(0, arrays)
        return {
            optimizer: clipping.limits({name: given[name] for name in found[0] if name in given}, found)
            for optimizer, found in got.items()
            if len(found) == len(clipping.SCALES) and any(name in given for name in found[0])
        }

    def _evaluate(self, batch: Batch, number: int) -> None:
        """Record the outputs of inference with the weights as they are now."""
        try:
            with self.made.variables.undone(), self.made.ledger.evaluating(self._inferring):
                found = self._inference(batch)
        except Exception as error:
            self.session.recording.note(f"no outputs of inference after training on the TF2 side: {essence(error)}")
            return
        for name, value in found.items():
            self.chapter.add("evaluation", name, array(value), number)

    def _inference(self, batch: Batch) -> Mapping[str, Tensor]:
        model = self.made.model
        if self.chapter.name != scenarios.STEPS_OTHER:
            outputs: Mapping[str, Nest] = model.forward(batch.inputs, False, batch.labels).outputs
            return outputs
        # It is traced anew each time: random operations have numbers of their own in each evaluation.
        evaluate = in_function(lambda inputs, labels: model.forward(inputs, False, labels).outputs)
        traced: Mapping[str, Tensor] = evaluate(batch.inputs, batch.labels)
        return traced


def _rates(seen: Seen, value: structures.Results) -> list[Tensor]:
    """The learning rate of each optimizer, in the order of their updates."""
    if value.learning_rate is not None:
        return [value.learning_rate]
    met: list[Optimizer] = []
    rates = []
    for applied in seen.applied:
        if applied.learning_rate is not None and all(applied.optimizer is not one for one in met):
            met.append(applied.optimizer)
            rates.append(applied.learning_rate)
    return rates


def _reachable(part: Nest) -> Nest:
    """What of a part can be given back by the function whose graph is being built."""
    if isinstance(part, Mapping):
        kept = {name: _output(value) for name, value in part.items()}
        return {name: value for name, value in kept.items() if value is not None}
    if isinstance(part, (list, tuple)):
        return [value for value in map(_output, part) if value is not None]
    return None if part is None else _output(part)


def _output(value: Tensor) -> Tensor:
    """A tensor of the graph that is being built; None for one of an inner function."""
    import tensorflow as tf

    result = getattr(value, "result", None)
    if callable(result) and hasattr(value, "update_state"):
        value = result()
    value = tf.convert_to_tensor(value)
    graph = getattr(value, "graph", None)
    return value if graph is None or graph is tf.compat.v1.get_default_graph() else None


def _arrays(part: Nest) -> Nest:
    if isinstance(part, Mapping):
        return {name: array(value) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [array(value) for value in part]
    return None if part is None else array(part)


def _iterations(optimizer: Optimizer) -> int:
    with contextlib.suppress(Exception):
        return int(array(optimizer.iterations))
    return 0


def _merged(first: Sequence[VariableRow], second: Sequence[VariableRow]) -> list[VariableRow]:
    known = {one["name"] for one in first}
    return [*first, *(one for one in second if one["name"] not in known)]
