"""Bugs to plant into a TF2 side that is equal: the known differences, with values that are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...worker.recording.format.reading import Recorded
from ..results import Change, Planted, Results, Rung, Status
from .proposals import Proposal, Site, described, mutation, sites_of
from .search import Attempt

__all__ = ["caught", "plants"]

_CLIPPING = ("clip_norm", "clipnorm", "clipvalue", "global_clipnorm")
_OTHER = {"relu": "elu", None: "relu", "linear": "relu", "elu": "relu", "tanh": "sigmoid", "sigmoid": "tanh"}


def plants(report: Results, tf2: Recorded) -> list[Proposal]:
    """One bug of each kind that there is a place for, by the order of the ladder."""
    sites = sites_of(tf2)
    shapes = [tuple(row.tf2.get("shape") or ()) for row in report.variables if row.tf2 and row.tf2.get("trainable")]
    wide = [shape for shape in shapes if len(shape) > 1]
    found: list[Proposal] = []
    if any(shape[-1] == shape[-2] > 1 for shape in wide):
        found.append(_plain("variables", "transposed", "the first square kernel is used transposed"))
    if len(set(wide)) < len(wide):
        found.append(_plain("variables", "swapped", "the first two weights of one shape take each other's place"))
    for one in (*_of_layers(sites), *_of_calls(sites), *_of_optimizers(sites)):
        found.append(one)
    return found


def _plain(kind: str, what: str, text: str) -> Proposal:
    return Proposal(kind, 1.0, mutation(what), Change(kind, text, None))


def _argument(kind: str, site: Site, argument: str, value: Any) -> Proposal:
    before = described(site.arguments.get(argument))
    text = f"`{site.callee}({argument}={before})`: {argument}={described(value)}"
    wanted = mutation("argument", [site.place], site.callee, argument, value)
    return Proposal(kind, 1.0, wanted, Change(kind, text, site.place))


def _what(kind: str, site: Site, what: str, value: Any, text: str, callee: str = "") -> Proposal:
    return Proposal(kind, 1.0, mutation(what, [site.place], callee, "", value), Change(kind, text, site.place))


def _last(sites: Sequence[Site], argument: str, bases: Sequence[str] = ()) -> Iterator[Site]:
    """The last site that has an argument with a value."""
    fitting = [one for one in sites if one.arguments.get(argument) not in (None, False, 0)]
    fitting = [one for one in fitting if not bases or one.is_a(*bases) or one.callee in bases]
    yield from fitting[-1:]


def _of_layers(sites: Sequence[Site]) -> Iterator[Proposal]:
    norms = ("BatchNormalization", "BatchNormalizationBase")
    layers = [site for site in sites if site.is_a("Layer")]
    for site in _last(layers, "epsilon"):
        value = float(site.arguments["epsilon"])
        yield _argument("forward", site, "epsilon", 1e-5 if value > 1e-4 else 1e-3)
    active = [site for site in layers if site.arguments.get("activation", "?") in _OTHER]
    for site in active[:1]:
        yield _argument("forward", site, "activation", _OTHER[site.arguments["activation"]])
    for site in _last(layers, "padding"):
        yield _argument("forward", site, "padding", "valid" if site.arguments["padding"] == "same" else "same")
    for argument in ("unit_forget_bias", "reset_after"):
        for site in [one for one in layers if isinstance(one.arguments.get(argument), bool)][-1:]:
            yield _argument("forward", site, argument, not site.arguments[argument])
    for site in _last(layers, "kernel_initializer"):
        same = site.arguments["kernel_initializer"] in ("he_normal", {"class": "HeNormal"})
        yield _argument("randomness", site, "kernel_initializer", "glorot_uniform" if same else "he_normal")
    for site in _last(sites, "rate", ("Dropout", "tf.nn.dropout")):
        rate = float(site.arguments["rate"])
        yield _argument("randomness", site, "rate", round(1.0 - rate, 6) if rate != 0.5 else 0.4)
    for site in _last(layers, "kernel_regularizer"):
        yield _argument("regularization", site, "kernel_regularizer", None)
        config = {key: 2.0 * one for key, one in site.arguments["kernel_regularizer"].get("config", {}).items()}
        twice = {"class": site.arguments["kernel_regularizer"].get("class"), "config": config}
        if config:
            yield _argument("regularization", site, "kernel_regularizer", twice)
    for site in _last(layers, "momentum", norms):
        momentum = float(site.arguments["momentum"])
        yield _argument("moving statistics", site, "momentum", 0.9 if momentum > 0.95 else 0.99)
    for site in [one for one in layers if one.is_a(*norms)][-1:]:
        for how, words in (("kept", "does not move its statistics"), ("unbiased", "moves by the variance of n - 1")):
            yield _what("moving statistics", site, "statistics", how, f"`{site.callee}` {words}", site.callee)


def _of_calls(sites: Sequence[Site]) -> Iterator[Proposal]:
    for what, value, kind, text in (
        ("flagged", None, "training mode", "the training step calls the model without training=True"),
        ("losses", 0.0, "regularization", "the losses of the model are left out"),
        ("losses", 2.0, "regularization", "the losses of the model are taken twice"),
        ("loss", 2.0, "loss", "what gradients are taken of is taken twice"),
    ):
        for site in [one for one in sites if one.what == what][-1:]:
            yield _what(kind, site, what, value, text)
    for site in [one for one in sites if one.what == "function" and one.scalar][-1:]:
        if site.callee in ("tf.reduce_mean", "tf.reduce_sum"):
            other = "tf.reduce_sum" if site.callee == "tf.reduce_mean" else "tf.reduce_mean"
            yield _what("loss", site, "function", other, f"`{site.callee}`: {other}", site.callee)
    for site in [one for one in sites if isinstance(one.arguments.get("reduction"), str)][-1:]:
        how = "sum" if site.arguments["reduction"] != "sum" else "sum_over_batch_size"
        yield _argument("loss", site, "reduction", how)
    for site in [one for one in sites if isinstance(one.arguments.get("from_logits"), bool)][-1:]:
        yield _argument("loss", site, "from_logits", not site.arguments["from_logits"])
    for site in [one for one in sites if one.callee == "tf.image.resize"][-1:]:
        yield _what("forward", site, "resize", True, "`tf.image.resize`: corners aligned, as TF1 can", site.callee)


def _of_optimizers(sites: Sequence[Site]) -> Iterator[Proposal]:
    for site in [one for one in sites if one.what == "schedule"][:1]:
        yield _what("learning rate", site, "schedule", 1, f"`{site.callee}` is one step ahead", site.callee)
    optimizers = [site for site in sites if site.what == "argument" and "Optimizer" in "".join(site.bases)]
    for site in optimizers[:1]:
        rate, momentum = site.arguments.get("learning_rate"), site.arguments.get("momentum")
        if isinstance(rate, float):
            yield _argument("learning rate", site, "learning_rate", float(f"{1.01 * rate:.6g}"))
        if isinstance(site.arguments.get("epsilon"), float):
            yield _argument("update rule", site, "epsilon", float(f"{10.0 * site.arguments['epsilon']:.6g}"))
        if isinstance(site.arguments.get("beta_2"), float):
            yield _argument("update rule", site, "beta_2", 0.99 if site.arguments["beta_2"] != 0.99 else 0.999)
        if isinstance(momentum, float) and momentum:
            yield _argument("momentum", site, "momentum", round(momentum - 0.1, 6) if momentum > 0.1 else 0.9)
            if isinstance(rate, dict):
                text = f"`{site.callee}`: the rate is applied to what momentum has accumulated"
                yield _what("momentum", site, "momentum", None, text, site.callee)
        if site.is_a("RMSprop"):
            text = "`RMSprop` begins the mean of squares at 1"
            yield _what("update rule", site, "mean of squares", 1.0, text, site.callee)
        yield _what("update rule", site, "gradients", 2.0, f"`{site.callee}` gets the gradients twice", site.callee)
    for argument in _CLIPPING:
        for site in _last(sites, argument):
            yield _argument("update rule", site, argument, 1e6)


def caught(plant: Proposal, attempt: Attempt, steps: int) -> Planted | None:
    """What a comparison says of a bug; None where the program never came to it."""
    report = attempt.report
    if report is None:
        return Planted(plant.change, "", 0, steps, f"it could not be compared: {attempt.why}")
    if not attempt.applied:
        return None
    if report.status == 4:
        cause = next((side.cause for side in report.sides if side.cause), "")
        return Planted(plant.change, "-", 0, steps, f"a side ended early: {cause}")
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
