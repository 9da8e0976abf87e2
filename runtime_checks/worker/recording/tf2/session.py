"""What all scenarios of the TF2 side share: the pair's batches, fresh models, and the values that these begin with."""

from __future__ import annotations

import contextlib
from typing import Callable, ContextManager, Iterator, NamedTuple, Sequence

from ...frames import UserCode
from ...patching import definer, wrapped
from ..format import scenarios
from ..format.draws import counterparts, of_a_step
from ..format.plan import Plan
from ..format.reading import Recorded, read
from ..format.rows import DrawRow, Standing, Turns
from ..format.store import Chapter, Recording
from ..pairs import structures
from ..pairs.batches import Batch, Batches
from ..pairs.pair import Pair
from ..randomness import numbering
from ..randomness.ledger import Ledger
from ..tensors import Array, Function, Strategy, Variable
from .copying import BEGINNINGS, Copying
from .listening import Listening
from .model import Forward, Model, clear_names, make, tensors
from .variables import Variables

__all__ = ["Made", "Session"]


class Made(NamedTuple):
    """A fresh model with all that listens to it."""

    model: Model
    variables: Variables
    listening: Listening
    ledger: Ledger


@contextlib.contextmanager
def _scopes() -> Iterator[list[Strategy]]:
    """The strategies whose scopes are entered in the body."""
    import tensorflow as tf

    entered: list[Strategy] = []

    def telling(original: Function) -> Function:
        def scope(strategy: Strategy) -> ContextManager[None]:
            entered.append(strategy)
            within: ContextManager[None] = original(strategy)
            return within

        return scope

    with wrapped(definer(tf.distribute.Strategy, "scope"), "scope", telling):
        yield entered


class Session:
    """One recording of the TF2 side."""

    def __init__(
        self,
        pair: Pair,
        plan: Plan,
        recording: Recording,
        code: UserCode,
        tf1: Recorded | None,
        renew: Callable[[Pair], Pair] | None = None,
    ) -> None:
        self.pair = pair
        self._renew = renew
        self.plan = plan
        self.recording = recording
        self.code = code
        self.batches = Batches(pair, None if tf1 is None else tf1.batches(), recording.note)
        self.tf1 = tf1
        self.copying = Copying(pair, tf1, recording.note)
        self.distributes = False
        """Whether the training step runs a strategy by itself, as the ordinary TF2 side was seen to do."""
        self.step_numbers: list[Standing] | None = None
        """The numbers of what a training step draws, once they are known."""
        self.forcing = self.copying
        """Copies the weights that single steps begin with."""
        if plan.reference is not None:
            ordinary = read(plan.reference)
            self.forcing = Copying(Pair(pair.tf1, pair.tf2, pair.inputs), ordinary, recording.note)
            self.distributes = bool(ordinary.content.get("distributes"))
            numbers = ordinary.content.get("step_numbers") or ()
            self.step_numbers = [Turns(*one) if isinstance(one, list) else one for one in numbers]

    def numbered(self, mode: str = numbering.NUM_RANDOM_OPS) -> ContextManager[Made]:
        """A fresh model; all random operations are numbered, those of initial values included."""
        return self._fresh(numbering.tool(mode, self.plan.seed, self.code))

    def aligned(self) -> ContextManager[Made]:
        """A fresh model; random operations are numbered within a step."""
        vary = self.batches.vary(self.plan.steps)
        return self._fresh(numbering.aligned(self.plan.seed, self.code, self.recording.adapted, retraced=vary))

    @contextlib.contextmanager
    def _fresh(self, numbers: ContextManager[Ledger]) -> Iterator[Made]:
        clear_names()
        variables = Variables(self.code, self.copying.told("counter"), self.copying.told())
        listening = Listening(self.code, variables, self.pair.taps)
        strategy = self.plan.strategy
        with contextlib.ExitStack() as scope, listening.open(), numbers as ledger, variables.watched():
            if strategy is not None:
                scope.enter_context(strategy.scope())
            if self._renew is not None:  # heard and numbered as what makes the model: it may stand in the module
                self.pair = self._renew(self.pair)
            loaded = len(variables.created)
            with _scopes() as entered:
                model = make(self.pair)
            if strategy is None and entered:  # what the first call makes belongs there too
                scope.enter_context(entered[-1].scope())
            variables.belong(model.value, loaded)
            listening.root(model.value)
            for text in model.other_losses(self.code):
                self.recording.note(f"{text} is the program's own, and not compared: Keras's losses of it are")
            yield Made(model, variables, listening, ledger)

    def build(self, made: Made) -> list[Standing]:
        """Call the model once, so that its variables exist, and put back what the call changed.

        Gives back the numbers of what it drew, as `begin_step` of the ledger takes them.
        """
        before = len(made.ledger.draws)  # what a call draws by which the program builds its model is none of these
        with made.variables.undone():
            self.run(made, training=False)
        numbering.set_seeds(self.plan.seed)  # kernels go on where that call ended
        return self.numbers(scenarios.INFERENCE, made.ledger.described()[before:])

    def rehearse(self, made: Made) -> list[Standing]:
        """The numbers of what a pass of training draws; what it changed is put back."""
        if not self.copying.draws(scenarios.ALIGNED):
            return []
        before = len(made.ledger.draws)
        with made.variables.undone(), made.ledger.evaluating():
            self.run(made, training=True)
            rows = made.ledger.described()[before:]
        numbering.set_seeds(self.plan.seed)
        return self.numbers(scenarios.ALIGNED, rows)

    def numbers(self, scenario: str, rows: Sequence[DrawRow]) -> list[Standing]:
        """The numbers of what is drawn, by what TF1 drew in a scenario; see `counterparts`.

        Those of inference are positions, as its graph is numbered anew for each scenario; in training TF1 says which
        number each of its operations has.
        """
        ones = self.copying.draws(scenario)
        found = counterparts(ones, of_a_step(rows))
        if any(isinstance(at, Turns) for at in found):
            self.recording.adapted("what TF1 draws turn by turn and TF2 at once, TF2 drew turn by turn as well")
        elif ones and scenario != scenarios.ALIGNED and found != list(range(len(ones))):
            self.recording.adapted(
                "the sides draw other things, or in another order: TF2 got the random numbers of TF1 by kind and shape"
            )
        return found if scenario == scenarios.INFERENCE else self.copying.seeds(scenario, found)

    def batch_tensors(self, step: int) -> Batch:
        """The batch of a step as tensors."""
        batch = self.batches.at(step)
        return Batch(tensors(batch.inputs), tensors(batch.labels))

    def run(self, made: Made, training: bool, step: int = 0) -> Forward:
        """One call on the batch of a step."""
        batch = self.batch_tensors(step)
        return made.model.forward(batch.inputs, training, batch.labels)

    def copy(self, made: Made, kind: str) -> None:
        """Give a model the initial values of the TF1 side."""
        with made.variables.followed():
            copied = self.copying.copy(made.variables, BEGINNINGS[kind])
        if copied:
            self.recording.adapted(f"the initial values of {copied} variables were copied from the TF1 side")
        else:
            self.recording.note("no variable of the TF2 side got its initial value from the TF1 side")

    def exact(self, made: Made, kind: str) -> list[tuple[Variable, Array]]:
        """What `copy` gives to variables, where the model's dtype rounds it."""
        return list(self.copying.exact(made.variables, BEGINNINGS[kind]))

    def give(self, chapter: Chapter, step: int, labels: bool = True) -> None:
        """Record the inputs of a step, and the labels where they are used."""
        batch = self.batches.at(step)
        for kind, value in (("input", batch.inputs), ("label", batch.labels if labels else None)):
            for name, leaf in structures.flat(value, kind):
                chapter.add(kind, name, leaf, step)
