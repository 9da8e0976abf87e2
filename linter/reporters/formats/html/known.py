"""How far a project has come with its known findings: a sentence, a curve and its numbers, without a script."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from ....result import BaselineStatus
from ...page import markup

_WIDTH, _HEIGHT = 1000, 100
"""Of the picture, in its own units; it is stretched to the width of the page."""
_LAST_DAY = 940
"""Where the last day of the history stands; what follows is this run, whose day nobody tells."""
_DOTS = 60
"""Days that have a dot each; where there are more, the line alone is clearer."""


def known_findings(status: BaselineStatus) -> str:
    """The section of a page on what is left of a baseline."""
    history = [(date.fromisoformat(day), left) for day, left in status.history]
    parts = [f"<p>{markup(_sentence(status))}</p>"]
    if history:
        parts += [_curve(history, status.left), _table(status)]
    body = "\n".join(parts)
    title = '<h2 id="known">Known findings</h2>'
    return f'<section class="panel" aria-labelledby="known">\n{title}\n{body}\n</section>'


def _sentence(status: BaselineStatus) -> str:
    noun = "finding" if status.initial == 1 else "findings"
    words = [f"{status.left:,} of {status.initial:,} known {noun} left, and not shown here"]
    if status.unseen:
        words.append(f"{status.unseen:,} of them not looked at in this run")
    if status.stale:
        pruned = status.action == "prune"
        done = "and taken out of the file" if pruned else "which --prune-baseline takes out of the file"
        words.append(f"{status.stale:,} gone, {done}")
    return f"{'; '.join(words)}."


def _curve(history: Sequence[tuple[date, int]], left: int) -> str:
    """Steps, since a number holds until the day on which it changed."""
    days = max((history[-1][0] - history[0][0]).days, 1)
    most = max(left, 1, *(then for _, then in history))
    spots = [
        (_LAST_DAY * (day - history[0][0]).days // days, _height(then, most), f"{day.isoformat()}: {then:,}")
        for day, then in history
    ]
    spots.append((_WIDTH, _height(left, most), f"this run: {left:,}"))
    line = f"M{spots[0][0]} {spots[0][1]}" + "".join(f"H{x}V{y}" for x, y, _ in spots[1:])
    dotted = spots if len(spots) <= _DOTS else spots[-1:]
    dots = "".join(f'<path class="dot" d="M{x} {y}h0"><title>{words}</title></path>' for x, y, words in dotted)
    said = f"Known findings left, from {spots[0][2]} to {spots[-1][2]}"
    return (
        f'<figure class="curve"><div class="scale"><span>{most:,}</span><span>0</span></div>\n'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{said}">'
        f'<path class="ground" d="{line}V{_HEIGHT}H{spots[0][0]}Z"/><path class="way" d="{line}"/>{dots}</svg>\n'
        f"<figcaption><span>{history[0][0].isoformat()}</span><span>this run</span></figcaption></figure>"
    )


def _height(left: int, most: int) -> int:
    return _HEIGHT - _HEIGHT * left // most


def _table(status: BaselineStatus) -> str:
    rows = "".join(
        f'<tr><th scope="row">{markup(day)}</th><td class="num">{left:,}</td></tr>' for day, left in status.history
    )
    caption = "<caption>Left on each day on which the baseline changed</caption>"
    return f"<details><summary>The numbers</summary><table>{caption}<tbody>{rows}</tbody></table></details>"
