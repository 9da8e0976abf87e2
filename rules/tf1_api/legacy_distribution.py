"""TF430: strategies of distribution, used as in their first versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Name, Reference
from ...linter.rule_api.rewriting import with_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .api_status import asks_for
from .graph_calls import named

if TYPE_CHECKING:
    import libcst

_OF_STRATEGY = re.compile(
    r"tensorflow\.distribute\.(?:(?:experimental\.)?[A-Za-z]+Strategy|get_strategy)\(\)\.[a-z_0-9]+"
)
_OLD = {
    "experimental_run": "use `run`",
    "make_dataset_iterator": "use `experimental_distribute_dataset`",
    "make_input_fn_iterator": "use `distribute_datasets_from_function`",
    "unwrap": "use `experimental_local_results`",
}
"""Methods that are there still, and deprecated."""
_DEVICES = {
    "tensorflow.train.replica_device_setter": "use `tf.distribute.ParameterServerStrategy`",
    "tensorflow.train.SyncReplicasOptimizer": "use `tf.distribute.MultiWorkerMirroredStrategy`",
}
_SERVERS = "tensorflow.distribute.experimental.ParameterServerStrategy"


class LegacyDistribution(Rule):
    """A strategy of `tf.distribute` is asked for what it had in its first versions.

    ## Why
    `experimental_run_v2` became `run`: calling it raises AttributeError, also of the strategies of `tf.compat.v1`.
    The strategies of TF2 have no `experimental_make_numpy_dataset` either, their `reduce` asks for an `axis`, and
    `tf.distribute.experimental.ParameterServerStrategy` for the resolver of a cluster: without them they raise
    TypeError.
    `make_dataset_iterator`, `experimental_run` and `unwrap` are deprecated and still work.
    `tf.train.replica_device_setter` and `SyncReplicasOptimizer` are there through compat.v1 only.

    What is a strategy the rule takes from where it is made.
    `experimental_run_v2` is reported for any object that is not known: no other library has a method of that name.

    ## Example
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()
    losses = strategy.experimental_run_v2(step, args=(batch,))
    ```

    ## Fix
    ```python
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()
    losses = strategy.run(step, args=(batch,))
    ```

    ## Fix safety
    Safe for a strategy: `run` takes what `experimental_run_v2` took, and `axis=None` is what `reduce` had by itself.
    Unsafe where nothing tells that an object with `experimental_run_v2` is a strategy. The others have no fix.

    ## Source
    - https://www.tensorflow.org/guide/migrate/mirrored_strategy
    - https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy
    """

    code = "TF430"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF406",)
    calls = (_SERVERS,)
    methods = ("experimental_run_v2", "experimental_make_numpy_dataset", "reduce", *_OLD)
    references = tuple(_DEVICES)

    @classmethod
    def effort_of(cls, subject: str | None) -> Effort:
        """Another name, where only that has changed."""
        return Effort.MECHANICAL if (subject or "").endswith("experimental_run_v2") else cls.effort

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """Speak of the placement of variables."""
        advice = {_DEVICES.get(one.canonical, "") for one in reference.names}
        if len(advice) == 1 and "" not in advice:
            yield from named(self, reference, "is for the graphs of TF1", *advice)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a method by what it is called on."""
        if call.version_checked or any(entity.kind not in ("external", "parameter") for entity in call.found):
            return
        if call.name == _SERVERS:
            if not call.is_compat_v1 and not call.arguments:
                yield self.report(
                    call,
                    "`ParameterServerStrategy()` raises TypeError without the resolver of a cluster. Give it one, or "
                    "use `tf.distribute.MirroredStrategy`.",
                )
        elif call.names and all(_OF_STRATEGY.fullmatch(one.canonical) for one in call.names):
            yield from self._method(call)
        elif call.method == "experimental_run_v2" and not call.names and _may_be_strategy(call):
            yield self.report(
                call,
                "`experimental_run_v2` is `run` now: calling it on a strategy raises AttributeError.",
                Severity.WARNING,
                subject="experimental_run_v2",
            )

    def _method(self, call: Call) -> Iterator[Diagnostic]:
        if call.method == "experimental_run_v2":
            if not _is_asked(call):
                yield self.report(call, f"`{call.path}` raises AttributeError on TF2: it is `run` now.")
        elif call.method in _OLD:
            yield self.report(
                call,
                f"`{call.path}` is deprecated, and still works: {_OLD[call.method]}.",
                Severity.INFO,
                consequence=Consequence.LEGACY,
            )
        elif not all(map(_is_of_v2, call.names)):
            return
        elif call.method == "experimental_make_numpy_dataset":
            yield self.report(
                call, f"`{call.path}` raises AttributeError on TF2: use `tf.data.Dataset.from_tensor_slices`."
            )
        elif call.method == "reduce" and call.value("axis", 2) is None and not call.has_stars:
            yield self.report(call, f"`{call.path}` without `axis` raises TypeError on TF2: pass `axis=None`.")

    def fix(self, node: libcst.BaseExpression, site: Call | Reference) -> Replacement | None:
        """Call `run`, or give `reduce` its axis."""
        import libcst

        if not isinstance(site, Call) or not isinstance(node, libcst.Call) or site.has_stars:
            return None
        if site.method == "reduce" and site.value("value", 1) is not None:
            return Replacement(with_argument(node, "axis", "None"))
        if site.method != "experimental_run_v2" or not isinstance(node.func, libcst.Attribute):
            return None
        new = node.with_changes(func=node.func.with_changes(attr=libcst.Name("run")))
        if site.names:
            return Replacement(new)
        return Replacement(new, Applicability.UNSAFE, "nothing tells that this is a strategy")


def _is_of_v2(name: Name) -> bool:
    return not name.is_compat_v1


def _may_be_strategy(call: Call) -> bool:
    """Whether the file imports TensorFlow, and does not ask which of the methods is there."""
    return any(one.absolute.partition(".")[0] == "tensorflow" for one in call.file.imports) and not _is_asked(call)


def _is_asked(call: Call) -> bool:
    return any(asks_for(call.file, name) for name in ("run", "experimental_run_v2"))
