"""The steps of a run, in order, and what each of them does."""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import re
import tempfile
import textwrap
from typing import Any, Callable, Iterator, Tuple

from . import inputs, target
from .errors import essence, text_of
from .hooks.variables import attempted
from .phases import Phase
from .run import Run
from .scopes import assert_no_variable_creations, catch_and_raise_created_variables

__all__ = ["NotRunError", "after_build", "build", "load"]

_NO_TRAINING = "the model takes no `training`"

Step = Tuple[Phase, Callable[[], None]]


class NotRunError(Exception):
    """A phase does not apply to this model; the text says why."""


def load(run: Run) -> Any:
    """Import the user's module."""
    return target.load(run.job)


def build(run: Run, loaded: Any) -> None:
    """Build the model and find its sample inputs."""
    with target.keeping_owners() as run.owners:
        built = target.build(loaded)
    run.model, run.keeper, run.module = built.model, built.tracked, loaded.module
    run.sample = inputs.find(built.model, built.inputs, run.module, run.job)
    run.notes.append(f"inputs: {run.sample.source}")


def after_build(run: Run) -> list[Step]:
    """Everything that is done with a model that was built."""
    steps = [
        *_twice(run, None),
        _in_scope(run, assert_no_variable_creations, "Attempted to create a new variable"),
        _in_scope(run, catch_and_raise_created_variables, "Created vars:"),
        _other_batch(run, None),
        *_twice(run, True),
        *_twice(run, False),
    ]
    traced = _Traced(run)
    return [
        *steps,
        *_twice(run, None, traced),
        _other_batch(run, traced),
        *_twice(run, True, traced),
        (Phase("fit", mode=True, traced=True), lambda: _fit(run)),
        (Phase("save"), lambda: _save_and_load(run)),
    ]


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
                output = model(*arguments, **dict(keywords, **extra))
                return [value for value in tf.nest.flatten(output) if tf.is_tensor(value)]

            self._functions[mode] = tf.function(forward)
        return self._functions[mode](*sample.args, **sample.kwargs)


def _extra(mode: bool | None) -> Any:
    return {} if mode is None else {"training": mode}


@contextlib.contextmanager
def _in_mode(run: Run, mode: bool | None) -> Iterator[None]:
    """Raises `NotRunError` where the model turns out to take no ``training``."""
    if mode is not None and not inputs.takes_training(run.model):
        raise NotRunError(_NO_TRAINING)
    try:
        yield
    except TypeError as error:
        refused = "unexpected keyword argument 'training'" in text_of(error)
        if mode is None or not refused or inputs.names_training(run.model):
            raise
        raise NotRunError(_NO_TRAINING) from None


def _twice(run: Run, mode: bool | None, traced: _Traced | None = None) -> list[Step]:
    """The same call, made and repeated."""

    def body() -> None:
        with _in_mode(run, mode):
            if traced is not None:
                traced(run.sample, mode)
                return
            with _strategy_of(run.model):
                output = inputs.call(run.model, run.sample, **_extra(mode))
        if mode is None:
            run.output = output

    return [(Phase("call", mode=mode, ordinal=number, traced=traced is not None), body) for number in range(2)]


def _strategy_of(model: Any) -> Any:
    """The scope of the strategy that a model was made in, for it refuses variables that were not made there."""
    import tensorflow as tf

    strategy = getattr(model, "distribute_strategy", None)
    if not isinstance(strategy, tf.distribute.Strategy) or strategy is tf.distribute.get_strategy():
        return contextlib.nullcontext()
    return strategy.scope()


def _in_scope(run: Run, scope: Any, message: str) -> Step:
    def body() -> None:
        said = "nothing"
        try:
            with scope():
                inputs.call(run.model, run.sample)
        except ValueError as error:
            if message not in str(error):
                raise
            created = error.args[1] if len(error.args) > 1 else None
            said = f"ValueError: Created vars: {_names(created)}" if created else _refusal(error)
            run.scopes.append((scope.__name__, said))
            if scope is assert_no_variable_creations:
                _keep_attempt(run, error)
            if scope is catch_and_raise_created_variables and error.__cause__ is not None:
                raise error.__cause__ from None
        else:
            run.scopes.append((scope.__name__, said))

    return Phase("call", scope=scope.__name__), body


def _refusal(error: ValueError) -> str:
    """The message of the scope with one of the arguments of the creation, its name; the others are mostly objects."""
    message, _, arguments = essence(error).partition(" Args: {")
    name = re.search(r"'name': ('[^']*')", arguments)
    return message if name is None else f"{message} Its name: {name[1]}"


def _keep_attempt(run: Run, error: ValueError) -> None:
    """Record the creation that the scope refused, unless an earlier call showed what the same line makes again."""
    place = [frame[:2] for frame in run.code.of_error(error)[:1]]
    for event in run.events("variable"):
        if event.phase.follow_up and [frame[:2] for frame in event.frames[:1]] == place:
            return
    run.recorder.record("variable", lambda: attempted(error, run.recorder))


def _names(variables: Any) -> str:
    """Names, each once, of the variables in the scope's message, which holds their values too."""
    names = [str(getattr(variable, "name", variable)) for variable in variables]
    distinct = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
    return f"{len(names)} variable{'s' if len(names) > 1 else ''}, {distinct}"


def _other_batch(run: Run, traced: _Traced | None) -> Step:
    def body() -> None:
        sample = inputs.other_batch(run.sample)
        if sample is None:
            raise NotRunError("no input has a batch axis")
        if traced is None:
            inputs.call(run.model, sample)
        else:
            traced(sample, None)

    return Phase("call", batch=1, traced=traced is not None), body


def _fit(run: Run) -> None:
    """Two steps of ``fit`` with the model's own loss, or with a squared error to zeros where it has none.

    A model that has a ``train_step`` of its own and was compiled without a loss is given its inputs alone, unless that
    takes what it is given apart, and the inputs have no such parts.
    """
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
    data: Any = _in_tuples(run.sample.args[0])
    own_step = type(model).train_step is not tf.keras.Model.train_step
    parts = _parts_taken(type(model).train_step) if own_step else 0
    is_made_of_them = isinstance(data, tuple) and len(data) == parts
    inputs_alone = not loss and own_step and (not parts or is_made_of_them)
    if not inputs_alone:
        data = (data, _in_tuples(_targets(model, run.output, loss)))
    model.fit(tf.data.Dataset.from_tensors(data).repeat(2), epochs=1, verbose=0, shuffle=False)


def _parts_taken(train_step: Any) -> int:
    """Of how many parts a ``train_step(self, data)`` takes its data to be, as in ``x, y = data``; 0 if of none."""
    try:
        function = ast.parse(textwrap.dedent(inspect.getsource(train_step))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return 0
    parameters = function.args.args if isinstance(function, ast.FunctionDef) else []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and len(parameters) == 2:
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and len(target.elts) > 1 and node.value.id == parameters[1].arg:
                return len(target.elts)
    return 0


def _in_tuples(value: Any) -> Any:
    """The same structure with tuples for lists, which ``tf.data`` would make one tensor of."""
    if isinstance(value, dict):
        return {key: _in_tuples(part) for key, part in value.items()}
    if isinstance(value, list) or type(value) is tuple:
        return tuple(map(_in_tuples, value))
    return value


def _tensors(output: Any) -> list[Any]:
    import tensorflow as tf

    return [tf.convert_to_tensor(value) for value in tf.nest.flatten(output)]


def _targets(model: Any, output: Any, loss: Any) -> Any:
    """Targets of zeros, each of a shape that the loss of its output takes."""
    import tensorflow as tf

    if isinstance(loss, dict) and isinstance(output, dict):
        return {name: _targets(model, value, loss.get(name)) for name, value in output.items()}
    if isinstance(loss, dict):
        loss = [loss.get(name) for name in getattr(model, "output_names", None) or loss]
    if isinstance(loss, (list, tuple)) and isinstance(output, (list, tuple)) and len(loss) == len(output):
        return tuple(_targets(model, value, one) for value, one in zip(output, loss))
    return tf.nest.map_structure(lambda value: _target(value, loss), output)


def _target(value: Any, loss: Any) -> Any:
    """As many zeros as the output has numbers, or one class for each of its rows if the loss takes only that."""
    import tensorflow as tf

    same = tf.zeros_like(value)
    if not loss or not isinstance(value, tf.Tensor) or len(value.shape) < 2:
        return same
    classes = tf.zeros(tf.shape(value)[:-1], tf.int32)
    function = tf.keras.losses.get(loss)
    sparse = "sparse" in str(getattr(loss, "name", loss)).lower()
    for zeros in (classes, same) if sparse else (same, classes):
        with contextlib.suppress(Exception):
            function(zeros, value)
            return zeros
    return same


def _keras_model(run: Run) -> Any:
    import tensorflow as tf

    if isinstance(run.model, tf.keras.Model):
        return run.model
    if isinstance(run.model, tf.keras.layers.Layer):
        return tf.keras.Sequential([run.model])
    raise NotRunError("it is no Keras model or layer")


def _classes(run: Run) -> dict[str, Any]:
    made = [event.subject() for event in run.events("layer")]
    return {type(layer).__name__: type(layer) for layer in [*made, run.model] if layer is not None}


def _save_and_load(run: Run) -> None:
    """Save the whole model in the ``.keras`` format and load it, with the classes of all layers that were made."""
    import tensorflow as tf

    if not isinstance(run.model, tf.keras.Model):
        raise NotRunError("only a Keras model is saved whole")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        run.model.save(path)
        tf.keras.models.load_model(path, custom_objects=_classes(run), compile=False)
