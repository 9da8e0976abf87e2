"""The phases of a run as data: what tells one from another, and how each of them went."""

from __future__ import annotations

from .frames import Frame

__all__ = ["IMPORT", "PENDING", "STEPS", "NotRunError", "NothingRanError", "Phase"]

IMPORT = "import"
"""The kind, and the name, of the phase that begins before there is anything else."""

STEPS = ("step", "fit", "evaluate", "predict")
"""The kinds of the phases in which a step of training or evaluation is called, by Keras except for the first kind."""
PENDING = "the run ended before it"
"""Why a phase was not run, as long as it was not come to."""
_ORDINALS = ("first", "second")
_MODES = {None: "", True: "training ", False: "inference "}


class NothingRanError(Exception):
    """A function of the program's gave None, and nothing of it ran."""


class NotRunError(Exception):
    """A phase does not apply to this model; the text says why."""


class Phase:
    """One step of the run.

    ``kind`` is ``import``, ``build``, ``call``, one of `STEPS` or ``save``; ``traced`` says that the model is called
    inside ``tf.function``, as in ``fit``; a step of the program's own may be one or not.
    ``mode`` is what ``training`` is given as, None where it is not given; ``batch`` is 0 for the batch of the sample
    inputs, 1 for one of another size; ``scope`` is the name of the guides' scope around a call: it may cut the call
    short, so that its success shows nothing. ``ordinal`` counts, from 0, the calls that are the same in all of that.
    ``follow_up`` says that the model had been called in this mode before, so that it has everything that it needs.
    ``aside`` says what the run itself made up for it, which is told with a failure.
    ``outcome`` is ``not run``, ``ok``, ``failed`` or ``cut short`` (by the scope), with the reason in ``detail``.
    ``only_traced`` says of a call that failed in ``tf.function`` that the same call did not, made eagerly after it.
    """

    def __init__(
        self,
        kind: str,
        *,
        mode: bool | None = None,
        ordinal: int = 0,
        batch: int = 0,
        scope: str | None = None,
        traced: bool = False,
    ) -> None:
        self.kind = kind
        self.mode = mode
        self.ordinal = ordinal
        self.batch = batch
        self.scope = scope
        self.traced = traced
        self.follow_up = False
        self.outcome = "not run"
        self.detail = PENDING
        self.aside = ""
        self.seconds = 0.0
        self.error: BaseException | None = None
        self.only_traced = False
        self.frames: tuple[Frame, ...] = ()
        self.ran: set[tuple[str, int, str]] = set()

    def __str__(self) -> str:
        """Its name, for people: what it is, is in its attributes."""
        if self.kind == "step":
            return f"{_ORDINALS[self.ordinal]} step"
        if self.kind != "call":
            return {"save": "save and load"}.get(self.kind, self.kind)
        if self.scope is not None:
            return f"call inside {self.scope}"
        call = f"{_ORDINALS[self.ordinal]} {_MODES[self.mode]}call"
        return ("call with another batch size" if self.batch else call) + (" in tf.function" if self.traced else "")

    @property
    def ok(self) -> bool:
        """Whether it ran to its end."""
        return self.outcome == "ok"

    @property
    def failure(self) -> str:
        """In words, which phase did not come to its end, and why."""
        return f"{self}: {self.detail}"

    def repeats(self, other: Phase) -> bool:
        """Whether it is the same call as an earlier one, made again."""
        return self._same() == other._same() and self.traced == other.traced and self.ordinal > other.ordinal

    def traces(self, other: Phase) -> bool:
        """Whether it is the same call as an eager one, inside ``tf.function``."""
        return self._same() == other._same() and self.traced > other.traced and self.ordinal == other.ordinal

    def _same(self) -> tuple[object, ...]:
        return (self.kind, self.mode, self.batch, self.scope)
