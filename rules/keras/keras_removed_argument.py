"""TF310: keywords of Keras that the target's Keras does not take."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import UNKNOWN, Call, Target, is_none, literal_string
from ...linter.rule_api.rewriting import (
    argument,
    expression,
    has_comment,
    text_of,
    with_argument,
    with_keywords,
    without_argument,
)
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..tf1_api.signatures import is_of_tf2
from .members import member_of, refuses

if TYPE_CHECKING:
    import libcst

_ADVICE = {
    "alpha": "It is `negative_slope=` now",
    "batch_input_shape": "Put `keras.Input(batch_shape=...)` before the layer",
    "causal": "Give `use_causal_mask=True` to the call",
    "dynamic": "Leave it out; `compile(run_eagerly=True)` runs Python at each call",
    "grayscale": "Give `color_mode=\"grayscale\"`",
    "l": "It is `l1=` or `l2=` now, as the function is called",
    "max_queue_size": "Leave it out, or give it to a `keras.utils.PyDataset`",
    "partitioner": "Leave it out",
    "period": "Give `save_freq=`",
    "reset_metrics": "Call `reset_metrics()` between the steps",
    "time_major": "Transpose what goes in and what comes out",
    "type_spec": "Give `shape=` and `dtype=`",
    "use_multiprocessing": "Leave it out, or give it to a `keras.utils.PyDataset`",
    "weights": "Give an initializer, or call `set_weights` once the layer is built",
    "workers": "Leave it out, or give it to a `keras.utils.PyDataset`",
    "y": "It is `x=` now",
}
_NAMED = ("keras.Input", "keras.Model", "keras.Sequential")
_NO_MATTER = {
    "autocast": (True,),
    "causal": (False,),
    "distribute": (None,),
    "dynamic": (False,),
    "embeddings_data": (None,),
    "embeddings_layer_names": (None,),
    "fused": (None, False),
    "groups": (1,),
    "implementation": (0, 1, 2),
    "load_weights_on_restart": (False,),
    "max_queue_size": (10,),
    "noise_shape": (None,),
    "options": (None,),
    "partitioner": (None,),
    "period": (1,),
    "sample_weight_mode": (None,),
    "sparse": (False,),
    "stateful_metrics": (None,),
    "target_tensors": (None,),
    "time_major": (False,),
    "trainable": (True,),
    "use_multiprocessing": (False,),
    "use_resource": (None, True),
    "verify_shape": (False,),
    "virtual_batch_size": (None,),
    "weights": (None,),
    "workers": (1,),
    "write_grads": (False,),
}
"""What Keras 2 did the same with as without: the keyword is left out."""
_LOADING = ("max_queue_size", "use_multiprocessing", "workers")
_METHODS = ("Model.evaluate", "Model.fit", "Model.predict")
_RENAMED = {
    "activations.relu": {"alpha": "negative_slope"},
    "regularizers.l1": {"l": "l1"},
    "regularizers.l2": {"l": "l2"},
    "utils.to_categorical": {"y": "x"},
}
"""The same parameter under another name."""
_FLOAT32 = ("float32", "tensorflow.float32")
_RECURRENT = ("layers.GRU", "layers.LSTM", "layers.RNN", "layers.SimpleRNN")
_OF_INPUT = frozenset({"batch_size", "dtype", "input_shape"})
"""What else says of the input of a layer; its dtype was that of the layer in Keras 2."""
_COUNTS = ("multiprocessing.cpu_count", "os.cpu_count")
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
"""What can be left out without anything that was done not being done any more."""


class KerasRemovedArgument(Rule):
    """Keras is given a keyword, a name or a shape that the target's Keras refuses.

    ## Why
    Keras 3 raises for `batch_input_shape=`, `weights=` and `dynamic=` of a layer, `period=` of `ModelCheckpoint`,
    `workers=` and `use_multiprocessing=` of `fit`, `l2(l=0.1)`, `BatchNormalization(fused=...)` and some hundred more,
    which Keras 2 took or ignored.
    It also raises for a name with a slash, and for a shape that is a number: `Input(20)` and `Input(shape=(20))`.
    Which keywords are refused was found by giving each to the installed Keras.
    Methods are judged where the code tells what they are of.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, batch_input_shape=(8, 2))])
    model.compile("adam", "mse")
    model.fit(x, y, workers=4)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input(batch_shape=(8, 2)), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y)
    ```

    ## Fix safety
    Safe where a keyword is left out that did nothing, such as `dynamic=False`, `period=1`, or `workers=` of a `fit`
    that is given labels beside its data, or where the same is said in another way: `l2(l=0.1)` is `l2(l2=0.1)`,
    `batch_input_shape=(None, 2)` is `input_shape=(2,)`, `Input(20)` is `Input((20,))`.
    Unsafe where `workers=` and its like may have loaded data ahead, where `fused=True` corrected the moving variance,
    where `write_grads=True` is left out, and for `to_categorical(y=...)`, which gives numbers of 64 bits now.
    Whatever else did something has no fix, nor has a call with stars.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    """

    code = "TF310"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    recipe = "keras3"
    supersedes = ("TF408",)
    calls = ("keras.*",)
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge the keywords, the name and the shape that a call gives."""
        if (not call.call.args and not call.call.keywords) or not is_of_tf2(call):
            return
        name = call.names[0]
        function = _function(call)
        gone = [one for one in call.keywords if function and refuses(name, function, one, call.target)]
        if gone:
            advice = list(dict.fromkeys(_advice(function, one) for one in gone))
            words = " and no ".join(f"`{one}=`" for one in gone)
            where = "in Keras 3" if call.target is Target.KERAS3 else "any more"
            yield self.report(
                call, f"`{call.path or call.method}` takes no {words} {where}: that raises. {'. '.join(advice)}."
            )
        elif call.target is Target.KERAS3 and not name.spelled.startswith("tf_keras"):
            yield from self._name_and_shape(call, function)

    def _name_and_shape(self, call: Call, function: str) -> Iterator[Diagnostic]:
        made = (function.startswith("layers.") and function.count(".") == 1) or call.name in _NAMED
        given = literal_string(call.value("name"))
        if (made or function == "layers.Layer.add_weight") and given is not None and "/" in given:
            yield self.report(
                call, f"Keras 3 raises ValueError for a name with a slash, as in `{given[:30]}`. Put another character."
            )
        elif call.name == "keras.Input":
            shape = call.value("shape", 0)
            if isinstance(shape, ast.Constant) and type(shape.value) is int:
                yield self.report(
                    call,
                    f"Keras 3 raises ValueError for a shape that is a number. Give a tuple, `({shape.value},)`.",
                )

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Leave out the keywords that did nothing, and give the others by the names that they have."""
        function = _function(site)
        if len(site.names) != 1 or site.has_stars:
            return None
        gone = [one for one in site.keywords if refuses(site.names[0], function, one, site.target)]
        if site.name == "keras.Input" and not gone:
            return _with_tuple(node, site)
        new, reasons = node, []
        for keyword in gone:
            if argument(new, keyword) is None:
                continue  # it went with another one
            changed = _changed(new, site, function, keyword)
            if changed is None:
                return None
            new = changed[0]
            reasons += [changed[1]] if changed[1] else []
        if new is node:
            return None
        reason = "; ".join(dict.fromkeys(reasons))
        return Replacement(new, Applicability.UNSAFE if reason else Applicability.SAFE, reason)


def _changed(node: libcst.Call, site: Call, function: str, keyword: str) -> tuple[libcst.Call, str] | None:
    """The call without a keyword, or with another one for it, and what a person has to look at; None for no fix."""
    given, value = argument(node, keyword), site.value(keyword)
    assert given is not None
    renamed = _RENAMED.get(function, {}).get(keyword)
    if renamed is not None:
        reason = "the result has numbers of 64 bits now, and had 32" if keyword == "y" else ""
        return (with_keywords(node, {keyword: renamed}), reason) if renamed not in site.keywords else None
    new = None
    if keyword == "batch_input_shape":
        new = _with_shape(node, site, function)
    elif keyword == "input_length" and function in _RECURRENT:
        new = _with_steps(node, site)
    elif keyword == "grayscale" and len(site.call.args) < 2 and site.literal(keyword) is True:
        new = with_argument(node, "color_mode", '"grayscale"', given) if "color_mode" not in site.keywords else None
    if new is not None:
        return new, ""
    why = _unheeded(site, function, keyword, value) if not has_comment(given) else None  # it would move
    return (without_argument(node, given), why) if why is not None else None


def _unheeded(site: Call, function: str, keyword: str, value: ast.expr | None) -> str | None:
    """What a person has to look at where a keyword is left out: an empty text where it did nothing, None for no fix."""
    literal = site.literal(keyword)
    if any(type(literal) is type(one) and literal == one for one in _NO_MATTER.get(keyword, ())):
        return ""
    if keyword == "dtype" and function.startswith("initializers."):
        is_it = literal in _FLOAT32 if literal is not UNKNOWN else _is_float32(site, value)
        return "" if is_it else None
    if keyword == "fused" and literal is True:
        return "`fused=True` corrected the moving variance for the size of the batch, which Keras 3 does not"
    if keyword == "write_grads" and literal is True:
        return "the histograms of gradients are not written, as in all of TF2"
    if keyword in _LOADING and function in _METHODS and value is not None and _is_plain(site, value):
        if function != "Model.predict" and _is_given_labels(site):
            return ""
        return "data of a generator or a Sequence were loaded ahead, which is asked of `keras.utils.PyDataset` now"
    return None


def _is_given_labels(site: Call) -> bool:
    """Whether the data, and those to validate with, are none that could be loaded ahead: labels stand beside them."""
    validation = site.value("validation_data", 7)
    has_labels = site.value("y", 1) is not None and site.literal("y", 1) is not None
    return has_labels and (isinstance(validation, ast.Tuple) or site.literal("validation_data", 7) is None)


def _is_float32(site: Call, value: ast.expr | None) -> bool:
    names = site.names_of(value)
    return len(names) == 1 and names[0].canonical in _FLOAT32


def _is_plain(site: Call, value: ast.expr) -> bool:
    """Whether nothing happens when a value is made, but for asking how many processors there are."""
    if isinstance(value, ast.Call):
        names = site.names_of(value.func)
        return not value.args and not value.keywords and len(names) == 1 and names[0].spelled in _COUNTS
    return all(isinstance(one, _PLAIN) for one in ast.walk(value))


def _with_shape(node: libcst.Call, site: Call, function: str) -> libcst.Call | None:
    """A layer whose shape is given without that of the batch, where this is any."""
    import libcst

    given, shape = argument(node, "batch_input_shape"), site.value("batch_input_shape")
    if given is None or not isinstance(given.value, libcst.Tuple | libcst.List):
        return None
    if not isinstance(shape, ast.Tuple | ast.List) or not shape.elts or not is_none(shape.elts[0]):
        return None
    rest = given.value.elements[1:]
    if any(isinstance(one, libcst.StarredElement) for one in rest) or _OF_INPUT & set(site.keywords):
        return None
    if not function.startswith("layers.") or refuses(site.names[0], function, "input_shape", site.target):
        return None
    new = given.value.with_changes(elements=rest)
    if isinstance(new, libcst.Tuple) and len(rest) == 1 and not isinstance(rest[0].comma, libcst.Comma):
        new = new.with_changes(elements=[rest[0].with_changes(comma=libcst.Comma())])
    arg = given.with_changes(keyword=libcst.Name("input_shape"), value=new)
    return node.with_changes(args=[arg if one is given else one for one in node.args])


def _with_steps(node: libcst.Call, site: Call) -> libcst.Call | None:
    """A recurrent layer whose shape is given whole, in place of the number of steps and that of features."""
    steps, features = argument(node, "input_length"), argument(node, "input_dim")
    values = [site.value("input_length"), site.value("input_dim")]
    if steps is None or features is None or _OF_INPUT & set(site.keywords):
        return None
    if not all(isinstance(one, ast.Name | ast.Constant) for one in values):
        return None
    shape = f"({text_of(steps.value)}, {text_of(features.value)})"
    first, second = (one for one in node.args if one is steps or one is features)
    if has_comment(second):
        return None
    node = without_argument(node, second)
    return with_argument(node, "input_shape", shape, next(one for one in node.args if one.value is first.value))


def _with_tuple(node: libcst.Call, site: Call) -> Replacement | None:
    """A call whose first shape, a number, is a tuple."""
    import libcst

    given, value = argument(node, "shape", 0), site.value("shape", 0)
    if given is None or not isinstance(value, ast.Constant) or type(value.value) is not int:
        return None
    number = given.value
    if not isinstance(number, libcst.Integer) or len(number.lpar) > 1:
        return None
    shape = expression("(0,)")
    assert isinstance(shape, libcst.Tuple)
    item = libcst.Element(number.with_changes(lpar=[], rpar=[]), comma=libcst.Comma())
    shape = shape.with_changes(elements=[item], lpar=number.lpar or shape.lpar, rpar=number.rpar or shape.rpar)
    args = [one.with_changes(value=shape) if one is given else one for one in node.args]
    return Replacement(node.with_changes(args=args))


def _advice(function: str, keyword: str) -> str:
    if keyword == "batch_size" and function.startswith("layers."):
        return "Put `keras.Input(batch_size=...)` before the layer"
    if keyword.startswith("kernel_"):
        return f"Give `{keyword.replace('kernel', 'depthwise')}=`"
    return _ADVICE.get(keyword, "Leave it out")


def _function(call: Call) -> str:
    """What is called, below ``keras``: ``layers.Dense``, ``Model.fit``, ``layers.Layer.add_weight``."""
    member = member_of(call.names[0])
    if member is not None:
        return f"{'layers.' if member.kind == 'Layer' else ''}{member.kind}.{member.name}"
    return "" if "(" in call.name else call.name.removeprefix("keras.")
