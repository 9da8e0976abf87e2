"""Records the TF2 side of a pair: a fresh model for every scenario, called eagerly unless the scenario says else."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Sequence

from .. import shims
from ..errors import essence
from ..frames import UserCode
from . import checkpoint, checkpoint_loads, randomness, samples, scenarios, structures, tf2_once
from .batches import Batch, Batches, PairError
from .ledger import Ledger
from .plan import Plan
from .reading import Recorded
from .store import Chapter, Place, Recording
from .tf2_copying import BEGINNINGS, Copying
from .tf2_listening import Listening, array
from .tf2_model import Forward, Model, NotRunError, clear_names, eagerly, in_function, make, tensors
from .tf2_steps import train
from .tf2_variables import Variables

__all__ = ["Made", "Side", "record_tf2"]


def record_tf2(pair: Any, plan: Plan, recording: Recording, code: UserCode, tf1: Recorded | None) -> None:
    """Record the scenarios that the plan wants.

    Args:
        pair: its ``tf2`` is a function that makes a model, or a class.
        plan: what to record.
        recording: where to; a scenario that fails is recorded as failed, and the next one is tried.
        code: tells the user's files.
        tf1: the recording of the TF1 side, whose values are copied; without it the model keeps its own.

    Raises:
        PairError: if the pair cannot be used as it is.
    """
    with shims.for_slim(shims.target(), recording.adapted):
        Side(pair, plan, recording, code, tf1).record()


class Made:
    """A fresh model with all that listens to it."""

    def __init__(self, model: Model, variables: Variables, listening: Listening, ledger: Ledger) -> None:
        self.model = model
        self.variables = variables
        self.listening = listening
        self.ledger = ledger


class Side:
    """Runs the scenarios."""

    def __init__(self, pair: Any, plan: Plan, recording: Recording, code: UserCode, tf1: Recorded | None) -> None:
        self.pair = pair
        self.plan = plan
        self.recording = recording
        self.code = code
        self.batches = Batches(pair)
        self.copying = Copying(pair, tf1, recording.note)

    def record(self) -> None:
        """Record everything that is wanted."""
        self.batches.at(0)
        for name, body in (
            (scenarios.ONCE, self._once),
            (scenarios.STRUCTURE, self._structure),
            (scenarios.CONSTANT, self._constant),
            (scenarios.FINGERPRINT, self._fingerprint),
            (scenarios.FINGERPRINT_AGAIN, self._fingerprint),
            (scenarios.INFERENCE, self._inference),
            (scenarios.INFERENCE_COPIED, self._inference_copied),
            (scenarios.TRAINING, self._training),
            (scenarios.TRAINING_CONSTANT, self._training),
            (scenarios.ALIGNED, self._aligned),
            (scenarios.CHECKPOINT, self._checkpoint),
            (scenarios.STEPS, self._steps),
            (scenarios.STEPS_OTHER, self._steps),
            (scenarios.STEPS_AGAIN, self._steps),
        ):
            self._try(name, body)

    def _try(self, name: str, body: Callable[[Chapter], None]) -> None:
        if not self.plan.wants(name):
            return
        try:
            with self.recording.scenario(name) as chapter:
                body(chapter)
        except NotRunError as reason:
            self.recording.not_run(name, str(reason))
        except PairError:
            raise
        except (Exception, SystemExit) as error:
            frames = self.code.of_error(error)
            self.recording.failed(name, essence(error), (frames[0].path, frames[0].line) if frames else None)

    # Making models

    @contextlib.contextmanager
    def fresh(self, numbers: Any) -> Iterator[Made]:
        """A fresh model, made in the body of a context that gives random operations their numbers."""
        clear_names()
        variables = Variables(self.code)
        listening = Listening(self.code, variables, self.pair.taps)
        with listening.open(), numbers as ledger, variables.watched():
            model = make(self.pair)
            variables.root = model.value
            listening.root(model.value)
            yield Made(model, variables, listening, ledger)

    def _numbered(self, mode: str = randomness.NUM_RANDOM_OPS) -> Any:
        return randomness.tool(mode, self.plan.seed, self.code)

    def _aligning(self, given: Sequence[int] = ()) -> Any:
        vary = self.batches.vary(self.plan.steps)
        return randomness.aligned(self.plan.seed, self.code, self.recording.adapted, retraced=vary, given=given)

    def build(self, made: Made) -> None:
        """Call the model once, so that its variables exist, and put back what the call changed."""
        with made.variables.undone():
            self.run(made, training=False)
        randomness.set_seeds(self.plan.seed)  # kernels go on where that call ended

    def batch_tensors(self, step: int) -> Batch:
        """The batch of a step as tensors."""
        batch = self.batches.at(step)
        return Batch(tensors(batch.inputs), tensors(batch.labels))

    def run(self, made: Made, training: bool, step: int = 0) -> Forward:
        """One call on the batch of a step."""
        batch = self.batch_tensors(step)
        return made.model.forward(batch.inputs, training, batch.labels)

    # Scenarios

    def _once(self, chapter: Chapter) -> None:
        with self.fresh(self._numbered()) as made:
            tf2_once.record(self, made, chapter, self.code)

    def _structure(self, chapter: Chapter) -> None:
        with checkpoint_loads.watching(self.code) as loads, self.fresh(self._numbered()) as made:
            with eagerly():
                self.run(made, training=False)
                with contextlib.suppress(Exception):
                    self.run(made, training=True)
            content = self.recording.content
            content["variables"] = made.variables.rows()
            content["other_variables"] = made.variables.other_rows()
            content["layers"] = [told for told in made.listening.settings.values() if told]
            found = loads.check(
                dict(made.variables.weights()),
                self.copying.tf1_names(made.variables),
                self.pair.transposes,
                self.pair.reshapes,
            )
            if found:
                chapter.say(loads=found)

    def _constant(self, chapter: Chapter) -> None:
        with self.fresh(self._aligning()) as made, eagerly():
            self.build(made)
            self.copying.fill_constant(made.variables)
            made.ledger.begin_step()
            self._forward(chapter, made)

    def _fingerprint(self, chapter: Chapter) -> None:
        traced = chapter.name == scenarios.FINGERPRINT_AGAIN
        with self.fresh(self._aligning()) as made:
            with eagerly():
                self.build(made)
            self.copying.fill_fingerprint(made.variables)
            made.ledger.begin_step()
            if traced:
                self._forward_traced(chapter, made)
            else:
                with eagerly():
                    self._forward(chapter, made)

    def _inference(self, chapter: Chapter) -> None:
        with samples.watching() as initializers, self.fresh(self._numbered()) as made, eagerly():
            self._forward(chapter, made, values=True)
            chapter.say(random_ops=made.ledger.described())
            if not self.copying.agrees(made.variables):
                samples.tf2_samples(initializers, dict(made.variables.weights()), chapter, self.plan.seed)

    def _inference_copied(self, chapter: Chapter) -> None:
        self._need_values()
        with self.fresh(self._aligning(self.copying.numbers(scenarios.INFERENCE))) as made, eagerly():
            self.build(made)
            self.copy(made, "forward")
            made.ledger.begin_step()
            self._forward(chapter, made)

    def _training(self, chapter: Chapter) -> None:
        mode = randomness.CONSTANT if chapter.name == scenarios.TRAINING_CONSTANT else randomness.NUM_RANDOM_OPS
        with self.fresh(self._numbered(mode)) as made, eagerly():
            self._forward(chapter, made, training=True)
            chapter.say(random_ops=made.ledger.described())

    def _aligned(self, chapter: Chapter) -> None:
        self._need_values()
        with self.fresh(self._aligning()) as made, eagerly():
            self.build(made)
            self.copy(made, "forward")
            made.ledger.begin_step()
            self._forward(chapter, made, training=True)
            chapter.say(random_ops=made.ledger.described())

    def _checkpoint(self, chapter: Chapter) -> None:
        if not self.pair.checkpoint:
            raise NotRunError("the pair names no checkpoint")
        with self.fresh(self._aligning()) as made, eagerly():
            self.build(made)
            restored = checkpoint.restore_tf2(
                self.pair.checkpoint,
                dict(made.variables.weights()),
                self.copying.tf1_names(made.variables),
                self.pair.transposes,
                self.pair.reshapes,
            )
            chapter.say(**restored.said())
            made.ledger.begin_step()
            self._forward(chapter, made)

    def _steps(self, chapter: Chapter) -> None:
        with self.fresh(self._aligning()) as made:
            if self.pair.train_step is None and not made.model.has_own_step and not made.model.is_compiled:
                raise NotRunError(
                    "the TF2 side does not say how it is trained: give the pair a train_step, or compile the model"
                )
            train(self, made, chapter)

    # Parts of scenarios

    def _need_values(self) -> None:
        if not self.copying.possible:
            raise NotRunError("the TF1 side recorded no initial values that could be copied")

    def copy(self, made: Made, kind: str) -> None:
        """Give a model the initial values of the TF1 side."""
        copied = self.copying.copy(made.variables, BEGINNINGS[kind])
        self.recording.adapted(f"the initial values of {copied.number} variables were copied from the TF1 side")

    def _forward(self, chapter: Chapter, made: Made, training: bool = False, values: bool = False) -> None:
        """Record an eager pass over the first batch."""
        self.give(chapter, 0, made.model.takes_labels or (training and made.model.is_compiled))
        with made.listening.recording(chapter, values=values):
            found = self.run(made, training)
            made.listening.endpoints(found.endpoints, found.taps, None)
            if values:
                made.listening.keep_values(made.variables.weights())
        place = made.model.place(self.pair.tf2, self.code)
        self._results(chapter, found, place)
        self._loss(chapter, made, found, training)
        if values:
            self._tell_of_missing_taps(made)

    def _forward_traced(self, chapter: Chapter, made: Made) -> None:
        """Record a pass of inference inside ``tf.function``; what its layers compute stays inside."""
        self.give(chapter, 0, made.model.takes_labels)
        batch = self.batch_tensors(0)
        run = in_function(lambda inputs, labels: _parts(made.model.forward(inputs, False, labels)))
        found = run(batch.inputs, batch.labels)
        forward = Forward(found["outputs"], found["endpoints"], found["taps"], found.get("loss"), found["losses"])
        with made.listening.recording(chapter):
            made.listening.endpoints(forward.endpoints, forward.taps, None)
        self._results(chapter, forward, made.model.place(self.pair.tf2, self.code))
        if forward.loss is not None:
            chapter.add("loss", "loss", array(forward.loss))

    def give(self, chapter: Chapter, step: int, labels: bool = True) -> None:
        """Record the inputs of a step, and the labels where they are used."""
        batch = self.batches.at(step)
        for kind, value in (("input", batch.inputs), ("label", batch.labels if labels else None)):
            for name, leaf in structures.flat(value, kind):
                chapter.add(kind, name, leaf, step)

    def _results(self, chapter: Chapter, found: Forward, place: Place | None) -> None:
        for name, leaf in found.outputs.items():
            chapter.add("output", name, array(leaf), place=place)
        for name, leaf in found.regularization.items():
            chapter.add("regularization", name, array(leaf), place=place)

    def _tell_of_missing_taps(self, made: Made) -> None:
        for name, ends in self.pair.taps.items():
            if name not in made.listening.met:
                self.recording.note(f"tap {name}: the TF2 model has neither an endpoint nor a layer {ends[1]}")

    def _loss(self, chapter: Chapter, made: Made, found: Forward, training: bool) -> None:
        """What the call gave as its loss; in training, of a compiled model what it would minimize."""
        loss = found.loss
        if loss is None and training and made.model.is_compiled:
            loss = self._compiled_loss(made, found)
        if loss is not None:
            chapter.add("loss", "loss", array(loss))

    def _compiled_loss(self, made: Made, found: Forward) -> Any:
        batch = self.batch_tensors(0)
        outputs = list(found.outputs.values())
        if batch.labels is None or len(outputs) != 1:
            return None
        with contextlib.suppress(Exception):
            return made.model.value.compute_loss(x=batch.inputs, y=batch.labels, y_pred=outputs[0])
        return None


def _parts(found: Forward) -> dict[str, Any]:
    """A result as ``tf.function`` can give it back."""
    import tensorflow as tf

    def converted(named: dict[str, Any]) -> dict[str, Any]:
        return {name: tf.convert_to_tensor(value) for name, value in named.items()}

    parts: dict[str, Any] = {
        "outputs": converted(found.outputs),
        "endpoints": converted(found.endpoints),
        "taps": converted(found.taps),
        "losses": converted(found.regularization),
    }
    if found.loss is not None:
        parts["loss"] = tf.convert_to_tensor(found.loss)
    return parts
