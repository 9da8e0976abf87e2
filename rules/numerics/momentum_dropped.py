"""TF626: the momentum that a plain SGD leaves out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context, Reference
from ...linter.rule_api.rewriting import has_comment, keyworded, with_function, with_keywords, without_argument
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..checkpoints.assigned import assignments_to
from ..tf1_api.contexts import certainty
from .hints import is_first

if TYPE_CHECKING:
    import libcst

_PARAMETERS = ("learning_rate", "momentum", "use_locking", "name", "use_nesterov")
_REASON = "what Keras keeps of sparse gradients is other than in TF1, and a checkpoint of the old one has other names"


class MomentumDropped(Rule):
    """`MomentumOptimizer` becomes `tf.keras.optimizers.SGD`, whose momentum is 0 unless it is given.

    ## Why
    Keras has no optimizer of that name, and `SGD` asks for no momentum.
    Five steps of 0.1 with a gradient of 1 move a weight by 1.31 with a momentum of 0.9, and by 0.50 without it.
    With `momentum=0.9` SGD computes what `MomentumOptimizer` did, with `nesterov=True` what it did with
    `use_nesterov=True`.
    Said once for a file, as a hint for the day when it is replaced: under `tf.compat.v1` it stays as it was.

    ## Example
    ```python
    import tensorflow as tf

    optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    ```

    ## Fix safety
    Unsafe: Keras goes on with a momentum where a sparse gradient has none, and names it otherwise in checkpoints.
    It is offered where rate and momentum are numbers, the code surely runs eagerly, and the optimizer is given to
    `compile`, or to a name of which nothing but `apply_gradients` is called: Keras's optimizer has hardly any other
    method of that one.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/MomentumOptimizer
    - https://www.tensorflow.org/guide/migrate/metrics_optimizers
    """

    code = "TF626"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    beside = ("TF108", "TF406")  # where it is made, and that the name moved
    calls = ("tensorflow.train.MomentumOptimizer",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Tell of the momentum at the first call in a file that gives one."""
        if call.literal("momentum", 1) == 0 or not is_first(call, self.code):
            return
        nesterov = call.literal("use_nesterov", 3) not in (None, False)
        also = " and `nesterov=`, which was `use_nesterov=`" if nesterov else ""
        yield self.report(
            call,
            f"`tf.keras.optimizers.SGD`, which takes the place of `{call.path}`, has a momentum of 0 unless it is "
            f"given. Give it `momentum=`{also}.",
        )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Make the SGD of Keras, with the momentum."""
        written = site.importable("tensorflow.keras.optimizers.SGD")
        new = keyworded(node, _PARAMETERS, 1)
        if written is None or new is None or site.has_stars or not set(site.keywords) <= set(_PARAMETERS):
            return None
        if certainty(site) is not Severity.ERROR or site.in_trace or site.runs(Context.GRAPH):
            return None
        numbers = (site.value(name, place) for place, name in enumerate(_PARAMETERS[:2]))
        if not all(_is_number(site, number) for number in numbers):
            return None
        if not (_is_flag(site, 2) and _is_flag(site, 4) and isinstance(site.literal("name", 3, ""), str)):
            return None
        if not _is_compiled(site) and not _only_applies(site):
            return None
        for arg in new.args:
            if arg.keyword is not None and arg.keyword.value == "use_locking":
                around = [*new.args[-2:]] if arg is new.args[-1] else [arg]
                if has_comment(*around):
                    return None
                new = without_argument(new, arg)
        new = with_keywords(with_function(new, written[0]), {"use_nesterov": "nesterov"})
        return Replacement(new, Applicability.UNSAFE, _REASON, written[1])


def _is_number(site: Call, node: ast.expr | None) -> bool:
    """Whether a value is a number, or a name that is given nothing but numbers."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    made = assignments_to(site, node) if isinstance(node, ast.Name) else []
    return bool(made) and all(isinstance(one.value, ast.Constant) and _is_number(site, one.value) for one in made)


def _is_flag(site: Call, place: int) -> bool:
    return isinstance(site.literal(_PARAMETERS[place], place, default=False), bool)


def _is_compiled(site: Call) -> bool:
    """Whether the optimizer is that of a `compile`."""
    parent = site.file.parent_of(site.call)
    parent = site.file.parent_of(parent) if isinstance(parent, ast.keyword) else parent
    around = site.file.call_at(parent) if isinstance(parent, ast.Call) else None
    return around is not None and around.method == "compile" and around.value("optimizer", 0) is site.call


def _only_applies(site: Call) -> bool:
    """Whether the optimizer has one name, of which `apply_gradients` is called with the gradients, and nothing else."""
    statement = site.statement
    if not isinstance(statement, ast.Assign) or statement.value is not site.call or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or len(assignments_to(site, target)) != 1:
        return False
    found = site.file.index.lookup(site.scope, target.id)
    for reference in site.file.references:
        path = reference.path or ""
        if path.partition(".")[0].partition("[")[0].partition("(")[0] != target.id:
            continue
        bound = site.file.index.lookup(reference.scope, target.id)
        if found is None or bound is None or bound[0] is not found[0]:
            continue
        call = site.file.call_at(_parent(reference))
        if call is None or call.call.func is not reference.syntax or call.path != f"{target.id}.apply_gradients":
            return False
        if not call.discarded or len(call.arguments) != 1 or call.has_stars:
            return False
    return True


def _parent(reference: Reference) -> ast.expr | None:
    parent = reference.file.parent_of(reference.syntax)
    return parent if isinstance(parent, ast.expr) else None
