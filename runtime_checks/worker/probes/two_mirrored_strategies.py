"""TF321: whether training under the second strategy raises, since the first has settled the group of devices."""

from __future__ import annotations

import re

from ..criteria import unreached
from ..errors import essence, one_line
from ..run import CONFIRMED, FAILED, REFUTED, Judgement, Run, StaticFinding

_HAZARD = "is joining a group (that is already full|with size)|Function was cancelled before it was started"


def judge(finding: StaticFinding, run: Run) -> Judgement:
    """Confirmed by the error where replicas on other devices exchange values, too; refuted where there are none."""
    nowhere = unreached(finding, run)
    if nowhere is not None:
        return nowhere
    strategy = run.job["strategy"]
    if strategy is not None:
        return Judgement(
            FAILED, None, "both of them are {} in this run; run it without --strategy".format(strategy["text"])
        )
    groups: dict[int, set[str]] = {}
    for event in run.events("collective"):
        groups.setdefault(event.detail["group"], set()).add(event.detail["device"])
    over = ["+".join(sorted(devices)) for devices in groups.values()]
    phase = run.ran(finding)[-1]
    if len(set(over)) < 2:
        seen = f"only over {over[0]}" if over else "nowhere"
        return Judgement(REFUTED, phase, f"the line ran, and replicas exchanged values {seen}")
    for failed in run.phases:
        if failed.error is not None and re.search(_HAZARD, " ".join(essence(failed.error).split())):
            where = ", then over ".join(dict.fromkeys(over))
            return Judgement(CONFIRMED, failed, one_line(f"replicas exchanged values over {where}: {failed.detail}"))
    return Judgement(
        FAILED, phase, "replicas exchanged values over several groups of devices, and no error came to the run"
    )
