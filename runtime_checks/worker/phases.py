"""The steps of a run, in order, and what each of them does."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Tuple

from . import inputs, target
from .errors import essence
from .run import Phase, Run
from .scopes import assert_no_variable_creations, catch_and_raise_created_variables

__all__ = ["BUILD", "IMPORT", "NotRunError", "after_build"]

IMPORT = "import"
BUILD = "build"
ASSERT = "call inside assert_no_variable_creations"
CATCH = "call inside catch_and_raise_created_variables"

Step = Tuple[Phase, Callable[[], None]]


class NotRunError(Exception):
    """A phase does not apply to this model; the text says why."""


def load(run: Run) -> Any:
    """Import the user's module."""
    return target.load(run.job)


def build(run: Run, loaded: Any) -> None:
    """Build the model and find its sample inputs."""
    built = target.build(loaded)
    run.model, run.keeper, run.module = built.model, built.tracked, loaded.module
    run.sample = inputs.find(built.model, built.inputs, run.module, run.job)
    run.notes.append(f"inputs: {run.sample.source}")


def after_build(run: Run) -> list[Step]:
    """Everything that is done with a model that was built."""
    steps = [
        _call(run, "first call"),
        _call(run, "second call"),
        _in_scope(run, ASSERT, assert_no_variable_creations, "Attempted to create a new variable"),
        _in_scope(run, CATCH, catch_and_raise_created_variables, "Created vars:"),
        _other_batch(run, "call with another batch size", None),
    ]
    for mode, word in ((True, "training"), (False, "inference")):
        steps += [_call(run, f"first {word} call", mode), _call(run, f"second {word} call", mode)]
    traced = _Traced(run)
    steps += [
        _traced(run, "first call in tf.function", traced, None),
        _traced(run, "second call in tf.function", traced, None),
        _other_batch(run, "call with another batch size in tf.function", traced),
        _traced(run, "first training call in tf.function", traced, True),
        _traced(run, "second training call in tf.function", traced, True),
        (Phase("fit", "fit", True), lambda: _fit(run)),
        (Phase("save and load", "save"), lambda: _save_and_load(run)),
    ]
    return steps


class _Traced:
    """The model inside ``tf.function``, one function for each mode."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._functions: Any = {}

    def __call__(self, sample: Any, mode: bool | None) -> Any:
        import tensorflow as tf

        if mode not in self._functions:
            model, extra = self._run.model, _extra(mode)

            def forward(*arguments: Any, **keywords: Any) -> Any:
                return model(*arguments, **dict(keywords, **extra))

            self._functions[mode] = tf.function(forward)
        return self._functions[mode](*sample.args, **sample.kwargs)


def _extra(mode: bool | None) -> Any:
    return {} if mode is None else {"training": mode}


def _require_mode(run: Run, mode: bool | None) -> None:
    if mode is not None and not inputs.takes_training(run.model):
        raise NotRunError("the model takes no `training`")


def _call(run: Run, name: str, mode: bool | None = None) -> Step:
    def body() -> None:
        _require_mode(run, mode)
        output = inputs.call(run.model, run.sample, **_extra(mode))
        if mode is None:
            run.output = output

    return Phase(name, "call", mode), body


def _in_scope(run: Run, name: str, scope: Any, message: str) -> Step:
    def body() -> None:
        said = "nothing"
        try:
            with scope():
                inputs.call(run.model, run.sample)
        except ValueError as error:
            if message not in str(error):
                raise
            created = error.args[1] if len(error.args) > 1 else None
            said = f"ValueError: Created vars: {_names(created)}" if created else essence(error)
        run.scopes.append((scope.__name__, said))

    return Phase(name, "call"), body


def _names(variables: Any) -> str:
    """Names, each once, of the variables in the scope's message, which holds their values too."""
    names = [str(getattr(variable, "name", variable)) for variable in variables]
    distinct = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
    return f"{len(names)} variable{'s' if len(names) > 1 else ''}, {distinct}"


def _other_batch(run: Run, name: str, traced: _Traced | None) -> Step:
    def body() -> None:
        sample = inputs.other_batch(run.sample)
        if sample is None:
            raise NotRunError("no input has a batch axis")
        if traced is None:
            inputs.call(run.model, sample)
        else:
            traced(sample, None)

    return Phase(name, "call" if traced is None else "traced"), body


def _traced(run: Run, name: str, traced: _Traced, mode: bool | None) -> Step:
    def body() -> None:
        _require_mode(run, mode)
        traced(run.sample, mode)

    return Phase(name, "traced", mode), body


def _fit(run: Run) -> None:
    """Two steps of ``fit`` with the model's own loss, or with a squared error to zeros where it has none."""
    import tensorflow as tf

    model = _keras_model(run)
    if len(run.sample.args) != 1 or run.sample.kwargs:
        raise NotRunError("fit gives a model one structure of inputs")
    if run.output is None:
        raise NotRunError("no call gave an output")
    loss = getattr(model, "loss", None)
    if not getattr(model, "compiled", getattr(model, "_is_compiled", False)):
        if not all(value.dtype.is_floating for value in _tensors(run.output)):
            raise NotRunError("the outputs have no loss: they are not floating point")
        model.compile(optimizer="sgd", loss="mse")
        loss = "mse"
    targets = tf.nest.map_structure(lambda value: _target(value, loss), run.output)
    steps = tf.data.Dataset.from_tensors((run.sample.args[0], targets)).repeat(2)
    model.fit(steps, epochs=1, verbose=0, shuffle=False)


def _tensors(output: Any) -> list[Any]:
    import tensorflow as tf

    return [tf.convert_to_tensor(value) for value in tf.nest.flatten(output)]


def _target(value: Any, loss: Any) -> Any:
    import tensorflow as tf

    sparse = "sparse" in str(getattr(loss, "name", loss)).lower()
    if sparse and len(value.shape) > 1:
        return tf.zeros(tf.shape(value)[:-1], tf.int32)
    return tf.zeros_like(value)


def _keras_model(run: Run) -> Any:
    import tensorflow as tf

    if isinstance(run.model, tf.keras.Model):
        return run.model
    if isinstance(run.model, tf.keras.layers.Layer):
        return tf.keras.Sequential([run.model])
    raise NotRunError("it is no Keras model or layer")


def _classes(run: Run) -> dict[str, Any]:
    made = [event.subject() for event in run.events if event.kind == "layer"]
    return {type(layer).__name__: type(layer) for layer in [*made, run.model] if layer is not None}


def _save_and_load(run: Run) -> None:
    """Save the whole model in the ``.keras`` format and load it, with the classes of all layers that were made."""
    import tensorflow as tf

    if not isinstance(run.model, tf.keras.Model):
        raise NotRunError("only a Keras model is saved whole")
    path = os.path.join(tempfile.gettempdir(), "model.keras")
    try:
        run.model.save(path)
        tf.keras.models.load_model(path, custom_objects=_classes(run), compile=False)
    finally:
        if os.path.exists(path):
            os.unlink(path)
