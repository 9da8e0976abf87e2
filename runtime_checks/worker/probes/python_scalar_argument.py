"""TF216: whether this call makes the function be traced again for another Python number."""

from __future__ import annotations

from ..criteria import conclude, names_of
from ..errors import one_line
from ..recorder import Event
from ..run import CONFIRMED, FAILED, Judgement, Run, StaticFinding


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by a trace here that differs from the one before in a Python value; refuted if there is none."""
    traces = run.events_at(finding, "trace")
    again = [event for event in traces if "Python value" in event.detail["changed"]]
    if again:
        same = [event for event in again if event.phase == again[0].phase]
        changed = again[-1].detail["changed"]
        detail = "`{}` was traced again {} in the {}: {}".format(
            again[0].detail["function"], "once" if len(same) == 1 else f"{len(same)} times", again[0].phase, changed
        )
        return Judgement(CONFIRMED, again[0].phase, one_line(detail))
    ran = run.ran(finding)
    if _calls(traces) == 1:
        return Judgement(FAILED, ran[0], "the function was called only once, which shows nothing")
    return conclude(finding, run, ran, f"no other Python value made it be traced again, in {names_of(ran)}")


def _calls(traces: list[Event]) -> int:
    made = [event.detail["made"] for event in traces if event.detail["made"] is not None]
    return int(made[0].detail["calls"].number) if made else 0
