"""TF502: whether a checkpoint was only looked at, so that no variable got a value."""

from __future__ import annotations

from typing import Any

from ..at_line import settle
from ..recorder import Event
from ..run import CONFIRMED, REFUTED, Judgement, Run, StaticFinding

_VALUES = ("latest_checkpoint", "list_variables", "load_variable")


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """By what was read from the reader, and by whether the program restored the same checkpoint itself later."""
    function = finding.called
    if function in _VALUES:
        return _of_value(finding, run, function)
    readers = run.events_at(finding, "reader")
    for event in readers:
        if event.detail["reads"][0]:
            count = event.detail["reads"][0]
            return Judgement(REFUTED, event.phase, f"tensors read from the reader: {count}")
    for event in readers:
        restored = _restored_after(event, run)
        if restored is None:
            detail = "`{}` was opened and nothing was read from it: {}".format(event.detail["path"], _kept(run))
            return Judgement(CONFIRMED, event.phase, detail)
    if readers:
        return _saved_by(_restored_after(readers[0], run))
    return settle(finding, run, "the line ran and opened no checkpoint")


def _of_value(finding: StaticFinding, run: Run, function: str) -> Judgement:
    settled = settle(finding, run, "")
    if settled.verdict != REFUTED:
        return settled
    restores = [event for event in run.events("restore") if event.detail["path"]]
    if restores:
        return _saved_by(restores[0])
    return Judgement(CONFIRMED, run.ran(finding)[0], f"`{function}` only returned a value: {_kept(run)}")


def _restored_after(reader: Event, run: Run) -> Event | None:
    events = run.events("reader", "restore")
    path = reader.detail["path"]
    after = [event for event in events[events.index(reader) + 1 :] if event.kind == "restore"]
    return next((event for event in after if event.detail["path"] == path), None)


def _saved_by(restore: Any) -> Judgement:
    where = f" at line {restore.frames[0].line}" if restore.frames else ""
    return Judgement(REFUTED, restore.phase, f"the program restored the checkpoint itself{where}")


def _kept(run: Run) -> str:
    variables = getattr(run.keeper, "variables", None)
    if variables is None:
        return "no variable got a value from it"
    return f"the model's {len(variables)} variables got no value from it"
