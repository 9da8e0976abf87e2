"""Records the TF2 side of a pair: a fresh model for every scenario, called eagerly unless the scenario says else."""

from __future__ import annotations

import contextlib
from typing import Callable, Iterator, Sequence

from ... import shims
from ...errors import essence
from ...frames import UserCode
from ...tracking import identities
from ..format import scenarios
from ..format.attempts import NotRunError, attempt
from ..format.draws import INITIAL_VALUE, of_a_step
from ..format.plan import Plan
from ..format.reading import Recorded
from ..format.rows import LoadRow, Place, Standing
from ..format.store import Chapter, Recording
from ..pairs import structures
from ..pairs.pair import Pair
from ..pipelines import record_pipeline
from ..randomness import numbering, samples
from ..tensors import Array, Nest, Tensor, Variable
from ..values import sampling
from ..values.conversions import Conversion
from ..watching import checkpoint_loads
from ..watching.alike import padded
from . import checkpoint, converting, evaluating, in_float64, once
from .listening import array
from .model import Forward, eagerly, in_function, tensors
from .session import Made, Session
from .steps import check_step, step_function, step_numbers, train, try_unbuilt
from .variables import Variables, assign, value_of

__all__ = ["record_tf2"]

_FILLED = (
    scenarios.CONSTANT, scenarios.FINGERPRINT, scenarios.FINGERPRINT_AGAIN, scenarios.FINGERPRINT_NUDGED
)


def record_tf2(
    pair: Pair,
    plan: Plan,
    recording: Recording,
    code: UserCode,
    tf1: Recorded | None,
    renew: Callable[[Pair], Pair] | None = None,
) -> None:
    """Record the scenarios that the plan wants.

    Args:
        pair: its ``tf2`` is a function that makes a model, or a class.
        plan: what to record.
        recording: where to; a scenario that fails is recorded as failed, and the next one is tried.
        code: tells the user's files.
        tf1: the recording of the TF1 side, whose values are copied; without it the model keeps its own.
        renew: gives the pair that the next model is made of.

    Raises:
        PairError: if the pair cannot be used as it is.
    """
    with shims.for_slim(shims.target(), recording.adapted):
        _Side(Session(pair, plan, recording, code, tf1, renew)).record()


class _Side:
    """Runs the scenarios."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._loads: list[LoadRow] | None = None
        self._begins_alike = False
        self._inferring: Sequence[Standing] = ()
        self._groups: list[converting.Group] = []
        self._problems: list[str] = []
        self._open = contextlib.ExitStack()
        self._model: Made | None = None

    def record(self) -> None:
        """Record everything that is wanted."""
        if not self.session.plan.data_alone:
            self.session.batches.at(0)
        check_step(self.session)
        try:
            for name, body in self._bodies():
                if name not in _FILLED:
                    self._close()
                if name == scenarios.CONSTANT:
                    self._convert()
                self._try(name, body)
        finally:
            self._close()

    def _bodies(self) -> Iterator[tuple[str, Callable[[Chapter], None]]]:
        """The scenarios in their order, with what records each."""
        yield scenarios.DATA, self._data
        yield scenarios.ONCE, self._once
        yield scenarios.STRUCTURE, self._structure
        yield scenarios.CONSTANT, self._constant
        yield scenarios.FINGERPRINT, self._fingerprint
        yield scenarios.FINGERPRINT_AGAIN, self._fingerprint
        if self.session.plan.reference is not None:  # an ordinary TF2 side has the noise of TF1
            yield scenarios.FINGERPRINT_NUDGED, self._fingerprint
        yield scenarios.INFERENCE, self._inference
        yield scenarios.INFERENCE_COPIED, self._inference_copied
        yield scenarios.TRAINING, self._training
        yield scenarios.TRAINING_CONSTANT, self._training
        yield scenarios.ALIGNED, self._aligned
        if self.session.plan.reference is not None:
            yield scenarios.ALIGNED_NUDGED, self._aligned
        yield scenarios.CHECKPOINT, self._checkpoint
        yield scenarios.STEPS, self._steps
        yield scenarios.STEPS_OTHER, self._steps
        yield scenarios.STEPS_AGAIN, self._steps
        if self.session.plan.reference is not None:
            yield scenarios.STEPS_NUDGED, self._steps
        yield scenarios.STEPS_FORCED, self._steps_forced
        yield scenarios.EVALUATED, self._evaluated
        for name in scenarios.FLOAT64:
            yield name, self._in_float64

    def _close(self) -> None:
        """Let go of the model that the filling scenarios share."""
        self._model = None
        self._open.close()

    def _try(self, name: str, body: Callable[[Chapter], None]) -> None:
        if not self.session.plan.wants(name):
            return
        attempt(self.session.recording, self.session.code, name, body)
        if self.session.recording.content["scenarios"][name]["outcome"] == "failed":
            self._close()

    # Scenarios

    def _data(self, chapter: Chapter) -> None:
        plan = self.session.plan
        record_pipeline(chapter, self.session.pair, "tf2", plan.seed, self.session.code, plan.strategy)

    def _once(self, chapter: Chapter) -> None:
        with checkpoint_loads.watching(self.session.code) as loads, self.session.numbered() as made:
            once.record(self.session, made, chapter, lambda: self._describe(made, loads))

    def _structure(self, chapter: Chapter) -> None:
        if self._loads is None:
            with checkpoint_loads.watching(self.session.code) as loads, self.session.numbered() as made, eagerly():
                self.session.run(made, training=False)
                with contextlib.suppress(Exception):
                    self.session.run(made, training=True)
                self._describe(made, loads)
        if self._loads:
            chapter.say(loads=self._loads)

    def _describe(self, made: Made, loads: checkpoint_loads.Loads) -> None:
        """Say what a model is that has been called in both modes."""
        content = self.session.recording.content
        content["variables"] = made.variables.rows()
        content["other_variables"] = made.variables.other_rows()
        content["layers"] = [told for told in made.listening.settings.values() if told]
        if self.session.tf1 is not None:
            self._groups, self._problems = converting.groups_of(self.session, self.session.tf1)
            self.session.copying.convert([group.conversion for group in self._groups])
        self._loads = loads.check(
            dict(made.variables.weights()), self.session.copying.tf1_names(made.variables), self.session.copying.layouts
        )

    @contextlib.contextmanager
    def _filled(self, fill: Callable[[Variables], None]) -> Iterator[Made]:
        """One model for all scenarios that fill it; what a pass changes besides is put back."""
        if self._model is None:
            self._model = self._open.enter_context(self.session.aligned())
            with eagerly():
                self._inferring = self.session.build(self._model)
        fill(self._model.variables)
        numbering.set_seeds(self.session.plan.seed)
        self._model.ledger.begin_step(self._inferring)
        with self._model.variables.undone():
            yield self._model

    def _convert(self) -> None:
        """Try the groups of variables that changed their layout together, and say what is known of them."""
        session, groups = self.session, self._groups
        if session.tf1 is not None and session.recording.content["variables"]:
            if any(session.plan.wants(name) for name in _FILLED[1:]):
                groups = self._tried(session.tf1, groups)
        session.copying.convert([group.conversion for group in groups if group.how != "names"])
        if groups or self._problems:
            with session.recording.scenario(scenarios.CONVERTERS) as chapter:
                converting.say(chapter, groups, self._problems)
        places, sources = session.copying.places(session.recording.content["variables"])
        if places:
            with session.recording.scenario(scenarios.PLACES) as chapter:
                sampling.keep(chapter, places)
                for name, source in sources.items():
                    chapter.add("sources", name, source)

    def _tried(self, tf1: Recorded, groups: Sequence[converting.Group]) -> list[converting.Group]:
        copying = self.session.copying
        names = copying.names_among(self.session.recording.content["variables"])

        def run(conversions: Sequence[Conversion], reverse: bool) -> dict[str, Array]:
            self.session.recording.heard(scenarios.CONVERTERS)
            copying.convert(conversions)
            targets = {name for one in conversions for name in one.tf2}

            def fill(variables: Variables) -> None:
                copying.fill_fingerprint(variables)
                for name, variable in variables.weights() if reverse else ():
                    if name in targets:
                        value = value_of(variable)
                        assign(variable, value.reshape(-1)[::-1].reshape(value.shape))

            with self._filled(fill) as made, eagerly():
                found = self.session.run(made, training=False)
                return {name: array(leaf) for name, leaf in found.outputs.items()}

        return converting.tried(self.session, tf1, groups, names, run)

    def _constant(self, chapter: Chapter) -> None:
        with self._filled(self.session.copying.fill_constant) as made, eagerly():
            self._forward(chapter, made)

    def _fingerprint(self, chapter: Chapter) -> None:
        with self._filled(self.session.copying.fill_fingerprint) as made:
            if chapter.name == scenarios.FINGERPRINT_NUDGED:
                made.variables.nudge(self.session.plan.precision)
            if chapter.name == scenarios.FINGERPRINT_AGAIN:
                self._forward_traced(chapter, made)
            else:
                with eagerly():
                    self._forward(chapter, made)
                    if chapter.name == scenarios.FINGERPRINT:
                        self._say_what_is_alike(made)

    def _say_what_is_alike(self, made: Made) -> None:
        """Say what inference reads off the batches alone and finds to be the same everywhere."""
        import tensorflow as tf

        found, with_padding = made.listening.alike(), made.listening.alike()
        try:
            for step in range(self.session.plan.steps):
                batch = self.session.batches.at(step)
                with found.listening(_leaves(batch.inputs)):
                    self.session.run(made, training=False, step=step)
            if found.rows():
                batch = self.session.batches.at(0)
                inputs = tf.nest.map_structure(padded, batch.inputs)
                with with_padding.listening(_leaves(inputs)):
                    made.model.forward(tensors(inputs), False, tensors(batch.labels))
        except Exception as error:
            self.session.recording.note(f"what the TF2 side reads off the batches was not found out: {essence(error)}")
        self.session.recording.content["alike"] = found.rows(with_padding)

    def _inference(self, chapter: Chapter) -> None:
        with samples.watching() as initializers, self.session.numbered() as made, eagerly():
            for draw in made.ledger.draws:  # also of a call by which the program builds its model
                draw.purpose = INITIAL_VALUE
            self._forward(chapter, made, values=True)
            chapter.say(random_ops=made.ledger.described())
            agrees = self.session.copying.agrees(made.variables)
            seeds = [row.get("seed") for row in of_a_step(made.ledger.described())]
            self._begins_alike = agrees and self.session.copying.seeds(scenarios.INFERENCE) == seeds
            if not agrees:
                samples.tf2_samples(initializers, dict(made.variables.weights()), chapter, self.session.plan.seed)

    def _inference_copied(self, chapter: Chapter) -> None:
        self._need_values()
        if self._begins_alike:
            raise NotRunError("the model begins with the values of the TF1 side by itself")
        with self.session.aligned() as made, eagerly():
            drawn = self.session.build(made)
            self.session.copy(made, "forward")
            made.ledger.begin_step(self.session.copying.seeds(scenarios.INFERENCE, drawn))
            self._forward(chapter, made)

    def _training(self, chapter: Chapter) -> None:
        mode = numbering.CONSTANT if chapter.name == scenarios.TRAINING_CONSTANT else numbering.NUM_RANDOM_OPS
        with self.session.numbered(mode) as made, eagerly():
            self._forward(chapter, made, training=True)
            chapter.say(random_ops=made.ledger.described())

    def _aligned(self, chapter: Chapter) -> None:
        self._need_values()
        with self.session.aligned() as made, eagerly():
            self.session.build(made)
            self.session.copy(made, "forward")
            if chapter.name == scenarios.ALIGNED_NUDGED:
                made.variables.nudge(self.session.plan.precision)
            drawn = self.session.rehearse(made)
            if drawn == list(range(len(self.session.copying.draws(scenarios.ALIGNED)))):
                self.session.step_numbers = []
            made.ledger.begin_step(drawn)
            self._forward(chapter, made, training=True)
            chapter.say(random_ops=made.ledger.described())

    def _checkpoint(self, chapter: Chapter) -> None:
        if not self.session.pair.checkpoint:
            raise NotRunError("the pair names no checkpoint")
        with self.session.aligned() as made, eagerly():
            drawn = self.session.build(made)
            restored = checkpoint.restore(
                self.session.pair.checkpoint,
                dict(made.variables.weights()),
                self.session.copying.tf1_names(made.variables),
                self.session.copying.layouts,
                self.session.copying.parts,
            )
            chapter.say(**restored.said())
            made.ledger.begin_step(drawn)
            self._forward(chapter, made)

    def _steps(self, chapter: Chapter) -> None:
        if chapter.name == scenarios.STEPS and self.session.plan.strategy is None:
            with self.session.aligned() as made:
                try_unbuilt(self.session, made)
        if self.session.step_numbers is None:
            self.session.step_numbers = step_numbers(self.session, chapter)
            self.session.recording.content["step_numbers"] = self.session.step_numbers
        with self.session.aligned() as made:
            self._need_step(made)
            train(self.session, made, chapter)

    def _steps_forced(self, chapter: Chapter) -> None:
        self._need_values()
        if self.session.plan.steps < 2:
            raise NotRunError("only one step is run")
        self._steps(chapter)

    def _evaluated(self, chapter: Chapter) -> None:
        self._need_values()
        with self.session.aligned() as made, eagerly():
            evaluating.require(self.session.pair, made.model)
            drawn = self.session.build(made)
            for step in self.session.copying.evaluated():
                if step < 0:
                    self.session.copy(made, "forward")
                else:
                    self.session.copying.copy_step(made.variables, step)
                with made.variables.undone(), made.ledger.evaluating(drawn):
                    evaluating.record(self.session, made, chapter, step)

    def _in_float64(self, chapter: Chapter) -> None:
        self._need_values()
        inference = chapter.name == scenarios.FLOAT64_INFERENCE
        training = chapter.name == scenarios.FLOAT64_TRAINING
        with self.session.aligned() as made:
            if inference or training:
                with eagerly():
                    drawn = self.session.build(made)
                    self.session.copy(made, "forward")
                    numbers = self.session.copying.seeds(scenarios.INFERENCE, drawn)
                    if training:
                        numbers = self.session.rehearse(made)
                function = in_function(lambda inputs, labels: self._traced_parts(made, inputs, labels, training))
            else:
                self._need_step(made)
                function = step_function(self.session, made, chapter)
                numbers = self.session.step_numbers or []
            labels = not inference or made.model.takes_labels
            self.session.give(chapter, 0, labels)
            made.ledger.begin_step(numbers)
            exact = self.session.exact(made, "forward" if inference or training else "steps")
            in_float64.record(function, self.session.batch_tensors(0), exact, chapter, self.session.code)

    def _traced_parts(self, made: Made, inputs: Nest, labels: Nest, training: bool) -> dict[str, Nest]:
        found = made.model.forward(inputs, training, labels)
        parts = _parts(found._replace(loss=self._loss(made, found, labels, training)))
        return {**parts, "regularization": parts["losses"]}

    # Parts of scenarios

    def _need_step(self, made: Made) -> None:
        if self.session.pair.train_step is None and not made.model.has_own_step and not made.model.is_compiled:
            raise NotRunError(
                "the TF2 side does not say how it is trained: give the pair a train_step, or compile the model"
            )

    def _need_values(self) -> None:
        if not self.session.copying.possible:
            raise NotRunError("the TF1 side recorded no initial values that could be copied")

    def _forward(self, chapter: Chapter, made: Made, training: bool = False, values: bool = False) -> None:
        """Record an eager pass over the first batch."""
        self.session.give(chapter, 0, made.model.takes_labels or (training and made.model.is_compiled))
        operations = self.session.plan.operations and chapter.name in scenarios.WITH_OPERATIONS
        with made.listening.recording(chapter, operations=operations):
            with contextlib.ExitStack() as stack:
                changed = stack.enter_context(made.variables.undone(late=True)) if values else []
                found = self.session.run(made, training)
            if values:
                self._say_what_moved(made, changed)
            made.listening.endpoints(found.endpoints, found.taps, None)
            if values:
                made.listening.keep_values(made.variables.weights())
            loss = self._loss(made, found, self.session.batch_tensors(0).labels, training)
            for name, leaf in found.outputs.items():
                made.listening.result("output", name, leaf)
                self._lies(leaf)
            made.listening.result("loss", "loss", loss)
        place = made.model.place(self.session.pair.tf2, self.session.code)
        self._results(chapter, found, place)
        if loss is not None:
            chapter.add("loss", "loss", array(loss))
        if values:
            self._tell_of_missing_taps(made)

    def _say_what_moved(self, made: Made, changed: Sequence[Variable]) -> None:
        """Initial values are those before inference, which may move averages."""
        moved = {number for variable in changed for number in identities(variable)}
        names = [name for name, variable in made.variables.weights() if identities(variable) & moved]
        self.session.recording.content["moved"] = names
        if names:
            self.session.recording.adapted(
                "inference of TF2 changes variables that are not trained; what it changes was put back before "
                "initial values were read"
            )

    def _forward_traced(self, chapter: Chapter, made: Made) -> None:
        """Record a pass of inference inside ``tf.function``; what its layers compute stays inside."""
        self.session.give(chapter, 0, made.model.takes_labels)
        batch = self.session.batch_tensors(0)
        run = in_function(lambda inputs, labels: _parts(made.model.forward(inputs, False, labels)))
        found = run(batch.inputs, batch.labels)
        forward = Forward(found["outputs"], found["endpoints"], found["taps"], found.get("loss"), found["losses"])
        with made.listening.recording(chapter):
            made.listening.endpoints(forward.endpoints, forward.taps, None)
        self._results(chapter, forward, made.model.place(self.session.pair.tf2, self.session.code))
        if forward.loss is not None:
            chapter.add("loss", "loss", array(forward.loss))

    def _results(self, chapter: Chapter, found: Forward, place: Place | None) -> None:
        for name, leaf in found.outputs.items():
            chapter.add("output", name, array(leaf), place=place)
        for name, leaf in found.regularization.items():
            chapter.add("regularization", name, array(leaf), place=place)

    def _lies(self, output: Nest) -> None:
        """Say where an output was computed, if that is another device than the one that was asked for."""
        wanted, where = self.session.plan.device, str(getattr(output, "device", "")).rpartition("device:")[2]
        if wanted and where and where != wanted:
            self.session.recording.note(f"an output was computed on {where}, and not on {wanted}")
            self.session.recording.content["elsewhere"] = where

    def _tell_of_missing_taps(self, made: Made) -> None:
        for name, ends in self.session.pair.taps.items():
            if name not in made.listening.met:
                self.session.recording.note(f"tap {name}: the TF2 model has neither an endpoint nor a layer {ends[1]}")

    def _loss(self, made: Made, found: Forward, labels: Nest, training: bool) -> Tensor:
        """What the call gave as its loss; in training, of a compiled model what its own step would minimize.

        A step that the pair or the model has may minimize anything: its loss is known when it has run.
        """
        own = self.session.pair.train_step is not None or made.model.has_own_step
        if found.loss is None and training and made.model.is_compiled and not own:
            return self._compiled_loss(made, found, labels)
        return found.loss

    def _compiled_loss(self, made: Made, found: Forward, labels: Nest) -> Tensor:
        outputs = list(found.outputs.values())
        if labels is None or len(outputs) != 1:
            return None
        with contextlib.suppress(Exception):
            inputs = self.session.batch_tensors(0).inputs
            return made.model.value.compute_loss(x=inputs, y=labels, y_pred=outputs[0])
        return None


def _leaves(inputs: Nest) -> list[Array]:
    return [leaf for _, leaf in structures.flat(inputs, "input")]


def _parts(found: Forward) -> dict[str, Nest]:
    """A result as ``tf.function`` can give it back."""
    import tensorflow as tf

    def converted(named: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: tf.convert_to_tensor(value) for name, value in named.items()}

    parts: dict[str, Nest] = {
        "outputs": converted(found.outputs),
        "endpoints": converted(found.endpoints),
        "taps": converted(found.taps),
        "losses": converted(found.regularization),
    }
    if found.loss is not None:
        parts["loss"] = tf.convert_to_tensor(found.loss)
    return parts
