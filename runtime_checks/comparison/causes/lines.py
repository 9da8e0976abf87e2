"""The lines of both programs to look at for a class of causes, where its evidence has named none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...worker.recording.format import scenarios
from ...worker.recording.format.rows import Place
from ..results import Deviation
from ..settings import place_in
from .evidence import Seen

__all__ = ["lines"]

Lines = tuple[Place | None, Place | None]
"""Of TF1, and of TF2."""

_NOWHERE: Lines = (None, None)


def lines(seen: Seen, kind: str) -> Lines:
    """The lines of TF1 and TF2 to look at; None where nothing tells."""
    if kind in ("update rule", "momentum", "learning rate"):
        return _of_optimizer(seen, kind)
    if kind == "regularization":
        return _of_regularizers(seen)
    if kind == "moving statistics":
        return _of_statistics(seen)
    if kind == "loss":
        return _of_loss(seen)
    if kind == "forward":
        return _of_operation(seen)
    return _NOWHERE


def _of_operation(seen: Seen) -> Lines:
    first = seen.report.first_divergence
    if first is None or first.operation is None:
        return _NOWHERE
    found = first.operation
    return (found.tf1.place if found.tf1 else None, found.tf2.place if found.tf2 else None)


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


def _of_loss(seen: Seen) -> Lines:
    """The operation that the loss begins to differ with, or what gradients are taken of."""
    first = seen.report.first_divergence
    if first is not None and first.deviation.kind == "loss" and first.operation is not None:
        found = _of_operation(seen)
        if found[1] is not None:
            return found
    failed = _earliest(seen, "loss")
    return _NOWHERE if failed is None else (failed.tf1_place, failed.tf2_place)


def _of_regularizers(seen: Seen) -> Lines:
    """The first regularizer of TF2, or where it has none the variable that TF1 regularizes."""
    old = next(_regularized(seen), None)
    where = None if old is None else old[1]
    rows = [row for row in seen.tf2.content.get("variables") or () if isinstance(row, Mapping)]
    places = [(str(row.get("name")), place) for row in rows if (place := place_in(row, "regularizer"))]
    if places:
        return where, places[0][1]
    twin = next((one for one in seen.twins if old is not None and one.old == old[0]), None)
    row = next((row for row in rows if twin is not None and row.get("name") == twin.new), None)
    return where, None if row is None else place_in(row, "place")


def _regularized(seen: Seen) -> Iterator[tuple[str, Place | None]]:
    """The variables of TF1 that regularization losses are named below, with the lines of these."""
    for scenario in (scenarios.CONSTANT, scenarios.STEPS):
        for name in seen.names("tf1", scenario, "regularization"):
            record = seen.record("tf1", scenario, "regularization", name)
            twin = next((one for one in seen.twins if name.startswith(f"{one.old}/")), None)
            if record is not None and name != "total":
                yield "" if twin is None else twin.old, record.place


def _of_statistics(seen: Seen) -> Lines:
    """The lines that make the layers whose statistics differ first."""
    still = {twin.old: twin for twin in seen.twins if not twin.trainable}
    failed = [check for check in seen.failed(scenarios.STEPS, "variable", "update") if check.tf1_name in still]
    if not failed:
        return _NOWHERE
    first = min(failed, key=lambda check: check.step)
    return _made(seen.tf1.content, first.tf1_name), _made(seen.tf2.content, first.tf2_name)


def _made(content: Mapping[str, Any], variable: str) -> Place | None:
    """The line that makes the layer of a variable, else the variable's own."""
    layers = [row for row in content.get("layers") or () if isinstance(row, Mapping)]
    owners = [row for row in layers if f"/{variable.rpartition('/')[0]}".endswith(f"/{row.get('name')}")]
    place = next((place for row in owners if (place := place_in(row, "place"))), None)
    rows = content.get("variables") or ()
    own = next((row for row in rows if isinstance(row, Mapping) and row.get("name") == variable), None)
    return place if place is not None or own is None else place_in(own, "place")


def _earliest(seen: Seen, *kinds: str) -> Deviation | None:
    return min(seen.failed(scenarios.STEPS, *kinds), key=lambda check: (check.step, check.order), default=None)
