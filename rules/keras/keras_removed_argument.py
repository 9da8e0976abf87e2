"""TF310: keywords of Keras that the target's Keras does not take."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Target, literal_string
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from ..tf1_api.signatures import is_of_tf2
from .members import member_of, refuses

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

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    """

    code = "TF310"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
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
