"""The settings of both sides, held against each other also where nothing that was run depends on them.

The rung ``settings`` and the evidence for causes share what is said here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

from ..worker.recording.format import scenarios
from ..worker.recording.format.reading import Recorded
from ..worker.recording.format.rows import Place
from ..worker.recording.pairs.mapping import ignored, plain
from .wording import some

__all__ = ["CLASS", "MADE", "Setting", "differ", "place_in", "rule_name", "settings", "shown"]

CLASS = "class of the optimizer"
MADE = ("made", "rate_made")
"""Of an optimizer: the lines that make it, and what gives its rate."""

Row = Mapping[str, Any]


class Setting(NamedTuple):
    """One setting of both sides.

    `equal` is None where it cannot be known, of which `text` says why; where it is false `text` says what differs.
    """

    kind: str
    """The class of causes that it belongs to: see `Cause`."""
    what: str
    equal: bool | None
    text: str = ""
    places: tuple[Place | None, Place | None] = (None, None)
    """The lines of TF1 and of TF2 that make what has the setting."""
    slight: bool = False
    """Whether it is taken for equal and is not quite, as `text` says."""


_CLIPPING = ("clipvalue", "clipnorm", "global_clipnorm", "clipping")
_UNKNOWN = "in a way of its own"
_NEUTRAL: Mapping[str, Any] = {
    "momentum": 0.0,
    "nesterov": False,
    "centered": False,
    "amsgrad": False,
    "weight_decay": 0.0,
    "l1": 0.0,
    "l2": 0.0,
    "gradient_accumulation_steps": 1,
    "ema_overwrite_frequency": 0,
}
"""Hyperparameters that say nothing unless they are given: what lacks them has these."""
_DESCRIBING = (
    "class", "name", "rule", "weights", "rows", "learning_rate", "use_ema", "ema_momentum", "anew", *_CLIPPING, *MADE
)
_OF_AVERAGES = ("ema_overwrite_frequency",)
"""What says nothing where the optimizer averages no weights: Keras 2 gives it to RMSprop all the same."""
_RULES = {"gradientdescent": "sgd", "momentum": "sgd", "adamw": "adam"}
"""Rules of TF1 that have another name in Keras, and those that differ in a hyperparameter alone, in small letters."""
_MOST = 4
"""Optimizers that are tried in every order."""
_PROBED = 5e-3
"""How far the bound of a clipping may be off, which is read off what becomes of large gradients in float32."""
_ROUNDED = {"epsilon": 2e-3, "momentum": 1e-3, "rate": 1e-5}
"""How far a setting of layers may be off: the least epsilon of TF1's fused operation is 1.001e-5, what is left of a
momentum to 1 was rounded in float32."""


def settings(
    tf1: Recorded, tf2: Recorded, to_tf2: Mapping[str, str], ignore: Sequence[str] = ()
) -> Iterator[Setting]:
    """What both sides set, or one of them: optimizers, clipping, averages of weights, dropout, normalization.

    Args:
        tf1: the TF1 side.
        tf2: the TF2 side.
        to_tf2: the names of the weights of TF2 by those of TF1, without ``:0``.
        ignore: as in `Pair`.
    """
    yield from _of_optimizers(tf1, tf2)
    yield from _of_averages(tf1, tf2, to_tf2, ignore)
    yield from _of_constraints(tf1, tf2, to_tf2, ignore)
    yield from _of_layers(tf1, tf2)


def rule_name(row: Row) -> str:
    """Which rule an optimizer has, whatever its class is called; empty where it is none of a library."""
    known = str(row.get("rule") if "rule" in row else row.get("class", "")).removesuffix("Optimizer").lower()
    return "" if known == "none" else _RULES.get(known, known)


def _of_optimizers(tf1: Recorded, tf2: Recorded) -> Iterator[Setting]:
    olds, news = (_optimizers(side) for side in (tf1, tf2))
    if len(olds) != len(news):
        olds, news = _each_once(olds), _each_once(news)
    if not olds and not news:
        return
    if len(olds) != len(news):
        text = f"settings of the optimizers ({len(olds)} seen on TF1, {len(news)} on TF2)"
        yield Setting("update rule", "optimizers", None, text)
        return
    changing = any(len({*row.get("values", ())}) > 1 for side in (tf1, tf2) for row in _rows(side, "rates"))
    orders = permutations(news) if len(news) <= _MOST else iter([tuple(news)])
    tried = [
        [
            setting if setting.what == "clipping" else setting._replace(places=places)
            for one, two in zip(olds, order, strict=True)
            for places in [(place_in(one, "made"), place_in(two, "made"))]
            for setting in _of_optimizer(one, two, changing)
        ]
        for order in orders
    ]
    yield from min(tried, key=lambda found: sum(one.equal is False for one in found))


def _optimizers(side: Recorded) -> list[Row]:
    """The optimizers of a side; how one clips is tried after the last step, and unknown of a side that did not end."""
    rows = _rows(side, "optimizers")
    if side.scenario(scenarios.STEPS).outcome == "ok":
        return rows
    return [row if any(row.get(key) is not None for key in _CLIPPING) else {**row, "clipping": None} for row in rows]


def _of_optimizer(one: Row, two: Row, changing: bool) -> Iterator[Setting]:
    rules, classes = (rule_name(one), rule_name(two)), (str(one.get("class", "")), str(two.get("class", "")))
    text = f"The optimizer is {classes[0]} on TF1 and {classes[1]} on TF2."
    if not all(rules):
        same = rules[0] == rules[1] and classes[0] == classes[1]
        text = f"rule of the optimizers {' and '.join(classes)}"
        yield Setting("update rule", CLASS, same or None, text)
    else:
        yield Setting("update rule", CLASS, rules[0] == rules[1], text)
        if rules[0] != rules[1]:
            return
    yield _of_clipping(one, two)
    for key in dict.fromkeys((*one, *two)):
        if key in _DESCRIBING or (key in _OF_AVERAGES and not any(row.get("use_ema") for row in (one, two))):
            continue
        kind = "momentum" if key in ("momentum", "nesterov") else "update rule"
        values = [row.get(key, _NEUTRAL.get(key)) for row in (one, two)]
        if any(value is None for value in values):
            side = "TF1" if values[1] is None else "TF2"
            yield Setting(kind, key, None, f"{key} of the optimizer (known of {side} alone)")
            continue
        words = f"{key} of the optimizer is {shown(values[0])} on TF1 and {shown(values[1])} on TF2."
        yield Setting(kind, f"{key} of the optimizer", not differ(values[0], values[1]), words)
    heavy = rules[0] == rules[1] == "sgd" and all(row.get("momentum") for row in (one, two))
    if heavy and changing and _is_v1(one) != _is_v1(two):
        yield Setting(
            "momentum",
            "momentum under a schedule",
            False,
            "The momentum of tf.compat.v1 is multiplied by the rate of the step, that of Keras holds the rates of the "
            "steps before: they part when the rate changes.",
        )


def _is_v1(row: Row) -> bool:
    return str(row.get("rule") or row.get("class", "")).endswith("Optimizer")


def _of_clipping(one: Row, two: Row) -> Setting:
    sides = {"TF1": one, "TF2": two}
    untried = [side for side, row in sides.items() if "clipping" in row and row["clipping"] is None]
    unlike = [side for side, row in sides.items() if row.get("clipping") is not None]
    if untried or unlike:
        words = [f"{' and '.join(untried)} did not end the training steps that would tell"] if untried else []
        words += [f"{' and '.join(unlike)} may clip {_UNKNOWN}"] if unlike else []
        return Setting("update rule", "clipping", None, f"clipping of gradients ({', '.join(words)})")
    bounds = [{key: row[key] for key in _CLIPPING if row.get(key) is not None} for row in (one, two)]
    same = bounds[0].keys() == bounds[1].keys()
    equal = same and not any(differ(bounds[0][key], bounds[1][key], _PROBED) for key in bounds[0])
    words = [", ".join(f"{key} {shown(value)}" for key, value in bound.items()) or "nothing" for bound in bounds]
    rows = [row.get("rows") or () for row in (one, two)]
    if equal and bounds[0] and len(rows[0]) != len(rows[1]):
        names, side, other = (rows[0], "TF1", "TF2") if len(rows[0]) > len(rows[1]) else (rows[1], "TF2", "TF1")
        text = f"of {some(names)}: {side} clips rows before those of one number are added, {other} their sum"
        return Setting("update rule", "clipping", None, f"clipping of gradients ({text})")
    text = f"Gradients are clipped by {words[0]} on TF1 and by {words[1]} on TF2."
    return Setting("update rule", "clipping", equal, text)


def _of_averages(
    tf1: Recorded, tf2: Recorded, to_tf2: Mapping[str, str], ignore: Sequence[str]
) -> Iterator[Setting]:
    """Averages of weights: one that the other side does not keep is a difference, whatever is evaluated with it.

    TF2 tells of its own when it has taken its training steps, which not every run comes to.
    """
    olds, news = (
        [row for row in _rows(side, "averages") if row.get("weight") and row.get("updated", True)]
        for side in (tf1, tf2)
    )
    left = [(to_tf2.get(plain(str(row["name"])), ""), row) for row in olds]
    right: dict[str, list[Row]] = {}
    for row in news:
        right.setdefault(plain(str(row["name"])), []).append(row)
    alone: dict[str, list[Row]] = {"TF1": [], "TF2": []}
    pairs = []
    for name, row in left:
        if right.get(name):
            pairs.append((row, right[name].pop(0)))
        else:
            alone["TF1"].append(row)
    alone["TF2"] = [row for rows in right.values() for row in rows]
    for side, rows in alone.items():
        said = [row for row in rows if not ignored(plain(str(row["average"])), ignore)]
        if len(said) < len(rows):
            text = f"a moving average that the pair ignores ({_variables(len(rows) - len(said))} of {side})"
            yield Setting("variables", "moving average", None, text)
        other = "TF2" if side == "TF1" else "TF1"
        if said and "averages" not in {"TF1": tf1, "TF2": tf2}[other].content:
            text = f"a moving average of weights that {side} keeps ({other} took no training step that would tell)"
            yield Setting("variables", "moving average", None, text)
        elif said:
            told = sorted({f"decay {shown(row['decay'])}" for row in said if row.get("decay") is not None})
            words = f"{side} keeps a moving average of weights ({', '.join([_variables(len(said)), *told])})"
            text = f"{words}, {other} does not: {some([str(row['name']) for row in said])}."
            yield Setting("variables", "moving average of weights", False, text)
    what = "decay of the moving average"
    for one, two in pairs:
        decays = one.get("decay"), two.get("decay")
        if None in decays:
            yield Setting("variables", what, None, "the decay of a moving average, which is computed")
        else:
            words = f"The moving average of {one['name']} has decay"
            text = f"{words} {shown(decays[0])} on TF1 and {shown(decays[1])} on TF2."
            yield Setting("variables", what, not differ(decays[0], decays[1]), text)


def _of_constraints(
    tf1: Recorded, tf2: Recorded, to_tf2: Mapping[str, str], ignore: Sequence[str]
) -> Iterator[Setting]:
    """Constraints of weights, which act on values that few steps reach.

    Of one side alone it is not known whether the training of the other does the same by hand.
    """
    news = {plain(str(row["name"])): row for row in _rows(tf2, "variables")}
    couples = [(row, news.get(to_tf2.get(plain(str(row["name"])), ""))) for row in _rows(tf1, "variables")]
    met = {id(two) for _, two in couples}
    alone: dict[str, list[str]] = {"TF1": [], "TF2": []}
    for one, two in [*couples, *((None, row) for row in news.values() if id(row) not in met)]:
        effects = [None if row is None else row.get("constraint") for row in (one, two)]
        name = str((one or two or {})["name"])
        if effects == [None, None] or ignored(plain(name), ignore):
            continue
        if not one or not two or None in effects:
            alone["TF2" if effects[0] is None else "TF1"].append(name)
        elif one["shape"] != two["shape"] or not all(effects):
            yield Setting("update rule", "constraint", None, f"what the constraint of {name} does")
        else:
            equal = not any(differ(*each, _PROBED) for each in zip(one["constraint"], two["constraint"], strict=True))
            words = [f"{shown(row['constraint'][0])} to {shown(row['constraint'][2])}" for row in (one, two)]
            text = f"The constraint of {name} makes of -100 to 100 {words[0]} on TF1 and {words[1]} on TF2."
            yield Setting("update rule", "constraint of a variable", equal, text)
    for side, names in alone.items():
        if names:
            yield Setting("update rule", "constraint", None, f"constraints that {side} alone has ({some(names)})")


def _variables(count: int) -> str:
    return "1 variable" if count == 1 else f"{count} variables"


def _of_layers(tf1: Recorded, tf2: Recorded) -> Iterator[Setting]:
    olds, news = (_rows(side, "layers") for side in (tf1, tf2))
    yield from _of_config(olds, news, "rate", "rate of dropout", "dropout rate")
    yield from _of_config(olds, news, "momentum", "momentum of batch normalization", "moving statistics")
    normal, others = ([row for row in rows if _normalizes(row)] for rows in (olds, news))
    yield from _of_config(normal, others, "epsilon", "epsilon of batch normalization", "forward")


def _of_config(olds: Sequence[Row], news: Sequence[Row], key: str, what: str, kind: str) -> Iterator[Setting]:
    """One setting of all layers that have it, in the order of their calls."""
    sides = [
        [(str(row.get("name")), float(_config(row)[key]), place_in(row, "place")) for row in rows if _has(row, key)]
        for rows in (olds, news)
    ]
    if not any(sides):
        return
    values = [sorted(value for _, value, _ in side) for side in sides]
    distinct = [_distinct(key, side) for side in values]
    if len(sides[0]) == len(sides[1]):
        if _all_near(key, values[0], values[1]):
            yield next(_least(kind, what, key, sides), Setting(kind, what, True))
            return
        for (name, one, first), (other, two, second) in zip(*sides, strict=True):
            if not _near(key, one, two):
                text = f"{_both(key, name, one, other, two)}."
                yield Setting(kind, what, False, text, (first, second))
    elif len(distinct[0]) == len(distinct[1]) and distinct[0]:
        words = [", ".join(map(shown, side)) for side in distinct]
        same = _all_near(key, distinct[0], distinct[1])
        if same or len(distinct[0]) == 1:
            places = (sides[0][0][2], sides[1][0][2])
            yield Setting(kind, what, same, f"The {what} is {words[0]} on TF1 and {words[1]} on TF2.", places)
            return
        yield Setting(kind, what, None, f"{what} ({len(sides[0])} on TF1, {len(sides[1])} on TF2)")
    else:
        yield Setting(kind, what, None, f"{what} (known of {len(sides[0])} layers on TF1, of {len(sides[1])} on TF2)")


def _both(key: str, name: str, one: float, other: str, two: float) -> str:
    where = name if name == other else f"{name} (TF2: {other})"
    return f"{key} of {where} is {shown(one)} on TF1 and {shown(two)} on TF2"


def _least(
    kind: str, what: str, key: str, sides: Sequence[Sequence[tuple[str, float, Place | None]]]
) -> Iterator[Setting]:
    """Of what is one but for rounding, the first epsilon that is not equal: TF1's fused operation raises it."""
    for (name, one, first), (other, two, second) in zip(*sides, strict=True):
        if key == "epsilon" and _near(key, one, two) and differ(one, two):
            text = f"{_both(key, name, one, other, two)}, which small variances show."
            yield Setting(kind, what, True, text, (first, second), slight=True)


def _normalizes(row: Row) -> bool:
    """Whether it is batch normalization: a layer, which has a momentum, or the operation in a graph without layers."""
    return "momentum" in _config(row) or row.get("class") == "FusedBatchNorm"


def _has(row: Row, key: str) -> bool:
    value = _config(row).get(key)
    return isinstance(value, int | float) and not isinstance(value, bool) and (key != "rate" or value != 0)


def _distinct(key: str, values: Sequence[float]) -> list[float]:
    found: list[float] = []
    for value in values:
        if not found or not _near(key, found[-1], value):
            found.append(value)
    return found


def _all_near(key: str, ones: Sequence[float], others: Sequence[float]) -> bool:
    return all(_near(key, one, other) for one, other in zip(ones, others, strict=True))


def _near(key: str, one: float, two: float) -> bool:
    """Whether two settings are one but for rounding, of a momentum what is left to 1."""
    if key == "momentum":
        one, two = 1.0 - one, 1.0 - two
    return not differ(one, two, _ROUNDED[key])


def _config(row: Row) -> Row:
    config = row.get("config")
    return config if isinstance(config, Mapping) else {}


def _rows(side: Recorded, key: str) -> list[Row]:
    return [row for row in side.content.get(key) or () if isinstance(row, Mapping)]


def _each_once(rows: Sequence[Row]) -> list[Row]:
    bare = [{key: value for key, value in row.items() if key not in MADE} for row in rows]
    return [row for at, row in enumerate(rows) if bare[at] not in bare[:at]]


def place_in(row: Row, key: str) -> Place | None:
    """A line that a row of a recording says; None where it says none."""
    where = row.get(key)
    return None if where is None else (str(where[0]), int(where[1]))


def differ(one: Any, two: Any, relative: float = 1e-5) -> bool:
    """Whether two settings are not the same, numbers but for rounding; nothing, zero and false are one."""
    if isinstance(one, int | float) and isinstance(two, int | float):
        return abs(float(one) - float(two)) > relative * max(abs(float(one)), abs(float(two)))
    return bool(one) != bool(two) or (bool(one) and one != two)


def shown(value: Any) -> str:
    """A setting to read."""
    return f"{value:g}" if isinstance(value, float) else str(value)
