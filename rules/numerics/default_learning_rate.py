"""TF605: optimizers of the old Keras package, whose default learning rate was another."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Call, Era, File, Name
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .optimizers import kind_of

_RATES = {"Adadelta": "1.0", "Adagrad": "0.01", "Adamax": "0.002", "Nadam": "0.002"}
_COMPILED = frozenset({"keras.Model().compile", "keras.Sequential().compile"})
_OLD = ("keras.backend.tensorflow_backend", "keras.backend.get_session", "keras.backend.set_session")
"""What the `keras` package had until 2.3, which was the last for TF1."""
_KEYWORDS = frozenset(
    {"W_regularizer", "border_mode", "dim_ordering", "nb_epoch", "nb_val_samples", "samples_per_epoch"}
)
"""Those of Keras 1, which it took until 2.3."""


class DefaultLearningRate(Rule):
    """An optimizer of the `keras` package for TF1 is made without a learning rate, and the default is lower today.

    ## Why
    Until Keras 2.3 `Adadelta()` learned at 1.0, `Adagrad()` at 0.01, `Adamax()` and `Nadam()` at 0.002; all four learn
    at 0.001 today, made by name too: `compile("adadelta")` takes steps a thousandth as long, and nothing raises.
    `Adagrad` also began its sums at 0, and begins at 0.1.
    `Adam`, `RMSprop` and `SGD` kept theirs, and `tf.keras.optimizers` had 0.001 in TF 1.15.
    Only a file that is written for TF1, that reads what `keras.backend` had until 2.3, or that gives an argument of
    Keras 1, such as `nb_epoch=`, tells that the old rate was meant.

    ## Example
    ```python
    import tensorflow as tf
    from keras.optimizers import Adadelta

    tf.set_random_seed(1)
    optimizer = Adadelta()
    ```

    ## Fix
    ```python
    import tensorflow as tf
    from keras.optimizers import Adadelta

    tf.random.set_seed(1)
    optimizer = Adadelta(learning_rate=1.0)
    ```

    ## Source
    - https://keras.io/api/optimizers/adadelta/
    - https://www.tensorflow.org/guide/effective_tf2
    """

    code = "TF605"
    severity = Severity.INFO
    consequence = Consequence.CHANGES
    effort = Effort.MECHANICAL
    calls = tuple(f"keras.optimizers.{kind}" for kind in _RATES)
    methods = ("compile",)
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge an optimizer that is made without a learning rate, or named to `compile`."""
        if not call.names or not all(name.spelled.startswith("keras.") for name in call.names):
            return
        kind = _named(call) if call.method == "compile" else _made(call)
        if kind not in _RATES or not _is_old(call.file):
            return
        advice = f"`learning_rate={_RATES[kind]}`" + (" and `initial_accumulator_value=0.0`" * (kind == "Adagrad"))
        written = f"`{kind}` by name" if call.method == "compile" else f"`{call.path}` without a learning rate"
        yield self.report(
            call,
            f"{written} learned at {_RATES[kind]} until Keras 2.3, and learns at 0.001 today. Give `{kind}` "
            f"{advice}.",
            related=call.file.era_told if call.file.era is Era.TF1 else (),
        )


def _made(call: Call) -> str:
    """The kind of optimizer that is surely made with its default learning rate, or an empty text."""
    if call.has_stars or "lr" in call.keywords or call.value("learning_rate", 0) is not None:
        return ""
    return kind_of(call)


def _named(call: Call) -> str:
    """The kind of optimizer that a model is compiled with by name, or an empty text."""
    if call.version_checked or not {name.canonical for name in call.names} <= _COMPILED:
        return ""
    given = call.literal("optimizer", 0)
    return given.capitalize() if isinstance(given, str) else ""


def _is_old(file: File) -> bool:
    return file.era is Era.TF1 or file.once("is of an old keras", lambda: _shows_age(file))


def _shows_age(file: File) -> bool:
    return any(_is_of_keras1(call) for call in file.calls) or bool(file.references_to(_are_old))


def _is_of_keras1(call: Call) -> bool:
    return bool(_KEYWORDS & set(call.keywords)) and call.spelled.startswith("keras.")


def _are_old(names: tuple[Name, ...]) -> bool:
    return any(name.spelled.startswith(_OLD) for name in names)
