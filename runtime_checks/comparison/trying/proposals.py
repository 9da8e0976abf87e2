"""Changes of the TF2 program that may take a difference away: the known ones, with values that the recordings say."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...worker.recording.format import scenarios
from ...worker.recording.format.reading import Recorded
from ...worker.recording.format.rows import Place
from ...worker.recording.pairs.mapping import plain
from ..causes.evidence import Seen, Twin, fit, near
from ..judging.renaming import renames_for
from ..results import Cause, Change, Results, Status

__all__ = ["Proposal", "Site", "changes_of", "described", "proposals", "sites_of"]

_STEPS = scenarios.STEPS
_EPSILONS = (1e-8, 1e-7, 1e-3, 1e-5, 1e-10)
_NORMS = (1e-3, 1e-5, 1.001e-5, 1e-6, 1e-12, 1e-4)
_MOMENTA = (0.99, 0.9, 0.999, 0.997, 0.9997, 0.95)
_ACTIVATIONS = ("relu", None, "tanh", "sigmoid", "elu", "softmax", "gelu")
_INITIALIZERS = ("glorot_uniform", "glorot_normal", "he_normal", "he_uniform", "lecun_normal", "zeros", "ones")
_CLIPPING = ("clip_norm", "clipnorm", "clipvalue", "global_clipnorm")
_OF_OPTIMIZERS = {"initial_accumulator": "initial_accumulator_value"}
_PADDINGS = {"same": "valid", "valid": "same", "SAME": "VALID", "VALID": "SAME"}
_UNLIKELY = 0.04
_RULES = 4
"""Rules of ``renames`` that are told."""
"""The weight of a class of causes that nothing speaks for."""
_FLOORS = {"training mode": 0.6}
"""A call that lacks the flag speaks for itself, and is one change to try."""
_SHOWS_AS = {"dropout rate": "randomness", "repeated rows": "update rule"}
"""Where what measures a class of causes was not recorded, another class is named for it."""
_ACTS_FROM = {
    "forward": "3",
    "regularization": "3",
    "randomness": "4",
    "dropout rate": "4",
    "training mode": "4",
    "loss": "4",
    "moving statistics": "4",
    "learning rate": "6",
    "momentum": "6",
    "update rule": "6",
    "repeated rows": "6",
}
"""The first rung that what a class of causes changes has an effect on; what is not here has one on all of them."""
_ALWAYS_ACTS = ("given flag",)
"""Mutations that are felt in inference too, whatever their class."""
_BEHIND = 0.1
"""How close a layer is to a first divergence that its own output comes after."""


@dataclass(frozen=True, slots=True)
class Site:
    """A call of the TF2 program's that can be changed."""

    what: str
    callee: str
    bases: tuple[str, ...]
    place: Place
    names: tuple[str, ...]
    arguments: Mapping[str, Any]
    own: bool = False
    scalar: bool = False
    losses: bool = False

    def is_a(self, *names: str) -> bool:
        """Whether it constructs one of these classes, or one derived from them."""
        return self.what == "argument" and any(name in self.bases for name in names)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mutation to try: the class of causes that it belongs to, how likely it is, and what it means in the program."""

    kind: str
    weight: float
    mutation: Mapping[str, Any]
    change: Change

    @property
    def key(self) -> str:
        """Two with one key are one mutation."""
        return repr(sorted(self.mutation.items()))

    @property
    def subject(self) -> str:
        """Two with one subject change the same thing, and exclude each other."""
        return repr([self.mutation[key] for key in ("what", "callee", "argument", "places")])


def sites_of(recorded: Recorded) -> list[Site]:
    """The sites that a recording of the TF2 side tells of; rows that are none are passed over."""
    found = []
    for row in recorded.content.get("sites") or ():
        try:
            file, line = row["place"]
            site = Site(
                what=str(row["what"]),
                callee=str(row["callee"]),
                bases=tuple(map(str, row["bases"])),
                place=(str(file), int(line)),
                names=tuple(map(str, row["names"])),
                arguments=dict(row["arguments"]),
                own=row.get("own") is True,
                scalar=row.get("scalar") is True,
                losses=row.get("losses") is True,
            )
        except (KeyError, TypeError, ValueError):
            continue
        found.append(site)
    return found


def described(value: Any) -> str:
    """A value of an argument as a program writes it."""
    if isinstance(value, Mapping):
        config = value.get("config") or {}
        return f"{value.get('class')}({', '.join(f'{key}={described(one)}' for key, one in config.items())})"
    if isinstance(value, float):
        return repr(float(f"{value:.6g}"))
    return repr(value)


def proposals(report: Results, tf1: Recorded, tf2: Recorded, before: Sequence[Cause] = ()) -> list[Proposal]:
    """What to try, the likeliest first; nothing twice.

    Args:
        report: of an attempt.
        tf1: the recording of the TF1 side.
        tf2: that of the attempt.
        before: the causes of the pair as it is, of which more was recorded.
    """
    search = _Search(Seen(report, tf1, tf2), sites_of(tf2))
    weights = dict(_FLOORS)
    for cause, share in [*((one, 1.0) for one in report.causes), *((one, 0.5) for one in before)]:
        weights[cause.kind] = max(weights.get(cause.kind, 0.0), share * cause.weight)
    for kind, wider in _SHOWS_AS.items():
        weights[kind] = max(weights.get(kind, 0.0), weights.get(wider, 0.0))
    met: dict[str, Proposal] = {}
    with np.errstate(all="ignore"):
        for one in search.all():
            if not search.felt(one):
                continue
            likely = replace(one, weight=one.weight * max(weights.get(one.kind, 0.0), _UNLIKELY))
            if one.key not in met or met[one.key].weight < likely.weight:
                met[one.key] = likely
    return sorted(met.values(), key=lambda one: -one.weight)


def mutation(what: str, places: Iterable[Place] = (), callee: str = "", argument: str = "", value: Any = None) -> Any:
    """A mutation as the worker wants it."""
    listed = sorted({(str(file), int(line)) for file, line in places})
    return {
        "what": what,
        "callee": callee,
        "places": [list(place) for place in listed],
        "argument": argument,
        "value": value,
    }


def changes_of(found: Sequence[Proposal]) -> tuple[Change, ...]:
    """What several mutations mean together."""
    return tuple(one.change for one in found)


class _Search:
    def __init__(self, seen: Seen, sites: Sequence[Site]) -> None:
        self.seen = seen
        self.sites = sites
        self.optimizers = [site for site in sites if "Optimizer" in "".join(site.bases) and site.what == "argument"]
        self.old_optimizers = [one for one in seen.tf1.content.get("optimizers") or () if isinstance(one, Mapping)]
        self.near = self._near()
        self.behind = self._behind()
        first = seen.report.first_divergence
        operation = None if first is None or first.operation is None else first.operation.tf2
        self.line = None if operation is None else operation.place

    def felt(self, one: Proposal) -> bool:
        """Whether a change can have an effect on the first rung that failed."""
        numbers = [rung.number for rung in self.seen.report.rungs]
        failed = next((rung.number for rung in self.seen.report.rungs if rung.status is Status.FAIL), None)
        first = _ACTS_FROM.get(one.kind)
        if failed is None or first is None or one.mutation["what"] in _ALWAYS_ACTS:
            return True
        return first in numbers and numbers.index(first) <= numbers.index(failed)

    def all(self) -> Iterator[Proposal]:
        """Every proposal, in no order."""
        yield from self._names()
        yield from self._exchanged()
        yield from self._forward()
        yield from self._left_out()
        yield from self._flags()
        yield from self._randomness()
        yield from self._loss()
        yield from self._regularization()
        yield from self._rates()
        yield from self._optimizers()
        yield from self._gradients()
        yield from self._statistics()

    def _near(self) -> set[str]:
        """Names of layers at the first divergence and of those of variables that differ there."""
        first = self.seen.report.first_divergence
        if first is None:
            return set()
        found = set(first.deviation.tf2_name.split("/")) | set(first.deviation.tf1_name.split("/"))
        for rung in self.seen.report.rungs:
            if rung.failures:
                for check in rung.failures[:8]:
                    found |= set(check.tf2_name.split("/"))
                break
        return found

    def _behind(self) -> set[str]:
        """Names of layers that are computed after the first divergence of a forward pass, and so are not its cause."""
        first = self.seen.report.first_divergence
        if first is None or first.deviation.scenario == _STEPS:
            return set()
        scenario, name = first.deviation.scenario, first.deviation.tf2_name
        taps = {one.name: one.order for one in self.seen.tf2.scenario(scenario).records if one.kind == "tap"}
        if first.deviation.kind != "tap" or name not in taps:
            return set()
        return {tap.rpartition("/")[2] for tap, order in taps.items() if order > taps[name]}

    def _closeness(self, site: Site) -> float:
        if site.place == self.line:
            return 1.1
        if not site.names or not self.near:
            return 0.8
        if self.near & set(site.names):
            return 1.0
        return _BEHIND if set(site.names) <= self.behind else 0.6

    # Building proposals

    def _argument(
        self, kind: str, weight: float, sites: Sequence[Site], argument: str, value: Any
    ) -> Iterator[Proposal]:
        """Another value of an argument at all of these sites that have not got it; one after the other too."""
        sites = [site for site in sites if not _same(site.arguments.get(argument), value)]
        groups: dict[tuple[str, str], list[Site]] = {}
        for site in sites:
            groups.setdefault((site.callee, described(site.arguments.get(argument))), []).append(site)
        for (callee, before), group in groups.items():
            text = f"`{callee}({argument}={before})`: give {argument}={described(value)}"
            closest = max(map(self._closeness, group))
            wanted = mutation("argument", [site.place for site in group], callee, argument, value)
            yield Proposal(kind, weight * closest, wanted, Change(kind, text, group[0].place, len(group)))
            for site in group if 1 < len(group) <= 12 else ():
                single = mutation("argument", [site.place], callee, argument, value)
                factor = 0.9 * self._closeness(site)
                yield Proposal(kind, weight * factor, single, Change(kind, text, site.place))

    def _at(self, kind: str, weight: float, site: Site, what: str, value: Any, text: str) -> Proposal:
        callee = site.callee if what not in ("flag", "given flag", "losses", "loss", "added losses") else ""
        if kind == "forward":
            weight *= self._closeness(site)
        return Proposal(
            kind, weight, mutation(what, [site.place], callee, "", value), Change(kind, text, site.place)
        )

    def _of(self, what: str) -> list[Site]:
        return [site for site in self.sites if site.what == what]

    def _with(self, argument: str, *bases: str) -> list[Site]:
        return [
            site
            for site in self.sites
            if argument in site.arguments and (not bases or site.is_a(*bases) or site.callee in bases)
        ]

    def _known(self, site: Site, argument: str) -> Any:
        """What the TF1 side's layer of that name has as an argument; None where it does not say."""
        for row in self.seen.tf1.content.get("layers") or ():
            last = str(row.get("name", "")).rstrip("/").rpartition("/")[2]
            config = row.get("config")
            if isinstance(config, Mapping) and argument in config:
                if last in site.names or _only(self.seen.tf1, argument, self._with(argument)):
                    return config[argument]
        return None

    # What differs before training

    def _names(self) -> Iterator[Proposal]:
        rows = [row for row in self.seen.report.variables if row.how == "suggestion" and row.tf1 and row.tf2]
        if rows:
            value = {str(row.tf1["name"]): str(row.tf2["name"]) for row in rows if row.tf1 and row.tf2}
            rules = self._rules() or value
            few = dict(itertools.islice(rules.items(), _RULES))
            rest = f" and {len(rules) - len(few)} more rules, which rung 2 says" if len(rules) > len(few) else ""
            text = f"the names of {len(rows)} variables: give the pair renames={few!r}{rest}"
            change = Change("names", text, _place(rows[0].tf2))
            yield Proposal("names", 1.0, mutation("pair", argument="renames", value=value), change)

    def _rules(self) -> dict[str, str]:
        """As few renames as say the same; empty where none can."""
        pairs = [(row.tf1, row.tf2) for row in self.seen.report.variables if row.tf1 and row.tf2]
        wanted = {plain(str(one["name"])): plain(str(two["name"])) for one, two in pairs}
        return renames_for([one for one, _ in pairs], [two for _, two in pairs], wanted)

    def _exchanged(self) -> Iterator[Proposal]:
        rows = {str(row.tf2["name"]): row.tf2 for row in self.seen.report.variables if row.tf2 is not None}
        twins = self.seen.twins
        for twin in twins:
            if len(twin.shape) > 1 and twin.shape[-1] == twin.shape[-2] > 1:
                axes = [*range(len(twin.shape) - 2), len(twin.shape) - 1, len(twin.shape) - 2]
                order = [int(axis) for axis in (axes if twin.axes is None else np.array(twin.axes)[axes])]
                text = f"`{twin.new}` is used transposed: turn it, or say transposes={{{twin.old!r}: {tuple(order)}}}"
                change = Change("variables", text, _place(rows.get(twin.new)))
                wanted = mutation("pair", argument="transposes", value={twin.old: order})
                yield Proposal("variables", 0.9 * self._apart(twin), wanted, change)
        by_shape: dict[tuple[int, ...], list[Twin]] = {}
        for twin in twins:
            if len(twin.shape) > 1:
                by_shape.setdefault(twin.shape, []).append(twin)
        for group in by_shape.values():
            for one, other in list(itertools.combinations(group, 2))[:6]:
                text = f"`{one.new}` and `{other.new}` take each other's place: exchange them"
                value = {**_swap(one, other), **self._beside(one, other)}
                wanted = mutation("pair", argument="renames", value=value)
                change = Change("variables", text, _place(rows.get(one.new)))
                weight = 0.85 * max(self._apart(one), self._apart(other))
                yield Proposal("variables", weight, wanted, change)

    def _apart(self, twin: Twin) -> float:
        return 1.0 if self.near & set(twin.new.split("/")[:-1]) else 0.7

    def _beside(self, one: Twin, other: Twin) -> dict[str, str]:
        """The variables beside two kernels, such as their biases, which change places with them."""
        found: dict[str, str] = {}
        twins = {twin.old: twin for twin in self.seen.twins}
        for twin in self.seen.twins:
            before, _, last = twin.old.rpartition("/")
            partner = twins.get(f"{other.old.rpartition('/')[0]}/{last}")
            if before and before == one.old.rpartition("/")[0] and partner is not None and twin.shape == partner.shape:
                found.update(_swap(twin, partner))
        return found

    def _forward(self) -> Iterator[Proposal]:
        for argument, values in (("epsilon", _NORMS), ("variance_epsilon", _NORMS)):
            sites = [site for site in self._with(argument) if site not in self.optimizers]
            for site in sites:
                known = self._known(site, argument)
                if known is not None:
                    same = [one for one in sites if _same(self._known(one, argument), known)]
                    yield from self._argument("forward", 1.0, same, argument, known)
            for rank, value in enumerate(values):
                yield from self._argument("forward", 0.8 - 0.05 * rank, sites, argument, value)
        for rank, name in enumerate(_ACTIVATIONS):
            sites = _unlike(self._with("activation"), "activation", name)
            yield from self._argument("forward", 0.85 - 0.04 * rank, sites, "activation", name)
        for site in self._with("padding"):
            other = _PADDINGS.get(str(site.arguments["padding"]))
            if other:
                yield from self._argument("forward", 0.82, [site], "padding", other)
        for argument in ("alpha", "negative_slope"):
            for value in (0.3, 0.2, 0.01):
                yield from self._argument("forward", 0.6, self._with(argument), argument, value)
        for argument, kind in (("unit_forget_bias", "randomness"), ("reset_after", "variables")):
            for site in self._with(argument):
                yield from self._argument(kind, 0.95, [site], argument, not site.arguments[argument])
        for name in ("sigmoid", "hard_sigmoid"):
            yield from self._argument("forward", 0.87, self._with("recurrent_activation"), "recurrent_activation", name)
        for site in self._of("function"):
            short = site.callee.rpartition(".")[2]
            if short in ("relu", "elu", "tanh", "sigmoid", "gelu", "leaky_relu", "relu6", "selu", "softplus", "swish"):
                for instead in ("tf.nn.relu", "tf.identity", "tf.nn.tanh", "tf.nn.elu", "tf.nn.sigmoid"):
                    if instead.rpartition(".")[2] != short:
                        yield self._at("forward", 0.5, site, "function", instead, f"`{site.callee}`: use {instead}")
            if site.callee == "tf.image.resize":
                for align in (False, True):
                    text = f"`tf.image.resize`: use tf.compat.v1.image.resize_images(align_corners={align})"
                    yield self._at("forward", 0.9, site, "resize", align, text)
        for site in self._with("use_bias"):
            lacks = not site.arguments["use_bias"]
            weight = 0.9 if lacks and self.seen.unmatched else 0.5 if self.seen.unmatched else 0.05
            yield from self._argument("variables", weight, [site], "use_bias", lacks)

    def _left_out(self) -> Iterator[Proposal]:
        """A layer of the user's own that the other side does not have."""
        lonely = {
            part
            for row in self.seen.report.variables
            if row.tf1 is None and row.tf2 is not None
            for part in str(row.tf2["name"]).split("/")[:-1]
        }
        for site in self._of("left out"):
            if site.own and not site.is_a("Model"):
                kind = "variables" if lonely & set(site.names) else "randomness"
                weight = 0.95 if kind == "variables" else 0.5
                text = f"`{site.callee}`: leave this layer out, TF1 has none like it"
                yield self._at(kind, weight, site, "left out", None, text)

    def _flags(self) -> Iterator[Proposal]:
        for site in self._of("given flag"):
            text = "this layer is called with another `training` than the model: pass the model's on"
            yield self._at("training mode", 1.0, site, "given flag", None, text)
        for site in self._of("flag"):
            text = f"the call of `{site.callee}` has no `training`: give training=True"
            yield self._at("training mode", 0.95, site, "flag", None, text)

    def _randomness(self) -> Iterator[Proposal]:
        for site in self._with("rate"):
            rate = site.arguments["rate"]
            known = self._known(site, "rate")
            if isinstance(known, int | float):
                yield from self._argument("dropout rate", 0.95, [site], "rate", known)
            if isinstance(rate, int | float) and 0 < rate < 1:
                yield from self._argument("dropout rate", 0.9, [site], "rate", round(1.0 - rate, 6))
        for site in self._with("keep_prob"):
            kept = site.arguments["keep_prob"]
            if isinstance(kept, float) and 0 < kept < 1:
                yield from self._argument("dropout rate", 0.9, [site], "keep_prob", round(1.0 - kept, 6))
        kinds = {"GlorotUniform": "glorot_uniform", "GlorotNormal": "glorot_normal"}
        for argument in ("kernel_initializer", "bias_initializer", "embeddings_initializer"):
            for rank, name in enumerate(_INITIALIZERS):
                sites = [site for site in self._with(argument) if _initializer(site.arguments[argument], kinds) != name]
                weight = 0.85 - 0.06 * rank - (0.3 if argument == "bias_initializer" else 0.0)
                yield from self._argument("randomness", weight, sites, argument, name)

    # The loss

    def _ratio(self, kind: str, name: str = "") -> tuple[float, float] | None:
        """A scalar of the first step on both sides."""
        for check in self.seen.all(_STEPS, kind, step=0):
            if name in ("", check.tf1_name):
                one = self.seen.scalar("tf1", _STEPS, kind, check.tf1_name, 0)
                two = self.seen.scalar("tf2", _STEPS, kind, check.tf2_name, 0)
                if one is not None and two is not None and np.isfinite([one, two]).all():
                    return one, two
        return None

    def _loss(self) -> Iterator[Proposal]:
        for site in self._of("function"):
            if site.scalar and site.callee in ("tf.reduce_sum", "tf.reduce_mean"):
                other = "tf.reduce_mean" if site.callee == "tf.reduce_sum" else "tf.reduce_sum"
                yield self._at("loss", 0.95, site, "function", other, f"`{site.callee}`: use {other}")
        for how in ("sum_over_batch_size", "sum"):
            sites = [site for site in self._with("reduction") if site.arguments["reduction"] != "auto" or how == "sum"]
            yield from self._argument("loss", 0.9, sites, "reduction", how)
        for site in self._with("from_logits"):
            yield from self._argument("loss", 0.9, [site], "from_logits", not site.arguments["from_logits"])
        for share in (0.0, 0.1):
            yield from self._argument("loss", 0.3, self._with("label_smoothing"), "label_smoothing", share)
        losses, regular = self._ratio("loss"), self._ratio("regularization", "total")
        if losses is not None:
            one, two = losses
            for part in (0.0, regular[1] if regular else 0.0):
                factor = (one - part) / (two - part) if two != part else 0.0
                if factor > 0 and not near(factor, 1.0, 1e-4):
                    for site in self._of("loss"):
                        value = float(f"{factor:.6g}")
                        text = f"what gradients are taken of: take it {value:g} times"
                        yield self._at("loss", 0.7, site, "loss", value, text)

    def _regularization(self) -> Iterator[Proposal]:
        yield from self._share()
        totals = self._totals()
        factor = totals[0] / totals[1] if totals and totals[1] else 0.0
        factors = [*([factor] if factor > 0 and not near(factor, 1.0, 1e-3) else []), 0.5, 2.0]
        for site in self.sites:
            if not site.is_a("Regularizer"):
                continue
            for argument in ("l1", "l2"):
                value = site.arguments.get(argument)
                for share in factors if isinstance(value, int | float) and value else ():
                    scaled = times(value, share)
                    yield from self._argument("regularization", 0.7, [site], argument, scaled)
        for site in self._with("scale", "slim.l1_regularizer", "slim.l2_regularizer"):
            for share in factors:
                yield from self._argument("regularization", 0.7, [site], "scale", times(site.arguments["scale"], share))
        given = {
            described(value): value
            for site in self.sites
            for argument, value in site.arguments.items()
            if argument.endswith("_regularizer") and isinstance(value, Mapping) and value.get("config")
        }
        for argument in ("kernel_regularizer", "embeddings_regularizer"):
            sites = self._with(argument)
            for value in given.values():
                short = {**value, "config": {key: _short(one) for key, one in value["config"].items()}}
                lacking = [site for site in sites if site.arguments[argument] is None]
                yield from self._argument("regularization", 0.9, lacking, argument, short)
                for site in sites:
                    if isinstance(site.arguments[argument], Mapping) and factor and not near(factor, 1.0, 1e-3):
                        config = {key: times(one, factor) for key, one in short["config"].items()}
                        yield from self._argument("regularization", 0.6, [site], argument, {**short, "config": config})
            present = [site for site in sites if site.arguments[argument] is not None]
            yield from self._argument("regularization", 0.5, present, argument, None)
        if not given and totals and totals[0] and not totals[1]:
            yield from self._absent(totals[0])

    def _absent(self, total: float) -> Iterator[Proposal]:
        """TF2 has no regularization at all: with every variable at 0.001, TF1's sum tells the factor of L2."""
        sites = self._with("kernel_regularizer")
        size = sum(int(np.prod(twin.shape)) for twin in self.seen.twins if len(twin.shape) > 1)
        constant = self.seen.scalar("tf1", scenarios.CONSTANT, "regularization", "total")
        if size and constant:
            value = {"class": "L2", "config": {"l2": float(f"{constant / (1e-6 * size):.3g}")}}
            yield from self._argument("regularization", 0.8, sites, "kernel_regularizer", value)

    def _totals(self) -> tuple[float, float] | None:
        for scenario in (scenarios.FINGERPRINT, scenarios.CONSTANT, _STEPS):
            one, two = (self.seen.scalar(side, scenario, "regularization", "total") for side in ("tf1", "tf2"))
            if one is not None and two is not None and (one or two):
                return one, two
        return None

    def _share(self) -> Iterator[Proposal]:
        """What the loss has more or less, in units of the losses of the model."""
        losses = self._ratio("loss")
        total = self.seen.scalar("tf2", _STEPS, "regularization", "total", 0)
        shares: list[float] = []
        if losses is not None and total:
            share = float(f"{(losses[0] - losses[1]) / total:.4g}")
            shares = [round(share, 2) if near(share, round(share, 2), 1e-2) else share] if abs(share) < 100 else []
        for site in self._of("losses"):
            for factor in dict.fromkeys([*(1.0 + share for share in shares if share), 0.5, 2.0]):
                text = f"the losses of the model: take them {factor:g} times"
                yield self._at("regularization", 0.95, site, "losses", factor, text)
        for site in self._of("loss"):
            if site.losses and not self._of("losses"):
                for share in shares or [1.0]:
                    times = "" if share == 1.0 else f", {share:g} times"
                    text = f"the loss lacks the losses of the model: add tf.add_n(model.losses){times}"
                    yield self._at("regularization", 0.95, site, "added losses", share, text)

    # The update

    def _rates(self) -> Iterator[Proposal]:
        for site in self._of("schedule"):
            prior = 0.95 if site.own or site.callee not in ("ExponentialDecay", "PolynomialDecay") else 0.9
            for shift in (-1, 1):
                words = "one step earlier" if shift < 0 else "one step later"
                text = f"`{site.callee}`: give it the step {'-' if shift < 0 else '+'} 1, it is to be {words}"
                yield self._at("learning rate", prior, site, "schedule", shift, text)
        rates = self._ratio("learning_rate")
        if rates is not None and rates[0] and rates[1] and not near(*rates):
            for argument in ("learning_rate", "initial_learning_rate"):
                for site in self._with(argument):
                    value = site.arguments[argument]
                    if isinstance(value, int | float):
                        wanted = float(f"{value * rates[0] / rates[1]:.6g}")
                        yield from self._argument("learning rate", 0.9, [site], argument, wanted)
        for site in self._with("staircase"):
            yield from self._argument("learning rate", 0.6, [site], "staircase", not site.arguments["staircase"])

    def _optimizers(self) -> Iterator[Proposal]:
        for at, site in enumerate(self.optimizers):
            old = self.old_optimizers[min(at, len(self.old_optimizers) - 1)] if self.old_optimizers else {}
            for key, value in old.items():
                argument = _OF_OPTIMIZERS.get(str(key)) or str(key)
                if argument in site.arguments and isinstance(value, bool | int | float):
                    kind = "momentum" if key in ("momentum", "nesterov") else "update rule"
                    kind = "learning rate" if key == "learning_rate" else kind
                    if isinstance(site.arguments[argument], bool | int | float | None):
                        yield from self._argument(kind, 1.0, [site], argument, value)
            if "epsilon" in site.arguments and "epsilon" not in old:
                for rank, value in enumerate(_EPSILONS):
                    yield from self._argument("update rule", 0.7 - 0.05 * rank, [site], "epsilon", value)
            if site.is_a("RMSprop") or site.callee == "RMSprop":
                text = "`RMSprop`: begin the mean of squares at 1, as TF1's does"
                yield self._at("update rule", 0.8, site, "mean of squares", 1.0, text)
            if site.is_a("SGD") and site.arguments.get("momentum"):
                text = "`SGD`: apply the rate to what momentum has accumulated, as tf.compat.v1.train.MomentumOptimizer"
                yield self._at("momentum", 0.95, site, "momentum", None, text)
            if site.arguments.get("weight_decay"):
                yield from self._argument("update rule", 0.6, [site], "weight_decay", None)

    def _gradients(self) -> Iterator[Proposal]:
        pairs = [
            pair
            for twin in self.seen.twins
            if twin.trainable and (pair := self.seen.both(twin, _STEPS, "gradient", 0)) is not None
        ]
        clipping = [(site, name) for site in self.sites for name in _CLIPPING if site.arguments.get(name)]
        if pairs and self.seen.failed(_STEPS, "gradient", "update"):
            norms = [float(np.sqrt(sum(float(np.sum(pair[side] ** 2)) for pair in pairs))) for side in (0, 1)]
            largest = max(float(np.max(np.abs(pair[0]), initial=0.0)) for pair in pairs)
            fits = [fit(new, old) for old, new in pairs if np.any(old) and np.any(new)]
            for site in self.optimizers:
                if np.isfinite(norms).all() and norms[0] < norms[1]:
                    for name, limit, weight in (("global_clipnorm", norms[0], 0.8), ("clipvalue", largest, 0.6)):
                        if name in site.arguments and not site.arguments[name]:
                            yield from self._argument("update rule", weight, [site], name, float(f"{limit:.5g}"))
                if fits and all(left < 1e-3 for _, left in fits):
                    factor = float(f"{np.mean([factor for factor, _ in fits]):.5g}")
                    if not near(factor, 1.0, 1e-3):
                        text = f"`{site.callee}`: give it the gradients {factor:g} times"
                        yield self._at("update rule", 0.6, site, "gradients", factor, text)
            for clipper, clip in clipping:
                limit = norms[0] if "norm" in clip else largest
                yield from self._argument("update rule", 0.95, [clipper], clip, float(f"{limit:.5g}"))
                if clipper in self.optimizers:
                    yield from self._argument("update rule", 0.5, [clipper], clip, None)
        rows = any(record.more.get("rows") for record in self.seen.tf1.scenario(_STEPS).of_kind("gradient", 0))
        for site in self.optimizers:
            text = f"`{site.callee}`: sum up the rows of a gradient that a batch uses more than once"
            yield self._at("repeated rows", 0.95 if rows else 0.1, site, "dense", True, text)

    def _statistics(self) -> Iterator[Proposal]:
        for rank, value in enumerate(_MOMENTA):
            slim = self._with("decay", "slim.batch_norm")
            yield from self._argument("moving statistics", 0.9 - 0.05 * rank, slim, "decay", value)
        sites = [site for site in self.sites if site.is_a("BatchNormalization", "BatchNormalizationBase")]
        if not sites:
            return
        changes = [
            (twin, change)
            for twin in self.seen.twins
            if not twin.trainable and (change := self.seen.change(twin, _STEPS, 0)) is not None
        ]
        moved = [any(np.any(change[side]) for _, change in changes) for side in (0, 1)]
        kept = bool(changes) and moved[1] and not moved[0]
        frozen = bool(changes) and moved[0] and not moved[1]
        momenta = list(_MOMENTA)
        for _, change in changes:
            factor, left = fit(*change)
            momentum = sites[0].arguments.get("momentum")
            if left < 1e-3 and factor > 0 and isinstance(momentum, int | float):
                found = round(1.0 - (1.0 - momentum) / factor, 5)
                if 0.0 < found < 1.0:
                    momenta.insert(0, found)
                    break
        for site in sites:
            known = self._known(site, "momentum")
            if isinstance(known, int | float):
                yield from self._argument("moving statistics", 1.0, [site], "momentum", known)
        if not kept and not frozen:
            for rank, value in enumerate(dict.fromkeys(momenta)):
                yield from self._argument("moving statistics", 0.95 - 0.05 * rank, sites, "momentum", value)
        priors = {"kept": 1.0 if kept else 0.1, "biased": 0.98 if frozen else 0.5, "unbiased": 0.97 if frozen else 0.9}
        words = {
            "kept": "leave the moving statistics as they are, as TF1 without its UPDATE_OPS",
            "biased": "move the statistics in training, by the variance divided by n",
            "unbiased": "move the statistics in training by the variance divided by n - 1, as TF1's fused one",
        }
        for how, prior in priors.items():
            yield from self._group("moving statistics", prior, sites, "statistics", how, words[how])
        for site in sites:
            if isinstance(site.arguments.get("fused"), bool):
                yield from self._argument("moving statistics", 0.6, [site], "fused", not site.arguments["fused"])

    def _group(
        self, kind: str, weight: float, sites: Sequence[Site], what: str, value: Any, words: str
    ) -> Iterator[Proposal]:
        text = f"`{sites[0].callee}`: {words}"
        wanted = mutation(what, [site.place for site in sites], "", "", value)
        yield Proposal(kind, weight, wanted, Change(kind, text, sites[0].place, len(sites)))


def _same(one: Any, other: Any) -> bool:
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if numbers and not isinstance(one, bool) and not isinstance(other, bool):
        return near(float(one), float(other), 1e-5)
    return bool(one == other)


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def times(value: Any, factor: float) -> Any:
    """A number so many times, with six digits; anything else as it is."""
    return float(f"{value * factor:.6g}") if isinstance(value, float) else value


def _unlike(sites: Sequence[Site], argument: str, value: Any) -> list[Site]:
    plain = {None: (None, "linear"), "linear": (None, "linear")}.get(value, (value,))
    return [site for site in sites if site.arguments[argument] not in plain]


def _initializer(value: Any, kinds: Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        return kinds.get(str(value.get("class")), str(value.get("class")))
    return str(value)


def _only(tf1: Recorded, argument: str, sites: Sequence[Site]) -> bool:
    """Whether each side has one layer with that setting."""
    rows = [row for row in tf1.content.get("layers") or () if argument in (row.get("config") or {})]
    return len(rows) == 1 and len(sites) == 1


def _swap(one: Twin, other: Twin) -> dict[str, str]:
    return {one.old: other.new, other.old: one.new}


def _place(row: Mapping[str, Any] | None) -> Place | None:
    found = None if row is None else row.get("place")
    return None if not found else (str(found[0]), int(found[1]))

