"""Records the TF1 side of a pair: its graphs are built here and run in sessions.

One graph serves all scenarios of inference, and the weights that training made; another one all of training, with the
seeds of its random operations set anew for each.
"""

from __future__ import annotations

import contextlib
import os
from typing import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ... import shims
from ...errors import essence
from ...frames import UserCode
from ..format import scenarios
from ..format.attempts import NotRunError, attempt
from ..format.draws import STEP
from ..format.plan import Plan
from ..format.reading import Recorded
from ..format.store import Chapter, Recording
from ..pairs import structures
from ..pairs.batches import Batch, Batches, PairError
from ..pairs.mapping import ignored
from ..pairs.pair import Pair
from ..pipelines import record_pipeline
from ..randomness import numbering
from ..randomness.graph_seeds import ledger_of, number_step_ops, numbered, reseeded
from ..randomness.ledger import Draw
from ..tensors import Array, DType, Function, Operation, V1Session, Variable
from ..values import fills, sampling
from ..watching.clipping import UNKNOWN
from ..watching.constructions import made_at
from . import checkpoint, estimator, evaluating, in_float64, probing, samples, sessions, until_session
from .alike import alike
from .building import EVALUATE, INFER, TRAIN, Network, build, takes
from .legacy_layers import legacy_layers
from .operations import Operations
from .sessions import opened
from .step import in_open_order, run_values
from .training import record_batch, record_values, record_variables, train
from .variables import Kept, keep, plain, weights

__all__ = ["record_tf1", "standing_in"]

_STEPS = (scenarios.STEPS, scenarios.STEPS_OTHER, scenarios.STEPS_AGAIN, scenarios.STEPS_NUDGED)


def record_tf1(
    pair: Pair,
    plan: Plan,
    recording: Recording,
    code: UserCode,
    renew: Callable[[Pair], Pair] | None = None,
    before: Recorded | None = None,
) -> None:
    """Record the scenarios that the plan wants.

    Args:
        pair: its ``tf1`` is a function that builds a graph.
        plan: what to record.
        recording: where to; a scenario that fails is recorded as failed, and the next one is tried.
        code: tells the user's files.
        renew: gives the pair that the next graph is built of.
        before: a recording of the same program in another TensorFlow, whose batches and initial values are taken.

    Raises:
        PairError: if the pair's inputs cannot be used.
    """
    with standing_in(recording.adapted):
        _Side(pair, plan, recording, code, renew, before).record()


@contextlib.contextmanager
def standing_in(adapted: Callable[[str], None]) -> Iterator[None]:
    """Put what TF1 programs need, and what is missing in this TensorFlow, in place in the body.

    Args:
        adapted: told of each thing that the program makes use of.
    """
    with estimator.standing_in(adapted), legacy_layers(adapted), shims.for_slim(shims.target(), adapted):
        yield


class _Side:
    """The graphs of a side, made when they are first wanted."""

    def __init__(
        self,
        pair: Pair,
        plan: Plan,
        recording: Recording,
        code: UserCode,
        renew: Callable[[Pair], Pair] | None = None,
        before: Recorded | None = None,
    ) -> None:
        self.pair = pair
        self._renew = renew
        self._before = before
        self.plan = plan
        self.recording = recording
        self.code = code
        self.batches = Batches(pair, None if before is None else before.batches(), recording.note)
        self._made: dict[str, Network | BaseException] = {}
        self._last: tuple[int, list[tuple[str, Array]]] | None = None
        self._said: set[str] = set()
        self._fetched: dict[Network, Operations] = {}
        self._idle: dict[Network, set[Operation]] = {}
        self._turns: dict[Network, dict[Operation, list[int]]] = {}
        self._unaligned: dict[Network, list[Draw]] = {}

    def record(self) -> None:
        """Record everything that is wanted."""
        until_session.runs.clear()
        self._all()
        self.recording.content["first_sessions"] = list(dict.fromkeys(until_session.runs))

    def _all(self) -> None:
        if not self.plan.data_alone:
            self.batches.at(0)
        self._try(scenarios.DATA, self._data)
        self._try(scenarios.STRUCTURE, self._structure)
        self._try(scenarios.CONSTANT, self._constant)
        for name in (scenarios.FINGERPRINT, scenarios.FINGERPRINT_AGAIN, scenarios.FINGERPRINT_NUDGED):
            self._try(name, self._fingerprint)
        self._try(scenarios.INFERENCE, self._inference)
        self._try(scenarios.CHECKPOINT, self._checkpoint)
        if not self._any((scenarios.ALIGNED, scenarios.ALIGNED_NUDGED, *_STEPS)):
            self._made.pop(INFER, None)
            self._fetched.clear()
        self._try(scenarios.TRAINING, self._training)
        self._try(scenarios.TRAINING_CONSTANT, self._training_constant)
        for name in (scenarios.ALIGNED, scenarios.ALIGNED_NUDGED):
            self._try(name, self._aligned)
        for name in _STEPS:
            self._try(name, self._steps)
        for name in (scenarios.EVALUATED, scenarios.EVALUATED_NUDGED):
            self._try(name, self._evaluated)
        for name in scenarios.FLOAT64:
            self._try(name, self._in_float64)

    def _try(self, name: str, body: Callable[[Chapter], None]) -> None:
        if self.plan.wants(name):
            attempt(self.recording, self.code, name, lambda chapter: self._tried(chapter, body))

    def _tried(self, chapter: Chapter, body: Callable[[Chapter], None]) -> None:
        try:
            body(chapter)
        except (NotRunError, PairError):
            raise
        except Exception:
            with contextlib.suppress(Exception):  # what failed is to be told in any case
                self._say_which_rows()
            raise

    def _say_which_rows(self) -> None:
        """Say that a graph that failed is made for other batches: its outputs have as many rows as it was built for."""
        given = {len(value) for _, value in structures.flat(self.batches.at(0).inputs, "input") if np.ndim(value)}
        for network in self._made.values():
            if isinstance(network, Network) and network.reads_inputs and "rows" not in self._said:
                shapes = [one.tensor.shape for one in network.values if one.kind == "output" and one.fetched]
                rows = {shape.as_list()[0] for shape in shapes if shape.ndims}
                if len(given) == len(rows) == 1 and None not in rows and given != rows:
                    self._said.add("rows")
                    self.recording.note(
                        f"the graph of the TF1 side is made for {rows.pop()} rows, as its outputs have, whatever it is "
                        f"fed, and inputs gives {given.pop()}: let it give batches of that size"
                    )

    # Graphs

    def _network(self, mode: str) -> Network:
        """The graph of a mode; an error in building it is raised to everybody who wants it.

        Evaluation has that of inference where the function is not told the mode.
        """
        if mode == EVALUATE and not takes(self.pair.tf1, "mode"):
            mode = INFER
        if mode not in self._made:
            try:
                self._made[mode] = self._built(mode)
            except (Exception, SystemExit) as error:
                self._made[mode] = error
        made = self._made[mode]
        if isinstance(made, BaseException):
            raise made
        return made

    def _built(self, mode: str) -> Network:
        if self._renew is not None and self._made:
            self.pair = self._renew(self.pair)
        return build(
            self.pair,
            mode,
            self._shown(),
            self.code,
            lambda: numbering.tool(numbering.NUM_RANDOM_OPS, self.plan.seed, self.code),
            self.recording.note,
            self.plan.device,
        )

    def _shown(self) -> list[Batch]:
        """The batches that will be fed, up to one that cannot be had: the step that wants it will say so."""
        found = [self.batches.at(0)]
        for step in range(1, self.plan.steps if self._any(_STEPS) else 1):
            try:
                found.append(self.batches.at(step))
            except PairError:
                raise
            except Exception:
                break
        return found

    def _any(self, names: Iterable[str]) -> bool:
        return any(self.plan.wants(name) for name in names)

    def _forward(self) -> Network:
        """The graph of inference."""
        try:
            return self._network(INFER)
        except (Exception, SystemExit) as refusal:
            return self._instead(refusal)

    def _instead(self, refusal: BaseException) -> Network:
        """What stands for inference where a function refuses that mode.

        That is evaluation, or training if its forward pass neither draws random numbers nor updates statistics.
        """
        for mode in (EVALUATE, TRAIN):
            try:
                network = self._network(mode)
            except (Exception, SystemExit):
                continue
            if mode == TRAIN and not _is_plain(network):
                break
            self.recording.adapted(
                f"the TF1 function refuses mode {INFER!r} ({essence(refusal)}): "
                f"the forward pass of mode {mode!r} stands for inference"
            )
            return network
        raise refusal

    def _train(self) -> Network:
        network = self._network(TRAIN)
        self._say_what_trains(network)
        return network

    def _say_what_trains(self, network: Network) -> None:
        if "trains" in self._said:
            return
        self._said.add("trains")
        kept = keep(network, self.code)
        self.recording.content["optimizers"] = kept.optimizers
        places = [made_at(applied.optimizer) for applied in network.idle]
        self.recording.content["other_steps"] = [None if place is None else list(place) for place in places]
        self.recording.content["open_order"] = in_open_order(network)
        self.recording.content["averages"] = kept.averages
        self.recording.content["layers"] = network.layers
        counters = {said["name"] for said in kept.others if said["purpose"] == "counter"}  # which inference may have
        self.recording.content["variables"] = [
            said for said in self.recording.content["variables"] if said["name"] not in counters
        ]
        known = {said["name"] for said in self.recording.content["variables"]}
        self.recording.content["variables"] += [
            {**said, "only": "training"} for said in kept.variables if said["name"] not in known
        ]
        others = self.recording.content.setdefault("other_variables", [])
        known = {said["name"] for said in others}
        others += [said for said in kept.others if said["name"] not in known]
        if network.train_op is not None and not network.applied:
            self.recording.note(
                "no optimizer of tf.compat.v1.train was seen applying gradients on the TF1 side: "
                "gradients, learning rate and slots are recorded only where a Spec names them"
            )

    # Scenarios without training

    def _data(self, chapter: Chapter) -> None:
        record_pipeline(chapter, self.pair, "tf1", self.plan.seed, self.code)

    def _structure(self, chapter: Chapter) -> None:
        try:
            network = self._forward()
        except (Exception, SystemExit):
            network = self._network(TRAIN)
        kept: Kept = keep(network, self.code)
        self.recording.content["variables"] = kept.variables
        self.recording.content["other_variables"] = kept.others
        self.recording.content["layers"] = network.layers
        chapter.say(mode=network.mode)

    def _constant(self, chapter: Chapter) -> None:
        self._filled(chapter, lambda name, shape, dtype: fills.constant(shape, dtype))

    def _fingerprint(self, chapter: Chapter) -> None:
        nudged = chapter.name == scenarios.FINGERPRINT_NUDGED

        def value(name: str, shape: Sequence[int], dtype: DType) -> Array:
            filled = fills.fingerprint(name, shape, dtype)
            return fills.nudged(name, filled) if nudged and filled is not None else filled

        self._filled(chapter, value, grappler=chapter.name != scenarios.FINGERPRINT_AGAIN)

    def _filled(self, chapter: Chapter, value: Function, grappler: bool = True) -> None:
        network = self._forward()
        with numbered(network.graph, self.plan.seed), opened(network, grappler) as session:
            sessions.fill(session, network, _fillings(network, self.pair.ignore, value))
            self._pass(chapter, network, session)
            if chapter.name == scenarios.FINGERPRINT:
                self._say_what_is_alike(network, session)

    def _say_what_is_alike(self, network: Network, session: V1Session) -> None:
        try:
            self.recording.content["alike"] = alike(network, session, self._shown(), self.code)
        except Exception as error:
            self.recording.note(f"what the TF1 side reads off the batches was not found out: {essence(error)}")

    def _inference(self, chapter: Chapter) -> None:
        network = self._forward()
        chapter.say(random_ops=ledger_of(network.ledger))
        with opened(network) as session:
            sessions.initialize(session, network)
            sessions.assign(session, self._as_before(network, scenarios.INFERENCE))
            record_variables(chapter, session, weights(network))
            trained = set(map(id, network.trainable))
            kept = list(sessions.read(session, [one for one in weights(network) if id(one) not in trained]))
            self._pass(chapter, network, session)
            after = sessions.read(session, [variable for variable, _ in kept])
            self.recording.content["moved"] = [
                plain(one) for (one, old), (_, new) in zip(kept, after) if old.tobytes() != new.tobytes()
            ]
            self._say_what_draws(chapter, network, session)
            samples.record(session, weights(network), chapter)

    def _checkpoint(self, chapter: Chapter) -> None:
        if not self.pair.checkpoint:
            raise NotRunError("the pair names no checkpoint")
        network = self._forward()
        with numbered(network.graph, self.plan.seed), opened(network) as session:
            sessions.initialize(session, network)
            restored = checkpoint.restore(self.pair.checkpoint, session, weights(network))
            chapter.say(**restored.said())
            self._pass(chapter, network, session)

    def _pass(self, chapter: Chapter, network: Network, session: V1Session) -> None:
        """Record a forward pass of the first batch."""
        batch = self.batches.at(0)
        chapter.say(mode=network.mode)
        record_batch(chapter, network, batch, 0)
        wanted = self.plan.operations and chapter.name in scenarios.WITH_OPERATIONS
        operations = self._operations(network) if wanted else None
        feeds = network.feeds(batch)
        if operations is not None:
            try:
                computed = run_values(session, [*network.values, *operations.values], feeds)
                operations.record(chapter, computed[len(network.values) :])
                del computed[len(network.values) :]
            except Exception as error:
                self.recording.note(f"the operations of the TF1 side could not be recorded: {essence(error)}")
                operations = None
        if operations is None:
            computed = run_values(session, network.values, feeds)
        record_values(chapter, network.values, computed, operations=operations)

    def _operations(self, network: Network) -> Operations:
        """What is fetched of a network's operations in a forward pass; a network is asked once."""
        if network not in self._fetched:
            self._fetched[network] = Operations(network, self.code)
        return self._fetched[network]

    # Scenarios of training

    def _training(self, chapter: Chapter) -> None:
        network = self._train()
        chapter.say(random_ops=ledger_of(network.ledger))
        with opened(network) as session:
            sessions.initialize(session, network)
            self._pass(chapter, network, session)

    def _training_constant(self, chapter: Chapter) -> None:
        with reseeded(self._train().graph, self.plan.seed):
            self._training(chapter)

    def _stepping(self) -> Network:
        """The graph of training with the random operations of a step numbered from 0; no other seeds come after."""
        network = self._train()
        if "stepping" not in self._said:
            of_graph, of_functions = number_step_ops(network.graph, self.plan.seed)
            names = {name for name, _ in of_graph + of_functions}
            numbers: dict[str, list[int]] = {}
            for name, number in of_functions:
                numbers.setdefault(name, []).append(number)
            drawn = [one for one in network.ledger.draws if one.purpose == STEP and one.operation is not None]
            self._unaligned[network] = [draw for draw in drawn if draw.operation.name not in names]
            for draw in drawn:
                if draw.operation.graph is not network.graph and numbers.get(draw.operation.name):
                    draw.number = numbers[draw.operation.name].pop(0)
            self._said.add("stepping")
        return network

    def _say_what_is_not_aligned(self, network: Network) -> None:
        for draw in self._unaligned.pop(network, ()):
            if draw.operation not in self._idle[network]:
                where = "" if draw.place is None else f" ({os.path.basename(draw.place[0])}:{draw.place[1]})"
                self.recording.note(f"{draw.op} in a branch or loop of the TF1 graph draws unaligned numbers{where}")

    def _aligned(self, chapter: Chapter) -> None:
        network = self._stepping()
        chapter.say(random_ops=ledger_of(network.ledger))
        with opened(network) as session:
            sessions.initialize(session, network)
            given = self._initial()
            if chapter.name == scenarios.ALIGNED_NUDGED:
                given = _moved(given)
            sessions.assign(session, _by_name(network, given))
            self._pass(chapter, network, session)
            self._say_what_draws(chapter, network, session)

    def _initial(self) -> Iterator[tuple[str, Array]]:
        """The weights that the graph of inference begins with."""
        network = self._forward()
        with opened(network) as session:
            sessions.initialize(session, network)
            sessions.assign(session, self._as_before(network, scenarios.INFERENCE))
            for variable, value in sessions.read(session, weights(network)):
                yield plain(variable), value

    def _as_before(self, network: Network, scenario: str) -> Iterator[tuple[Variable, Array]]:
        """The values that a scenario began with in the other TensorFlow; nothing where there is none."""
        if self._before is None:
            return
        begun = self._before.scenario(scenario).of_kind("variable", -1 if scenario == scenarios.STEPS else 0)
        yield from _by_name(network, ((record.name, record.whole) for record in begun))

    def _steps(self, chapter: Chapter) -> None:
        network = self._stepping()
        if network.train_op is None:
            raise NotRunError("the TF1 side gives no train_op: return an EstimatorSpec or a Spec with one")
        chapter.say(random_ops=ledger_of(network.ledger))
        evaluations: list[tuple[int, list[tuple[str, Array]]]] = []
        train(
            network,
            self.batches,
            chapter,
            self.code,
            steps=self.plan.steps,
            automatic=chapter.name == scenarios.STEPS,
            with_operations=self.plan.operations and chapter.name == scenarios.STEPS,
            nudged=chapter.name == scenarios.STEPS_NUDGED,
            grappler=chapter.name != scenarios.STEPS_OTHER,
            initial=self._as_before(network, scenarios.STEPS),
            places={} if self._before is None else sampling.of(self._before),
            whole=self._whole(chapter),
            heard=lambda step, values: evaluations.append((step, values)),
            ended=lambda session: self._probe(chapter, session, network),
        )
        for step, values in evaluations:
            self._evaluate(chapter, step, values)
        if chapter.name == scenarios.STEPS and self.plan.wants(scenarios.EVALUATED):
            self._last = evaluations[-1]

    def _whole(self, chapter: Chapter) -> Sequence[int]:
        """The steps after which TF2's variables get the values of these."""
        if chapter.name != scenarios.STEPS:
            return ()
        if self.plan.wants(scenarios.STEPS_FORCED):
            return range(self.plan.steps)
        return (self.plan.steps - 1,) if self.plan.wants(scenarios.EVALUATED) else ()

    def _evaluated(self, chapter: Chapter) -> None:
        """Record loss and metrics of evaluation, with the initial values and with the last weights."""
        try:
            network = self._network(EVALUATE)
        except (Exception, SystemExit) as error:
            raise NotRunError(f"the TF1 function refuses mode {EVALUATE!r}: {essence(error)}") from error
        if network.results.loss is None and not network.metrics:
            raise NotRunError(f"the TF1 side gives neither a loss nor metrics in mode {EVALUATE!r}")
        batches = [self.batches.at(step) for step in range(self.plan.steps)]
        last = [] if self._last is None else [self._last]
        for step, given in [(-1, self._initial()), *last]:
            values = _moved(given) if chapter.name == scenarios.EVALUATED_NUDGED else given
            with numbered(network.graph, self.plan.seed, numbering.of_evaluation(0)), opened(network) as session:
                sessions.fill(session, network, _by_name(network, values))
                evaluating.record(session, network, batches, chapter, step, self.code)

    def _say_what_draws(self, chapter: Chapter, network: Network, session: V1Session) -> None:
        """Say again what a graph draws, once a session, whose work is done, tells what is idle and how loops turn."""
        try:
            if network not in self._idle:
                self._idle[network] = probing.idle_draws(session, network, network.feeds(self.batches.at(0)))
        except Exception as error:
            self.recording.note(f"which draws of the TF1 side are idle was not found out: {essence(error)}")
            self._idle[network] = set()
        try:
            if network not in self._turns:
                feeds = [network.feeds(self.batches.at(step)) for step in range(self.plan.steps)]
                self._turns[network] = probing.turns(session, network, feeds)
        except Exception as error:
            self.recording.note(f"how many turns the loops of the TF1 side take was not found out: {essence(error)}")
            self._turns[network] = {}
        self._say_what_is_not_aligned(network)
        chapter.say(random_ops=ledger_of(network.ledger, self._idle[network], self._turns[network]))

    def _probe(self, chapter: Chapter, session: V1Session, network: Network) -> None:
        """Say what training would do otherwise than in the steps that are run."""
        if chapter.name != scenarios.STEPS:
            return
        content, feeds = self.recording.content, network.feeds(self.batches.at(self.plan.steps - 1))
        try:
            content["rates"] = probing.rates(session, network, feeds, self.plan.steps)
        except Exception as error:
            note = f"the learning rates of later steps were not found out on the TF1 side: {essence(error)}"
            self.recording.note(note)
        for applied, said in zip(network.applied, content["optimizers"]):
            try:
                said.update(probing.limits(session, network, applied, feeds))
            except Exception as error:
                said["clipping"] = UNKNOWN
                self.recording.note(f"how the TF1 side clips gradients was not found out: {essence(error)}")
        self._say_what_draws(chapter, network, session)

    def _in_float64(self, chapter: Chapter) -> None:
        """Record a forward pass, or the first training step, as float64 gives it."""
        inference = chapter.name == scenarios.FLOAT64_INFERENCE
        network = self._forward() if inference else self._stepping()
        if chapter.name == scenarios.FLOAT64_STEP and network.train_op is None:
            raise NotRunError("the TF1 side gives no train_op: return an EstimatorSpec or a Spec with one")
        with opened(network) as session:
            sessions.initialize(session, network)
            if inference:
                sessions.assign(session, self._as_before(network, scenarios.INFERENCE))
            elif chapter.name == scenarios.FLOAT64_STEP:
                sessions.assign(session, self._as_before(network, scenarios.STEPS))
            else:
                sessions.assign(session, _by_name(network, self._initial()))
            batch = self.batches.at(0)
            record_batch(chapter, network, batch, 0)
            in_float64.record(session, network, network.feeds(batch), chapter, self.code)

    def _evaluate(self, chapter: Chapter, step: int, values: Iterable[tuple[str, Array]]) -> None:
        """Record the outputs of inference with the weights after a step."""
        try:
            network = self._forward()
        except (Exception, SystemExit) as error:
            self.recording.note(f"no outputs of inference after training on the TF1 side: {essence(error)}")
            return
        outputs = [value for value in network.values if value.kind == "output"]
        first = numbering.of_evaluation(step)
        with numbered(network.graph, self.plan.seed, first), opened(network) as session:
            sessions.fill(session, network, _by_name(network, values))
            for _ in range(1 if network.reads_inputs else step + 1):  # data of its own comes batch by batch
                computed = run_values(session, outputs, network.feeds(self.batches.at(step)))
        for value, array in zip(outputs, computed):
            chapter.add("evaluation", value.name, array, step=step, place=value.place)


def _fillings(network: Network, ignore: Sequence[str], value: Function) -> Iterator[tuple[Variable, Array]]:
    """What the pair ignores keeps its values."""
    for variable in network.variables:
        if ignored(plain(variable), ignore):
            continue
        filled = value(plain(variable), variable.shape.as_list(), variable.dtype.base_dtype)
        if filled is not None:
            yield variable, filled


def _by_name(network: Network, values: Iterable[tuple[str, Array]]) -> Iterator[tuple[Variable, Array]]:
    """Variables of a network with values known by name, as far as shapes agree."""
    known: Mapping[str, Variable] = {plain(variable): variable for variable in network.variables}
    for name, value in values:
        variable = known.get(name)
        if variable is not None and variable.shape.is_compatible_with(value.shape):
            yield variable, value


def _moved(values: Iterable[tuple[str, Array]]) -> Iterator[tuple[str, Array]]:
    for name, value in values:
        nudged = fills.nudged(name, value)
        yield name, value if nudged is None else nudged


def _is_plain(network: Network) -> bool:
    """Whether a graph's forward pass is the same in training and inference, as far as operations tell."""
    import tensorflow as tf

    if network.graph.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS):
        return False
    return all(draw.purpose != STEP for draw in network.ledger.draws)
