"""The lines of both programs to look at for a class of causes, where its evidence has named none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...worker.recording.format import scenarios
from ...worker.recording.format.rows import Place
from ..judging.converted import REFUTED, groups_of
from ..results import Deviation, OperationPair
from ..settings import place_in
from .evidence import Seen, Twin

__all__ = ["lines", "of_layer", "of_loss", "of_regularizers"]

Lines = tuple[Place | None, Place | None]
"""Of TF1, and of TF2."""

_NOWHERE: Lines = (None, None)


def lines(seen: Seen, kind: str) -> Lines:
    """The lines of TF1 and TF2 to look at; None where nothing tells."""
    if kind in ("update rule", "momentum", "learning rate", "repeated rows"):
        return _of_optimizer(seen, kind)
    if kind == "regularization":
        return of_regularizers(seen)
    if kind == "layout":
        return _of_groups(seen)
    if kind == "moving statistics":
        return _of_statistics(seen)
    if kind == "loss":
        return of_loss(seen, kind)
    if kind in ("forward", "padding"):
        return _of_operation(seen)
    if kind == "randomness":
        return _of_initial_values(seen)
    return _NOWHERE


def _of_operation(seen: Seen) -> Lines:
    """Those of the operation that it begins with; in a layer of Keras, of TF2 the line that makes the layer."""
    first = seen.report.first_divergence
    if first is None or first.operation is None:
        return _NOWHERE
    found = first.operation
    one, two = (None if end is None else end.place for end in (found.tf1, found.tf2))
    if two is None or found.tf2 is None:
        return one, two
    return one, of_layer(seen, found.scenario, found.step, found.tf2.number, two)


def of_layer(seen: Seen, scenario: str, step: int, number: int, place: Place) -> Place:
    """The line that makes the layer of Keras which computes an operation of TF2; that of the operation without one.

    It is the first layer whose output is this operation or a later one, unless the operation is what the layer gets.
    """
    record = seen.record("tf2", scenario, "operation", "all", step)
    results = [] if record is None else record.more.get("results") or []
    _, layer = min(((at, name) for kind, name, at in results if kind == "tap" and at >= number), default=(0, ""))
    tap = seen.record("tf2", scenario, "tap", layer, step)
    if tap is None or tap.place != place or max(tap.more.get("inputs") or [-1]) >= number:
        return place
    return place_in(tap.more, "made") or place


def _reduced(seen: Seen, found: OperationPair) -> Place | None:
    """The line that sums up or averages what an addition adds something to that both sides have."""
    record = seen.record("tf2", found.scenario, "operation", "all", found.step)
    rows = {row["id"]: row for row in (record.more.get("operations") or () if record is not None else ())}
    row = rows.get(found.tf2.number) if found.tf2 is not None else None
    if row is None or not row["op"].startswith("Add"):
        return None
    added = [rows[value] for kind, value in row["inputs"] if kind == "row" and value in rows]
    return next((place_in(one, "place") for one in added if one["op"] in ("Sum", "Mean") and not one["shape"]), None)


def _of_optimizer(seen: Seen, kind: str) -> Lines:
    """The lines that make the optimizers, or what gives their rates.

    Where gradients differ before an optimizer gets them, and where several optimizers are made, those of the update.
    """
    keys = ("rate_made", "made") if kind == "learning rate" else ("made",)
    failed = _earliest(seen, "gradient", "update", "learning_rate")
    updates = _NOWHERE if failed is None else _recorded(seen, failed)
    if kind == "update rule" and failed is not None and failed.kind == "gradient" and updates[1] is not None:
        return updates
    found = []
    for recorded, update in zip((seen.tf1, seen.tf2), updates, strict=True):
        rows = [row for row in recorded.content.get("optimizers") or () if isinstance(row, Mapping)]
        places = {next((one for key in keys if (one := place_in(row, key))), None) for row in rows} - {None}
        found.append(places.pop() if len(places) == 1 else update)
    return (found[0], found[1])


def _recorded(seen: Seen, check: Deviation) -> Lines:
    """Where both sides make the update of a variable, or what a value was recorded with."""
    kind = "gradient" if check.kind == "update" else check.kind
    records = (
        seen.record("tf1", check.scenario, kind, check.tf1_name, check.step),
        seen.record("tf2", check.scenario, kind, check.tf2_name, check.step),
    )
    one, two = (None if record is None else record.place for record in records)
    return one, two


def of_loss(seen: Seen, kind: str) -> Lines:
    """The operation that the loss begins to differ with, or what gradients are taken of; `kind` is of the cause."""
    first = seen.report.first_divergence
    if first is not None and first.deviation.kind == "loss" and first.operation is not None:
        old, new = _of_operation(seen)
        if new is not None:
            reduced = _reduced(seen, first.operation) if kind == "loss" else None
            return old, reduced or new
    failed = _earliest(seen, "loss")
    return _NOWHERE if failed is None else (failed.tf1_place, failed.tf2_place)


def of_regularizers(seen: Seen) -> Lines:
    """What makes a variable that TF1 alone regularizes, or else the first regularizer of TF2."""
    known = list(_regularized(seen))
    rows = {str(row["name"]): row for row in seen.tf2.content.get("variables") or () if isinstance(row, Mapping)}
    places = {name: place for name, row in rows.items() if (place := place_in(row, "regularizer"))}
    for twin, place in known:
        if twin is not None and twin.new not in places:
            return place, _made(seen, "tf2", twin.new)
    return (known[0][1] if known else None), next(iter(places.values()), None)


def _regularized(seen: Seen) -> Iterator[tuple[Twin | None, Place | None]]:
    """The variables that regularization losses of TF1 are named below, with the lines of these."""
    for scenario in (scenarios.CONSTANT, scenarios.STEPS):
        for name in seen.names("tf1", scenario, "regularization"):
            record = seen.record("tf1", scenario, "regularization", name)
            if record is not None and name != "total":
                yield next((one for one in seen.twins if name.startswith(f"{one.old}/")), None), record.place


def _of_statistics(seen: Seen) -> Lines:
    """The lines that make the layers whose statistics differ first."""
    still = {twin.old: twin for twin in seen.twins if not twin.trainable}
    failed = [check for check in seen.failed(scenarios.STEPS, "variable", "update") if check.tf1_name in still]
    if not failed:
        return _NOWHERE
    first = min(failed, key=lambda check: check.step)
    return _made(seen, "tf1", first.tf1_name), _made(seen, "tf2", first.tf2_name)


def _of_groups(seen: Seen) -> Lines:
    """The lines that make the first variables whose layout outputs speak against."""
    refuted = next((group.conversion for group in groups_of(seen.tf1, seen.tf2) if group.proof == REFUTED), None)
    if refuted is None:
        return _NOWHERE
    return _made(seen, "tf1", refuted.tf1[0]), _made(seen, "tf2", refuted.tf2[0])


def _of_initial_values(seen: Seen) -> Lines:
    """The lines that make the first layer whose initial values differ."""
    rung = next((one for one in seen.report.rungs if one.number == "4"), None)
    failed = [] if rung is None else [check for check in rung.failures if check.kind in ("variable", "sample")]
    if not failed:
        return _NOWHERE
    return _made(seen, "tf1", failed[0].tf1_name, True), _made(seen, "tf2", failed[0].tf2_name, True)


def _made(seen: Seen, side: str, variable: str, initial: bool = False) -> Place | None:
    """The line that says what the layer of a variable does, else the variable's own.

    Of what is `initial` the variable's own comes first, unless it is that of the layer's call.
    """
    rows = (seen.tf1 if side == "tf1" else seen.tf2).content.get("variables") or ()
    row = next((row for row in rows if isinstance(row, Mapping) and row.get("name") == variable), {})
    own = place_in(row, "place")
    for scenario in (scenarios.FINGERPRINT, scenarios.CONSTANT, scenarios.STEPS):
        taps = [seen.record(side, scenario, "tap", name) for name in seen.names(side, scenario, "tap")]
        owners = [tap for tap in taps if tap is not None and variable in (tap.more.get("owned") or ())]
        innermost = min(owners, key=lambda tap: len(tap.more["owned"]), default=None)
        if innermost is not None:
            if initial and own not in (None, innermost.place):
                return own
            return place_in(innermost.more, "made") or innermost.place or own
    return own


def _earliest(seen: Seen, *kinds: str) -> Deviation | None:
    return min(seen.failed(scenarios.STEPS, *kinds), key=lambda check: (check.step, check.order), default=None)
