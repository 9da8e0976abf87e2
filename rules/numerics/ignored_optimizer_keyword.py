"""TF604: keywords of older optimizers, which the present ones ignore or refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import UNKNOWN, Call, Target
from ...linter.rule_api.rewriting import argument, expression, with_keywords, without_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .optimizers import KERAS, kind_of

if TYPE_CHECKING:
    import libcst

_DEFAULTS = {"SGD": "0.01", "Lion": "0.0001"}
_OLD = {
    "beta1": "Give `beta_1=`",
    "beta2": "Give `beta_2=`",
    "schedule_decay": "Leave it out",
    "use_locking": "Leave it out",
}
_RENAMED = {"beta1": "beta_1", "beta2": "beta_2", "lr": "learning_rate"}
_SCHEDULE = "keras.optimizers.schedules.InverseTimeDecay"
_NEUTRAL: dict[str, tuple[object, ...]] = {
    "decay": (0, None),
    "schedule_decay": (0.004,),  # what it was where it was not given, and still is
    "use_locking": (True, False),
}
"""Values with which a keyword can be left out."""


class IgnoredOptimizerKeyword(Rule):
    """A Keras optimizer is given a keyword of an older one, such as `lr=` or `decay=`.

    ## Why
    With tf_keras `lr=` is ignored with nothing but a line in the log: `Adam(lr=0.5)` trains with 0.001.
    Keras 3 raises "Argument(s) not recognized".
    `decay=` is the other way round: Keras 3 warns, and the learning rate stays what it was; tf_keras raises, even for
    `decay=0`.
    `beta1=`, `beta2=`, `use_locking=` and `schedule_decay=` raise with both.
    The classes of `tf.keras.optimizers.legacy` still take `lr` and `decay`, with tf_keras alone.

    ## Example
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.Adam(lr=0.01)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
    ```

    ## Fix safety
    Safe where a keyword has another name now (`lr`, `beta1`, `beta2`), and where `decay=0`, `use_locking` or the
    default of `schedule_decay` is left out: these change no number.
    Unsafe where `decay` becomes a schedule: the learning rate falls from then on, as it did with the optimizers of old.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/keras/optimizers/Optimizer
    - https://github.com/keras-team/tf-keras/issues/331
    """

    code = "TF604"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.MECHANICAL
    calls = KERAS
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the keywords that are written out: the first that raises, or else what is ignored."""
        kind = kind_of(call)
        if not kind:
            return
        yield from (judged for _, judged in self._told(call, kind)[:1])

    def _judge(self, call: Call, kind: str, keyword: str) -> Iterator[Diagnostic]:
        keras3 = call.target is Target.KERAS3
        given = f"`{kind}` is given `{keyword}=`, which"
        if keyword == "lr" and keras3:
            yield self.report(call, f"{given} raises ValueError with Keras 3. Give `learning_rate=`.")
        elif keyword == "lr" and call.value("learning_rate", 0) is None:
            yield self.report(
                call,
                f"{given} is ignored: the learning rate is {_DEFAULTS.get(kind, '0.001')}, whatever is given. "
                "Give `learning_rate=`.",
                consequence=Consequence.CHANGES,
            )
        elif keyword == "decay" and keras3:
            value = call.literal("decay")
            if value is UNKNOWN or value:
                yield self.report(
                    call,
                    f"{given} is ignored with a warning: the learning rate stays the same. Give a schedule, "
                    "`tf.keras.optimizers.schedules.InverseTimeDecay`, as the learning rate.",
                    Severity.WARNING if value is UNKNOWN else Severity.ERROR,
                    consequence=Consequence.CHANGES,
                )
        elif keyword == "decay":
            yield self.report(
                call,
                f"{given} raises ValueError. Give a schedule, `tf.keras.optimizers.schedules.InverseTimeDecay`, as the "
                "learning rate.",
            )
        elif keyword in _OLD:
            error = "ValueError" if keras3 else "TypeError"
            yield self.report(call, f"{given} raises {error}. {_OLD[keyword]}.")

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Rename what has another name, leave out what does nothing, and make a schedule of a decay."""
        if site.has_stars:
            return None
        keyword = self._told(site, kind_of(site))[0][0]
        renamed = {old: new for old, new in _RENAMED.items() if old in site.keywords}
        if any(argument(node, new, 0 if old == "lr" else None) is not None for old, new in renamed.items()):
            return None
        given = argument(node, keyword)
        if keyword in renamed or given is None:
            return Replacement(with_keywords(node, renamed)) if renamed else None
        if site.literal(keyword, default=UNKNOWN) in _NEUTRAL[keyword]:
            return Replacement(without_argument(node, given))
        return _with_schedule(node, site, given) if keyword == "decay" else None

    def _told(self, call: Call, kind: str) -> list[tuple[str, Diagnostic]]:
        """The keywords that something is to be said of: first what raises."""
        found = [(keyword, judged) for keyword in call.keywords for judged in self._judge(call, kind, keyword)]
        return sorted(found, key=lambda one: one[1].consequence is not Consequence.BREAKS)


def _with_schedule(node: libcst.Call, site: Call, decay: libcst.Arg) -> Replacement | None:
    """An optimizer with a schedule in place of its learning rate and decay."""
    import libcst

    rate = argument(node, "learning_rate", 0) or argument(node, "lr")
    written = site.spelling(_SCHEDULE) or site.spelling(f"tensorflow.{_SCHEDULE}")
    if rate is None or written is None:
        return None
    schedule = expression(f"{written}(_, decay_steps=1, decay_rate=_)")
    assert isinstance(schedule, libcst.Call)
    first, steps, last = schedule.args
    first, last = first.with_changes(value=rate.value), last.with_changes(value=decay.value)
    schedule = schedule.with_changes(args=[first, steps, last])
    args = [one.with_changes(value=schedule) if one is rate else one for one in node.args]
    new = with_keywords(without_argument(node.with_changes(args=args), decay), _RENAMED)
    return Replacement(new, Applicability.UNSAFE, "the learning rate falls from now on, by what was ignored or refused")
