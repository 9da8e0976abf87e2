"""TF606: a learning rate that was to change, and is read once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Known, Name, Site, Target, path_of
from ...linter.rule_api.rewriting import keyworded, with_function, with_keywords, without_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..checkpoints.assigned import assignments_to
from ..keras.strategies import stations, ways_to
from ..tf1_api.contexts import certainty
from .optimizers import KERAS, kind_of

if TYPE_CHECKING:
    import libcst

_SCHEDULES = {
    "cosine_decay": "CosineDecay",
    "cosine_decay_restarts": "CosineDecayRestarts",
    "exponential_decay": "ExponentialDecay",
    "inverse_time_decay": "InverseTimeDecay",
    "linear_cosine_decay": "CosineDecay",
    "natural_exp_decay": "ExponentialDecay",
    "noisy_linear_cosine_decay": "CosineDecay",
    "piecewise_constant": "PiecewiseConstantDecay",
    "piecewise_constant_decay": "PiecewiseConstantDecay",
    "polynomial_decay": "PolynomialDecay",
}

_PARAMETERS = {
    "cosine_decay": ("learning_rate", "global_step", "decay_steps", "alpha", "name"),
    "cosine_decay_restarts": (
        "learning_rate", "global_step", "first_decay_steps", "t_mul", "m_mul", "alpha", "name",
    ),
    "exponential_decay": ("learning_rate", "global_step", "decay_steps", "decay_rate", "staircase", "name"),
    "inverse_time_decay": ("learning_rate", "global_step", "decay_steps", "decay_rate", "staircase", "name"),
    "piecewise_constant": ("x", "boundaries", "values", "name"),
    "piecewise_constant_decay": ("x", "boundaries", "values", "name"),
    "polynomial_decay": (
        "learning_rate", "global_step", "decay_steps", "end_learning_rate", "power", "cycle", "name",
    ),
}  # fmt: skip
"""Functions whose schedule of Keras gives the same rate at every step [run]; the others have no such one."""
_TENSORS = (Known.TENSOR, Known.VARIABLE)
_REASON = "the rate changes from then on, with the steps of the optimizer"


class FrozenSchedule(Rule):
    """A Keras optimizer is given a learning rate of TF1 that was to decay, and stays what it is.

    ## Why
    In eager execution `tf.compat.v1.train.exponential_decay` and its like give a function of the step that they were
    given, not a tensor.
    An optimizer of Keras calls it and counts its steps itself: where nothing raises that global step, the rate is the
    same for ever (0.1, 0.1, 0.1, 0.1, where TF1 had 0.1, 0.05, 0.025, 0.0125).
    A tensor or a variable as the learning rate raises ValueError with Keras 3; with tf_keras its value is read once, so
    that `1.0 / step`, or a variable that is assigned later, never changes the rate.
    The rate is followed through the parameters and results of the file's functions.
    The TF1 optimizers, `tf.compat.v1.train.AdamOptimizer`, take the decay functions as they are, and raise the step in
    `apply_gradients(..., global_step=step)`.

    ## Example
    ```python
    import tensorflow as tf

    step = tf.compat.v1.train.get_or_create_global_step()
    rate = tf.compat.v1.train.exponential_decay(0.1, step, 1000, 0.9)
    optimizer = tf.keras.optimizers.SGD(rate)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1000, 0.9)
    optimizer = tf.keras.optimizers.SGD(rate)
    ```

    ## Fix safety
    Unsafe: the rate changes from then on, as in TF1, with the steps that the optimizer counts.
    It is offered where nothing else reads the rate, and Keras has a schedule of the same rates; it has none for the
    natural exponential, the linear and the noisy cosine.

    ## Source
    - https://www.tensorflow.org/guide/migrate/tf1_vs_tf2
    - https://www.tensorflow.org/api_docs/python/tf/keras/optimizers/schedules
    """

    code = "TF606"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    recipe = "schedules"
    calls = KERAS
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the learning rate of an optimizer that is made in eager execution."""
        rate = call.value("learning_rate", 0)
        if rate is None or isinstance(rate, ast.Constant) or not kind_of(call):
            return
        if isinstance(rate, ast.Call) and path_of(rate.func) in ("float", "int"):
            return
        ends = list(_ends(call, rate))
        found = next(((*end, made) for end in ends if (made := _decay(*end))), None)
        if found is not None:
            site, _, function = found
            severity = _least(call, site)
            if severity is None or _raises_the_step(call):
                return
            yield self.report(
                call,
                f"The learning rate of `{kind_of(call)}` is a `{function}` of TF1's global step, which a Keras "
                f"optimizer does not raise: the rate never changes. Give "
                f"`tf.keras.optimizers.schedules.{_SCHEDULES[function]}`.",
                severity,
                related=[] if site is call else [site.location("the rate")],
            )
            return
        if call.is_tensor(rate) in _TENSORS:
            ends = ends[:1]
        else:
            ends = ends[1:]
            if not ends or any(site.is_tensor(node) not in _TENSORS for site, node in ends):
                return
        site, node = ends[0]
        known, severity = site.is_tensor(node), _least(call, site)
        if severity is None:
            return
        what = "variable" if known is Known.VARIABLE else "tensor"
        if call.target is Target.KERAS3:
            yield self.report(
                call,
                f"The learning rate of `{kind_of(call)}` is a {what}, which raises ValueError with Keras 3. Give a "
                "number, or a schedule of `tf.keras.optimizers.schedules`.",
                severity,
                consequence=Consequence.BREAKS,
            )
        elif known is Known.VARIABLE or _reads_variable(site, node):
            yield self.report(
                call,
                f"The learning rate of `{kind_of(call)}` is read once from a {what}: it does not change with it. Give "
                "a schedule of `tf.keras.optimizers.schedules`, or assign to the optimizer's `learning_rate`.",
                Severity.INFO if severity is Severity.INFO else Severity.WARNING,
            )

    def fixed_part(self, site: Call) -> ast.expr | None:
        """The call that makes the rate."""
        made = _made(site)
        return None if made is None else made.call

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Make the schedule."""
        made = _made(site)
        parameters = _PARAMETERS.get(made.name.rpartition(".")[2]) if made is not None else None
        rate = site.value("learning_rate", 0)
        if made is None or parameters is None or rate is None or not _decay(site, rate) or made.has_stars:
            return None
        schedule = _SCHEDULES[made.name.rpartition(".")[2]]
        written = made.importable(f"tensorflow.keras.optimizers.schedules.{schedule}")
        new = keyworded(node, parameters, 0)
        step = "x" if parameters[0] == "x" else "global_step"
        given = [arg for arg in new.args if arg.keyword is not None and arg.keyword.value == step] if new else []
        if written is None or new is None or len(given) != 1:
            return None
        new = with_keywords(without_argument(new, given[0]), {"learning_rate": "initial_learning_rate"})
        return Replacement(with_function(new, written[0]), Applicability.UNSAFE, _REASON, written[1])


def _made(call: Call) -> Call | None:
    """The call that makes the learning rate, which nothing but the optimizer is given."""
    rate = call.value("learning_rate", 0)
    if not isinstance(rate, ast.Name):
        return call.file.call_at(rate)
    made = assignments_to(call, rate)
    reads = [one for one in call.file.references if (one.path or "").partition(".")[0] == rate.id]
    return made[0].value_call if len(made) == 1 and [one.syntax for one in reads] == [rate] else None


def _ends(call: Call, rate: ast.expr) -> Iterator[tuple[Site, ast.expr]]:
    """The learning rate as it is given, then what it comes from through parameters and results, and where that is."""
    yield call, rate
    for way in ways_to(call, rate):
        *_, (site, node) = stations(call, rate, way)
        if node is not None and node is not rate:
            yield site, node


def _least(*sites: Site) -> Severity | None:
    """How certain it is that all of some places run eagerly."""
    found = [certainty(site) for site in sites]
    order = (None, Severity.INFO, Severity.WARNING, Severity.ERROR)
    return min(found, key=order.index)


def _decay(call: Site, rate: ast.expr) -> str:
    """The function of TF1 that made a learning rate."""
    made = call.file.call_at(rate)
    names: tuple[Name, ...] = made.names if made is not None else call.names_of(rate)
    end = "" if made is not None else "()"
    found = {
        name.canonical.removeprefix("tensorflow.train.").removesuffix(end) if name.is_compat_v1 else ""
        for name in names
    }
    return found.pop() if len(found) == 1 and found <= set(_SCHEDULES) else ""


def _raises_the_step(call: Call) -> bool:
    """Whether the project may raise a step itself, by `assign_add`."""
    return any(other.method == "assign_add" for other in call.file.calls)


def _reads_variable(call: Site, rate: ast.expr) -> bool:
    """Whether the rate is worked out, where it is given, of a variable."""
    return isinstance(rate, ast.BinOp) and any(
        isinstance(part, ast.Name | ast.Attribute) and call.is_tensor(part) is Known.VARIABLE for part in ast.walk(rate)
    )
