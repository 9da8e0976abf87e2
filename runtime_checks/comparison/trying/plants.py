"""Bugs to plant into a TF2 side that is equal: the known differences, with values that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...worker.recording.format.reading import Recorded
from ..results import Change, Planted, Results, Rung, Status
from .proposals import Proposal, Site, described, mutation, sites_of
from .search import Attempt

__all__ = ["PASSES", "caught", "plants"]

PASSES = ("variables", "forward", "regularization")
"""Classes of bugs that are felt in a forward pass."""

_NORMS = ("BatchNormalization", "BatchNormalizationBase")
_OTHER: Mapping[str | None, str] = {
    None: "relu",
    "linear": "relu",
    "relu": "elu",
    "elu": "relu",
    "tanh": "sigmoid",
    "sigmoid": "tanh",
}

Kind = Callable[["_Program"], Iterator[Proposal]]
"""Gives the bugs of one kind that a program has a place for."""


def plants(report: Results, tf2: Recorded) -> tuple[list[Proposal], list[str]]:
    """One bug of each kind that there is a place for, by the order of the ladder; and the kinds that have none."""
    program = _Program(report, sites_of(tf2))
    found: list[Proposal] = []
    without: list[str] = []
    for words, kind in _KINDS.items():
        made = list(kind(program))
        found += made
        if not made:
            without.append(words)
    return found, without


class _Program:
    """What a TF2 program was seen to call, and the shapes of its trainable weights."""

    def __init__(self, report: Results, sites: Sequence[Site]) -> None:
        rows = [row.tf2 for row in report.variables if row.tf2 and row.tf2.get("trainable")]
        self.shapes = [shape for row in rows if len(shape := tuple(row.get("shape") or ())) > 1]
        self.sites = sites
        self.layers = [site for site in sites if site.is_a("Layer")]
        self.norms = [site for site in sites if site.is_a(*_NORMS)]
        optimizers = [site for site in sites if site.what == "argument" and "Optimizer" in "".join(site.bases)]
        self.optimizers = optimizers[:1]

    def last(self, argument: str, *kinds: type, sites: Sequence[Site] | None = None) -> Iterator[tuple[Site, Any]]:
        """The last site whose argument has a value of these kinds that says something, and the value."""
        fitting = [
            (site, value)
            for site in (self.sites if sites is None else sites)
            if isinstance(value := site.arguments.get(argument), kinds) and value not in (False, 0)
        ]
        yield from fitting[-1:]

    def calls(self, what: str, *callees: str) -> Iterator[Site]:
        """The last site of a kind, of some functions where any are named."""
        yield from [one for one in self.sites if one.what == what and (not callees or one.callee in callees)][-1:]


def _plain(kind: str, what: str, text: str) -> Proposal:
    return Proposal(kind, 1.0, mutation(what), Change(kind, text, None))


def _argument(kind: str, site: Site, argument: str, value: Any) -> Proposal:
    before = described(site.arguments.get(argument))
    text = f"`{site.callee}({argument}={before})`: {argument}={described(value)}"
    wanted = mutation("argument", [site.place], site.callee, argument, value)
    return Proposal(kind, 1.0, wanted, Change(kind, text, site.place))


def _what(kind: str, site: Site, what: str, value: Any, text: str, callee: str = "") -> Proposal:
    return Proposal(kind, 1.0, mutation(what, [site.place], callee, "", value), Change(kind, text, site.place))


def _transposed(program: _Program) -> Iterator[Proposal]:
    if any(shape[-1] == shape[-2] > 1 for shape in program.shapes):
        yield _plain("variables", "transposed", "the first square kernel is used transposed")


def _swapped(program: _Program) -> Iterator[Proposal]:
    if len(set(program.shapes)) < len(program.shapes):
        yield _plain("variables", "swapped", "the first two weights of one shape take each other's place")


def _epsilon(program: _Program) -> Iterator[Proposal]:
    others = [site for site in program.sites if site not in program.optimizers and not site.is_a("Optimizer")]
    for argument in ("epsilon", "variance_epsilon"):
        for site, value in program.last(argument, float, sites=others):
            yield _argument("forward", site, argument, 1e-5 if value > 1e-4 else 1e-3)


def _activation(program: _Program) -> Iterator[Proposal]:
    for site in [one for one in program.layers if _named(one.arguments.get("activation", "?")) in _OTHER][:1]:
        yield _argument("forward", site, "activation", _OTHER[site.arguments["activation"]])
    for site in program.calls("function", *(f"tf.nn.{name}" for name in _OTHER if name)):
        other = f"tf.nn.{_OTHER[site.callee.rpartition('.')[2]]}"
        yield _what("forward", site, "function", other, f"`{site.callee}`: {other}", site.callee)


def _padding(program: _Program) -> Iterator[Proposal]:
    for site, value in program.last("padding", str):
        if value.lower() in ("same", "valid"):
            other = "valid" if value.lower() == "same" else "same"
            yield _argument("forward", site, "padding", other.upper() if value.isupper() else other)


def _turned(argument: str) -> Kind:
    def kind(program: _Program) -> Iterator[Proposal]:
        for site in [one for one in program.layers if isinstance(one.arguments.get(argument), bool)][-1:]:
            yield _argument("forward", site, argument, not site.arguments[argument])

    return kind


def _resize(program: _Program) -> Iterator[Proposal]:
    for site in program.calls("function", "tf.image.resize"):
        yield _what("forward", site, "resize", True, "`tf.image.resize`: corners aligned, as TF1 can", site.callee)


def _initial_values(program: _Program) -> Iterator[Proposal]:
    for site in [one for one in program.layers if one.arguments.get("kernel_initializer") is not None][-1:]:
        same = site.arguments["kernel_initializer"] in ("he_normal", {"class": "HeNormal"})
        yield _argument("randomness", site, "kernel_initializer", "glorot_uniform" if same else "he_normal")


def _dropout(program: _Program) -> Iterator[Proposal]:
    for argument in ("rate", "keep_prob"):
        drops = [one for one in program.sites if one.is_a("Dropout") or one.callee in ("tf.nn.dropout", "slim.dropout")]
        for site, rate in program.last(argument, float, sites=drops):
            yield _argument("dropout rate", site, argument, round(1.0 - rate, 6) if rate != 0.5 else 0.4)


def _regularizer(program: _Program) -> Iterator[Proposal]:
    for site, value in program.last("kernel_regularizer", dict, str, sites=program.layers):
        yield _argument("regularization", site, "kernel_regularizer", None)
        config = value.get("config") if isinstance(value, dict) else None
        if config:
            twice = {"class": value.get("class"), "config": {key: 2.0 * one for key, one in config.items()}}
            yield _argument("regularization", site, "kernel_regularizer", twice)
    for site, value in program.last("scale", float):
        if site.callee in ("slim.l1_regularizer", "slim.l2_regularizer"):
            yield _argument("regularization", site, "scale", 2.0 * value)


def _losses(program: _Program) -> Iterator[Proposal]:
    for site in program.calls("losses"):
        yield _what("regularization", site, "losses", 0.0, "the losses of the model are left out")
        yield _what("regularization", site, "losses", 2.0, "the losses of the model are taken twice")


def _moving(program: _Program) -> Iterator[Proposal]:
    for argument, sites in (("momentum", program.norms), ("decay", program.sites)):
        for site, value in program.last(argument, float, sites=sites):
            if argument == "momentum" or site.callee == "slim.batch_norm":
                yield _argument("moving statistics", site, argument, 0.9 if value > 0.95 else 0.99)


def _statistics(program: _Program) -> Iterator[Proposal]:
    for site in program.norms[-1:]:
        for how, words in (("kept", "does not move its statistics"), ("unbiased", "moves by the variance of n - 1")):
            yield _what("moving statistics", site, "statistics", how, f"`{site.callee}` {words}", site.callee)


def _flag(program: _Program) -> Iterator[Proposal]:
    for site in program.calls("flagged"):
        yield _what("training mode", site, "flagged", None, "the training step calls the model without training=True")


def _loss(program: _Program) -> Iterator[Proposal]:
    for site in program.calls("loss"):
        yield _what("loss", site, "loss", 2.0, "what gradients are taken of is taken twice")


def _reduced(program: _Program) -> Iterator[Proposal]:
    sums = ("tf.reduce_mean", "tf.reduce_sum")
    for site in [one for one in program.sites if one.what == "function" and one.scalar and one.callee in sums][-1:]:
        other = sums[1 - sums.index(site.callee)]
        yield _what("loss", site, "function", other, f"`{site.callee}`: {other}", site.callee)


def _reduction(program: _Program) -> Iterator[Proposal]:
    for site, value in program.last("reduction", str):
        yield _argument("loss", site, "reduction", "sum" if value != "sum" else "sum_over_batch_size")


def _logits(program: _Program) -> Iterator[Proposal]:
    for site in [one for one in program.sites if isinstance(one.arguments.get("from_logits"), bool)][-1:]:
        yield _argument("loss", site, "from_logits", not site.arguments["from_logits"])


def _schedule(program: _Program) -> Iterator[Proposal]:
    for site in [one for one in program.sites if one.what == "schedule"][:1]:
        yield _what("learning rate", site, "schedule", 1, f"`{site.callee}` is one step ahead", site.callee)


def _rate(program: _Program) -> Iterator[Proposal]:
    for argument in ("learning_rate", "initial_learning_rate"):
        for site, value in program.last(argument, float):
            yield _argument("learning rate", site, argument, float(f"{1.01 * value:.6g}"))


def _of_update(argument: str, other: Callable[[float], float]) -> Kind:
    def kind(program: _Program) -> Iterator[Proposal]:
        for site, value in program.last(argument, float, sites=program.optimizers):
            yield _argument("update rule", site, argument, float(f"{other(value):.6g}"))

    return kind


def _momentum(program: _Program) -> Iterator[Proposal]:
    for site, value in program.last("momentum", float, sites=program.optimizers):
        yield _argument("momentum", site, "momentum", round(value - 0.1, 6) if value > 0.1 else 0.9)


def _rate_outside(program: _Program) -> Iterator[Proposal]:
    for site, _ in program.last("momentum", float, sites=program.optimizers):
        if isinstance(site.arguments.get("learning_rate"), dict) and site.is_a("SGD"):
            text = f"`{site.callee}`: the rate is applied to what momentum has accumulated"
            yield _what("momentum", site, "momentum", None, text, site.callee)


def _mean_of_squares(program: _Program) -> Iterator[Proposal]:
    for site in program.optimizers:
        if site.is_a("RMSprop"):
            text = "`RMSprop` begins the mean of squares at 1"
            yield _what("update rule", site, "mean of squares", 1.0, text, site.callee)


def _gradients(program: _Program) -> Iterator[Proposal]:
    for site in program.optimizers:
        yield _what("update rule", site, "gradients", 2.0, f"`{site.callee}` gets the gradients twice", site.callee)


def _clipping(program: _Program) -> Iterator[Proposal]:
    for argument in ("clip_norm", "clipnorm", "clipvalue", "global_clipnorm"):
        for site, _ in program.last(argument, float, int):
            yield _argument("update rule", site, argument, 1e6)


def _named(value: Any) -> Any:
    """The name of an activation; what is no name is none of ours."""
    return value if value is None or isinstance(value, str) else "?"


_KINDS: Mapping[str, Kind] = {
    "a square kernel that is transposed": _transposed,
    "two weights that are exchanged": _swapped,
    "the epsilon of a normalization": _epsilon,
    "an activation": _activation,
    "padding": _padding,
    "the forget bias of an LSTM": _turned("unit_forget_bias"),
    "the reset of a GRU": _turned("reset_after"),
    "the resizing of images": _resize,
    "initial values": _initial_values,
    "the rate of a dropout": _dropout,
    "a regularizer": _regularizer,
    "losses of the model in a loop": _losses,
    "the momentum of moving statistics": _moving,
    "moving statistics": _statistics,
    "the training flag": _flag,
    "the weight of a loss": _loss,
    "a loss that is a mean or a sum": _reduced,
    "the reduction of a loss": _reduction,
    "logits of a loss": _logits,
    "the step of a schedule": _schedule,
    "the learning rate": _rate,
    "the epsilon of an optimizer": _of_update("epsilon", lambda value: 10.0 * value),
    "the second beta of Adam": _of_update("beta_2", lambda value: 0.99 if value != 0.99 else 0.999),
    "momentum": _momentum,
    "momentum under a schedule": _rate_outside,
    "the first mean of squares of RMSprop": _mean_of_squares,
    "the scale of gradients": _gradients,
    "clipping": _clipping,
}
"""The kinds of bugs, by the order of the ladder."""


def caught(plant: Proposal, attempt: Attempt, steps: int) -> Planted | str:
    """What a comparison says of a bug; or, in words, why it says nothing."""
    report = attempt.report
    if report is None:
        return f"it could not be compared: {attempt.why}"
    if attempt.ended:
        return Planted(plant.change, "-", 0, steps, f"raises: {attempt.ended}")
    if not attempt.applied:
        return "the program does not come there"
    found = _first(report)
    if found is None:
        return Planted(plant.change, "", 0, steps)
    step = min((check.step for check in found.failures), default=0)
    note = "vacuous" if found.status is Status.VACUOUS else ""
    return Planted(plant.change, found.number, max(step, 0), steps, note)


def _first(report: Results) -> Rung | None:
    """The first rung that failed, or of a comparison that says nothing the first that is vacuous."""
    failed = [rung for rung in report.rungs if rung.status is Status.FAIL]
    vacuous = [rung for rung in report.rungs if rung.status is Status.VACUOUS and report.status == 3]
    return next(iter(failed or vacuous), None)
