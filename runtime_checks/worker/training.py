"""Training and evaluation as Keras runs them: ``fit``, ``evaluate`` and ``predict`` of the model, or of one around it.

Whatever Keras the model is of, that one trains it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

from . import strategies
from .errors import essence, one_line
from .inputs import repeated, without_labels
from .phases import NotRunError
from .run import Run
from .signature import is_layer, keras_of, owner_of, parameters, required, takes_training
from .target import TargetError
from .under_strategy import reason

__all__ = ["evaluate", "fit", "predict", "step"]

_WITH_LOSS = frozenset({"compiled_loss", "compute_loss", "loss", "train_step"})
"""What a step reads of itself, or of its base, that needs a loss."""
_PHASES = {"train_step": "fit", "test_step": "evaluate"}
_TAKING_APART = frozenset({"len", "unpack_x_y_sample_weight"})
_REMEDY = "`def example_batch():` in the same file gives the batch, or --batch file.py:name"


def fit(run: Run) -> None:
    """Two steps of ``fit``.

    A model that is compiled trains with its own loss, and a step of its own with what that takes; any other with a
    squared error to zeros.
    Raises `NotRunError` where there is nothing to train with, or that error is of no use, and whatever the model
    raises.
    """
    own_loss = _own_step(run.built, "train_step") is not None or _is_compiled(run.built)
    model, batch = _trainable(run)
    try:
        _called(run, model, "fit", _dataset(run, batch), 2, epochs=1, shuffle=False)
    except Exception as error:
        said = essence(error)
        known = run.strategy is not None and reason(said)
        if not (own_loss or known) and not run.code.of_error(error) and said not in run.raised_by_calls():
            raise NotRunError(
                f"the squared error that the run would train with does not go: {one_line(said)}"
            ) from None
        raise


def step(run: Run) -> None:
    """A training step of a loop of the program's own, with the batch, else the inputs.

    A step with several parameters gets the parts of the batch, and the model before them where one more is needed.
    Raises `TargetError` where the batch does not fit, and whatever the step raises.
    """
    import tensorflow as tf

    batch = run.sample.args if run.batch is None else run.batch
    parts = tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)
    needed = required(run.step)
    if needed is None or len(needed) == len(parts):
        arguments: tuple[Any, ...] = parts
    elif len(needed) == len(parts) + 1:
        arguments = (run.built, *parts)
    elif len(needed) == 1:
        arguments = (batch,)
    elif len(needed) == 2:
        arguments = (run.built, batch)
    else:
        raise TargetError(f"it needs {', '.join(needed)}, and the batch has {len(parts)} parts; {_REMEDY}")
    with run.in_scope():
        strategies.step(tf, run.strategy, run.step, arguments)


def evaluate(run: Run) -> None:
    """One batch of ``evaluate``, where the model has a ``test_step`` of its own."""
    model = _with_own(run, "test_step")
    _called(run, model, "evaluate", _dataset(run, _batch_for(run, model, "test_step")))


def predict(run: Run) -> None:
    """One batch of ``predict``, where the model has a ``predict_step`` of its own.

    What is given to ``predict`` has no labels, unless the step takes them apart from the inputs.
    """
    model = _with_own(run, "predict_step")
    if run.batch is None:
        batch = _inputs(run)
    else:
        takes_apart = _parts_taken(_own_step(model, "predict_step"))
        batch = run.batch if takes_apart else without_labels(run.batch)
    _called(run, model, "predict", _dataset(run, batch))


def _called(run: Run, model: Any, name: str, dataset: Any, steps: int = 1, **how: Any) -> None:
    """Calls a method of Keras, for some steps of the same batch.

    One of the program's own that raises may take something else than its steps are given.

    Then it is that of Keras: what raises in the steps raises there as well.
    """
    import tensorflow as tf

    if strategies.has_servers(tf, run.strategy):  # they have no end of the data
        dataset, how = dataset.repeat(), dict(how, **{"steps_per_epoch" if name == "fit" else "steps": steps})
    else:
        dataset = dataset.repeat(steps)
    if owner_of(model, name) is not None:
        try:
            getattr(model, name)(dataset, verbose=0, **how)
            return
        except Exception as error:
            said = one_line(essence(error))
        run.notes.append(f"{name}: the program's own `{name}` raised ({said}), and that of Keras was called")
    getattr(keras_of(model).Model, name)(model, dataset, verbose=0, **how)


def _dataset(run: Run, batch: Any) -> Any:
    """The batch alone; one that the run made up has as many rows for each replica."""
    import tensorflow as tf

    if run.strategy is None:
        return tf.data.Dataset.from_tensors(_in_tuples(batch))
    if run.batch is None:
        batch = repeated(batch, run.strategy.num_replicas_in_sync)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return tf.data.Dataset.from_tensors(_in_tuples(batch)).with_options(options)


def _trainable(run: Run) -> tuple[Any, Any]:
    """The model, compiled, and a batch; or one around it, where Keras has no loss for what it takes or gives."""
    import tensorflow as tf

    model = run.built
    if not is_layer(model):
        raise NotRunError("it is no Keras model or layer")
    own_step = _own_step(model, "train_step")
    if own_step is not None or _is_compiled(model):
        _need_batch_alone(model, "train_step")
        if not _is_compiled(model):
            _compile(model, **({"loss": "mse"} if _needs_loss(own_step) else {}))
        return model, _batch_for(run, model, "train_step")
    output = _output(run, "train_step")
    if output is None:
        raise NotRunError("no call gave an output")
    outputs = tf.nest.flatten(output)
    if not any(tf.as_dtype(getattr(value, "dtype", type(value))).is_floating for value in outputs):
        raise NotRunError("the outputs have no loss: they are not floating point")
    if outputs[0] is not output or len(run.sample.args) != 1 or run.sample.kwargs or run.model is not model:
        tensors = tf.nest.flatten((run.sample.args, run.sample.kwargs))
        return _around(run), tuple(one for one in tensors if tf.is_tensor(one))
    if not isinstance(model, keras_of(model).Model):
        model = keras_of(model).Sequential([model])
    _compile(model, loss="mse")
    return model, _made_up(run, model, "train_step")


def _compile(model: Any, **loss: str) -> None:
    """Raises `NotRunError` where the user's own ``compile`` does not take an optimizer alone."""
    own = owner_of(model, "compile") is not None
    needed = [name for name in required(model.compile) or () if name != "optimizer"] if own else []
    if needed:
        names = ", ".join(f"`{name}`" for name in needed)
        raise NotRunError(f"its `compile` needs {names}: compile the model where it is built")
    try:
        model.compile(optimizer="sgd", **loss)
    except Exception as error:
        if not own:
            raise
        said = f"its `compile` refuses an optimizer alone ({one_line(essence(error))})"
        raise NotRunError(f"{said}: compile the model where it is built") from None


def _around(run: Run) -> Any:
    """A model whose step calls the one that was built, as the calls do, and trains it to give zeros."""
    import tensorflow as tf

    built, called, sample = run.built, run.model, (run.sample.args, run.sample.kwargs)
    leaves = tf.nest.flatten(sample)
    extra = {"training": True} if takes_training(called) else {}

    class Around(keras_of(built).Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.built_model = built

        def call(self, inputs: Any) -> Any:
            return inputs

        def train_step(self, data: Any) -> Any:
            tensors = iter(data)
            args, kwargs = tf.nest.pack_sequence_as(
                sample, [next(tensors) if tf.is_tensor(leaf) else leaf for leaf in leaves]
            )
            with tf.GradientTape() as tape:
                outputs = tf.nest.flatten(called(*args, **dict(kwargs, **extra)))
                parts = [tf.cast(one, tf.float32) for one in outputs if tf.is_tensor(one) and one.dtype.is_floating]
                loss = tf.add_n([tf.reduce_mean(tf.square(part)) for part in parts])
            weights = list(built.trainable_variables)
            gradients = zip(tape.gradient(loss, weights), weights)
            self.optimizer.apply_gradients([(one, weight) for one, weight in gradients if one is not None])
            return {"loss": loss}

    model = Around()
    model.compile(optimizer="sgd")
    return model


def _with_own(run: Run, name: str) -> Any:
    model = run.built
    if not is_layer(model) or _own_step(model, name) is None:
        raise NotRunError(f"the model has no `{name}` of its own")
    _need_batch_alone(model, name)
    if not _is_compiled(model):
        _compile(model, loss="mse")
    return model


def _need_batch_alone(model: Any, name: str) -> None:
    """Raises `NotRunError` where Keras cannot call the step: it gives it one argument, the batch."""
    known = parameters(getattr(model, name))
    try:
        inspect.Signature(known).bind(None)
    except TypeError:
        names = ", ".join(f"`{item.name}`" for item in known or ()) or "nothing"
        loop = "--step file.py:name runs a step of a loop of your own"
        raise NotRunError(f"`{name}` takes {names}, and Keras gives it the batch alone; {loop}") from None


def _batch_for(run: Run, model: Any, name: str) -> Any:
    """What a step of a model gets: the user's own batch, else one that is made up."""
    if run.batch is not None:
        return run.batch
    made_up = "the targets are zeros that the run made up"
    if _own_step(model, name) is not None:
        made_up = f"`{name}` got a batch that was made of the inputs"
    for phase in run.of_kind(_PHASES[name]):
        phase.aside = f"{made_up}; {_REMEDY}"
    return _made_up(run, model, name)


def _made_up(run: Run, model: Any, name: str) -> Any:
    """A batch of the inputs, with targets of zeros and weights where the step takes such parts.

    A step of the user's that says nothing of parts is given the inputs alone, unless the model has a loss.
    """
    inputs, step, loss = _inputs(run), _own_step(model, name), getattr(model, "loss", None)
    parts = _parts_taken(step) if step is not None else 2
    if isinstance(inputs, tuple) and len(inputs) == parts and not loss:
        return inputs  # they are the parts
    if not parts:
        parts = 2 if loss else 1
    if parts == 1:
        return inputs
    if parts > 3:
        raise NotRunError(f"`{name}` takes {parts} parts apart; {_REMEDY}")
    output = _output(run, name)
    if step is None and output is None:
        raise NotRunError(f"no call gave an output, so no targets were made up; {_REMEDY}")
    try:
        return (inputs, _targets(model, inputs if output is None else output, loss), _weights(inputs))[:parts]
    except Exception as error:
        said = one_line(essence(error))
        raise NotRunError(f"no batch could be made up that the model and its loss take: {said}; {_REMEDY}") from None


def _output(run: Run, name: str) -> Any:
    """What the model gives a step, which calls it in the step's mode."""
    return run.outputs.get(name == "train_step", run.outputs.get(None))


def _inputs(run: Run) -> Any:
    if len(run.sample.args) != 1 or run.sample.kwargs:
        raise NotRunError(f"Keras gives a model one structure of inputs; {_REMEDY}")
    return run.sample.args[0]


def _is_compiled(model: Any) -> bool:
    return bool(getattr(model, "compiled", getattr(model, "_is_compiled", False)))


def _own_step(model: Any, name: str) -> Any:
    """The method of the user's; None where the model has Keras' own, or none."""
    owner = owner_of(model, name)
    return None if owner is None else vars(owner)[name]


def _syntax(step: Any) -> tuple[Any, str]:
    """The function's syntax tree and the name of what it is given; None where its source is not there."""
    try:
        function = ast.parse(textwrap.dedent(inspect.getsource(step))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None, ""
    parameters = function.args.args if isinstance(function, ast.FunctionDef) else []
    return function, parameters[1].arg if len(parameters) > 1 else ""


def _parts_taken(step: Any) -> int:
    """Of how many parts a step takes its data to be, as in ``x, y = data`` or ``data[1]``; 0 if of none."""
    function, given = _syntax(step)
    parts = 0
    for node in ast.walk(function) if given else ():
        if isinstance(node, ast.Assign) and _is(node.value, given) and isinstance(node.targets[0], ast.Tuple):
            parts = max(parts, len(node.targets[0].elts))
        elif isinstance(node, ast.Subscript) and _is(node.value, given):
            index = getattr(node.slice, "value", None)
            parts = max(parts, index + 1, 2) if type(index) is int and index >= 0 else parts
        elif isinstance(node, ast.Call) and any(_is(argument, given) for argument in node.args):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            parts = max(parts, 2) if called in _TAKING_APART else parts
    return parts


def _needs_loss(step: Any) -> bool:
    """Whether a step of the user's reads the loss that the model is compiled with, or leaves the step to its base."""
    function, _ = _syntax(step)
    return function is None or any(
        isinstance(node, ast.Attribute) and node.attr in _WITH_LOSS for node in ast.walk(function)
    )


def _is(node: Any, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _in_tuples(value: Any) -> Any:
    """The same structure with tuples for lists, which ``tf.data`` would make one tensor of."""
    if isinstance(value, dict):
        return {key: _in_tuples(part) for key, part in value.items()}
    if isinstance(value, list) or type(value) is tuple:
        return tuple(map(_in_tuples, value))
    return value


def _weights(inputs: Any) -> Any:
    """A one for each row, of ragged and sparse tensors too."""
    import tensorflow as tf

    return tf.ones(tf.nest.flatten(inputs)[0].shape[:1])


def _targets(model: Any, output: Any, loss: Any) -> Any:
    """Targets of zeros, each of a shape that the loss of its output takes."""
    import tensorflow as tf

    if isinstance(loss, dict) and isinstance(output, dict):
        return {name: _targets(model, value, loss.get(name)) for name, value in output.items()}
    if isinstance(loss, dict):
        loss = [loss.get(name) for name in getattr(model, "output_names", None) or loss]
    if isinstance(loss, (list, tuple)) and isinstance(output, (list, tuple)) and len(loss) == len(output):
        return tuple(_targets(model, value, one) for value, one in zip(output, loss))
    return tf.nest.map_structure(lambda value: _target(model, value, loss), output)


def _target(model: Any, value: Any, loss: Any) -> Any:
    """As many zeros as the output has numbers, or one class for each of its rows if the loss takes only that.

    Raises what the loss raises of those that it would rather take, where it takes neither.
    """
    import tensorflow as tf

    same = tf.zeros_like(value)
    if not loss or not isinstance(value, tf.Tensor):
        return same
    function = keras_of(model).losses.get(loss)
    tried = [same]
    if len(value.shape) > 1:
        sparse = "sparse" in str(getattr(loss, "name", loss)).lower()
        tried.insert(0 if sparse else 1, tf.zeros(tf.shape(value)[:-1], tf.int32))
    refused = []
    for zeros in tried:
        try:
            function(zeros, value)
            return zeros
        except Exception as error:
            refused.append(error)
    raise refused[0]
