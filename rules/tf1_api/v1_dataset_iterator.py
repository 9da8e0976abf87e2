"""TF412: iterators of datasets as sessions ran them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, Context, Era
from ...linter.rule_api.rewriting import has_comment, with_function
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .api_status import is_plain
from .contexts import certainty
from .graph_calls import judged

if TYPE_CHECKING:
    import libcst

_ONE_SHOT, _INITIALIZABLE = "make_one_shot_iterator", "make_initializable_iterator"
_FUNCTIONS = (f"tensorflow.data.{_ONE_SHOT}", f"tensorflow.data.{_INITIALIZABLE}")
_ADVICE = "use `iter(dataset)`, or a loop over it"


class V1DatasetIterator(Rule):
    """A dataset is asked for an iterator of TF1.

    ## Why
    A dataset of TF2 has no `make_one_shot_iterator` and no `make_initializable_iterator`: AttributeError.
    A dataset of `tf.compat.v1.data` has both, and so has the module; what is to be initialized raises RuntimeError in
    eager execution: "Use Python-style iteration instead."
    What `iter(dataset)` gives has `get_next`, too, and needs no initializer.

    ## Example
    ```python
    import tensorflow as tf

    iterator = tf.data.Dataset.range(3).make_one_shot_iterator()
    value = iterator.get_next()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    iterator = iter(tf.data.Dataset.range(3))
    value = next(iterator)
    ```

    ## Fix safety
    Safe where it is known to be a dataset: in surely eager code, `iter` makes the iterator that TF1 made there, and its
    `get_next` is left as it is, which still ends with OutOfRangeError. Elsewhere, in a graph too, compat.v1's function
    is called, which does what the method did.
    Unsafe where only the name of the method tells that it is a dataset.
    There is no fix in a trace, nor for what is to be initialized outside of a graph.

    ## Source
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/data/make_one_shot_iterator
    - https://www.tensorflow.org/guide/data
    """

    code = "TF412"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    recipe = "input-pipelines"
    supersedes = ("TF406",)
    calls = _FUNCTIONS
    methods = (_ONE_SHOT, _INITIALIZABLE)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if call.version_checked or any(one.kind in ("class", "function") for one in call.found):
            return
        if call.name in _FUNCTIONS:
            if is_plain(call) or call.name.endswith(_INITIALIZABLE):
                yield from judged(self, call, "RuntimeError", _ADVICE)
        elif call.is_compat_v1:
            if call.method == _INITIALIZABLE:
                yield from judged(self, call, "RuntimeError", _ADVICE)
        elif call.names and all(name.canonical.startswith("tensorflow.data.") for name in call.names):
            yield self.report(
                call, f"A dataset has no `{call.method}` in TF2: that raises AttributeError. Instead, {_ADVICE}."
            )
        elif not call.names and call.file.era is Era.TF1:
            yield self.report(
                call,
                f"A dataset has no `{call.method}` in TF2: that raises AttributeError. Instead, {_ADVICE}.",
                Severity.WARNING,
                related=call.file.era_told,
            )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Iterate as Python does, or call the function of compat.v1."""
        import libcst

        name = site.name.rpartition(".")[2] if site.name in _FUNCTIONS else site.method
        called = node if site.name in _FUNCTIONS else _as_function(node)
        if called is None or site.has_stars or site.in_trace or site.is_compat_v1:
            return None
        if has_comment(*(arg.equal for arg in called.args if isinstance(arg.equal, libcst.AssignEqual))):
            return None
        if (name == _INITIALIZABLE and not site.in_graph) or (name == _ONE_SHOT and len(called.args) != 1):
            return None
        reason = "" if site.names else f"only `{name}` tells that this is a dataset"
        applicability = Applicability.UNSAFE if reason else Applicability.SAFE
        if name == _ONE_SHOT and _is_eager(site):
            return Replacement(_iterated(called), applicability, reason)
        written = site.importable(f"tensorflow.compat.v1.data.{name}")
        if written is None:
            return None
        return Replacement(with_function(called, written[0]), applicability, reason, written[1])


def _is_eager(call: Call) -> bool:
    """Whether `iter`, as Python means it, is surely called in eager execution."""
    if call.file.index.lookup(call.scope, "iter") is not None:
        return False
    return certainty(call) is Severity.ERROR and call.proven_eager and not call.runs(Context.GRAPH)


def _iterated(node: libcst.Call) -> libcst.Call:
    """`iter` of the one argument of a call."""
    import libcst

    given = node.args[0].with_changes(keyword=None, equal=libcst.MaybeSentinel.DEFAULT)
    return with_function(node, "iter").with_changes(args=[given])


def _as_function(node: libcst.Call) -> libcst.Call | None:
    """A call of the function that does what a method does, of the same name; None where a comment would be lost."""
    import libcst

    func = node.func
    if not isinstance(func, libcst.Attribute) or func.lpar:
        return None
    if has_comment(func.dot, node.whitespace_before_args, node.whitespace_after_func):
        return None
    dataset, before = func.value, node.whitespace_before_args
    after: libcst.BaseParenthesizableWhitespace = libcst.SimpleWhitespace("")
    if len(dataset.lpar) == 1 and isinstance(dataset, (libcst.Call, libcst.Name, libcst.Attribute, libcst.Subscript)):
        before, after = dataset.lpar[0].whitespace_after, dataset.rpar[0].whitespace_before
        dataset = dataset.with_changes(lpar=[], rpar=[])
    given = libcst.Arg(dataset, whitespace_after_arg=after)
    if node.args:
        given = given.with_changes(comma=libcst.Comma(whitespace_after=libcst.SimpleWhitespace(" ")))
    return node.with_changes(whitespace_before_args=before, args=[given, *node.args])
