"""The steps of a run, in order, and what each of them does."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from typing import Any, Callable, Iterator, Tuple

from . import inputs, signature, strategies, target, training
from .errors import essence, text_of
from .hooks.variables import attempted
from .phases import NothingRanError, NotRunError, Phase
from .run import Run
from .scopes import assert_no_variable_creations, catch_and_raise_created_variables

__all__ = ["CutShortError", "after_build", "build", "load", "works_eagerly"]

_NO_TRAINING = "the model takes no `training`"

Step = Tuple[Phase, Callable[[], None]]


class CutShortError(Exception):
    """A scope ended the call where a variable would have been made; the text says which one."""


def load(run: Run) -> Any:
    """Make the strategy, if there is to be one, and import the user's module in its scope."""
    import tensorflow as tf

    if run.job["strategy"] is not None:
        run.strategy = strategies.make(tf, run.job["strategy"])
    with run.in_scope():
        return target.load(run.job)


def build(run: Run, loaded: Any) -> None:
    """Build the model and find its sample inputs."""
    job = run.job
    left = target.parse_flags()
    if left:
        run.notes.append("arguments that are no flags of absl: {}".format(" ".join(left)))
    with target.keeping_owners() as run.owners, run.in_scope():
        built = target.build(loaded, job.get("method"))
    run.model, run.keeper, run.module = built.model, built.tracked, loaded.module
    run.built = run.keeper if job.get("method") else run.model
    if run.model is loaded.value and signature.is_function(run.model):
        run.needed = signature.required(run.model) or []
    run.step = target.named(job["step"]) if job.get("step") else None
    for phase in run.of_kind("step"):
        phase.traced = signature.is_traced(run.step)
    run.batch = inputs.example_batch(run.module, job)
    run.sample = inputs.find(run.model, built.inputs, run.module, job, run.batch)
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
    own = [] if run.job.get("step") is None else [_own_step(run, number) for number in range(2)]
    return [
        *steps,
        *_twice(run, None, traced),
        _other_batch(run, traced),
        *_twice(run, True, traced),
        *own,
        (Phase("fit", mode=True, traced=True), lambda: training.fit(run)),
        (Phase("evaluate", mode=False, traced=True), lambda: training.evaluate(run)),
        (Phase("predict", mode=False, traced=True), lambda: training.predict(run)),
        (Phase("save"), lambda: _save_and_load(run)),
    ]


class _Traced:
    """The model inside ``tf.function``, one function for each mode."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._functions: Any = {}

    def __call__(self, sample: Any, mode: bool | None) -> Any:
        import tensorflow as tf

        _need_call(self._run)
        _need_eager()
        if mode not in self._functions:
            model, extra = self._run.model, _extra(self._run, mode)

            def forward(*arguments: Any, **keywords: Any) -> Any:
                output = model(*arguments, **dict(keywords, **extra))
                _refuse_model(self._run, output)
                return [value for value in tf.nest.flatten(output) if tf.is_tensor(value)]

            self._functions[mode] = strategies.traced(tf, self._run.strategy, forward)
        try:
            with self._run.in_scope():
                output = self._functions[mode](*sample.args, **sample.kwargs)
            _check(self._run)
            return output
        except BaseException:
            del self._functions[mode]  # after a first trace that made variables and raised, TensorFlow gives None
            raise


def _call(run: Run, sample: Any, mode: bool | None = None) -> Any:
    import tensorflow as tf

    _need_call(run)
    extra = _extra(run, mode)
    with run.in_scope():
        output = strategies.eager(tf, run.strategy, lambda: inputs.call(run.model, sample, **extra))
    _check(run)
    _refuse_model(run, output)
    return output


def works_eagerly(run: Run, phase: Phase) -> bool:
    """Whether the call of a phase comes to its end when it is made once more, eagerly and unrecorded."""
    sample = inputs.other_batch(run.sample) if phase.batch else run.sample
    try:
        with _strategy_of(run.model):
            _call(run, sample, phase.mode)
    except BaseException:  # whatever the program raises
        return False
    return True


def _refuse_model(run: Run, output: Any) -> None:
    if run.needed and signature.is_layer(output):
        raise target.TargetError(f"it gave a model, {type(output).__name__}, and no output of one")


def _need_eager() -> None:
    import tensorflow as tf

    if not tf.executing_eagerly():
        raise NotRunError("the program has turned eager execution off: it runs as a graph")


def _own_step(run: Run, number: int) -> Step:
    def body() -> None:
        training.step(run)
        _check(run)

    return Phase("step", mode=True, ordinal=number), body


def _need_call(run: Run) -> None:
    if not signature.has_call(run.model):
        raise NotRunError(f"`{type(run.model).__name__}` has no `call`")


def _check(run: Run) -> None:
    """Raises `NothingRanError` where TensorFlow left a function out in the running phase."""
    for event in run.recorder.of_kind("hollow"):
        if event.phase is run.recorder.phase:
            name = event.detail["function"]
            raise NothingRanError(f"`{name}` did not run and gave None, since its first trace had raised")


def _extra(run: Run, mode: bool | None) -> Any:
    """What else a call is given: also without a mode ``training=False``, where the model cannot do without."""
    if mode is None and inputs.needs_training(run.model, run.sample):
        mode = False
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
                output = _call(run, run.sample, mode)
        run.outputs[mode] = output

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
                _call(run, run.sample)
        except ValueError as error:
            if message not in str(error):
                raise
            created = error.args[1] if len(error.args) > 1 else None
            said = f"ValueError: Created vars: {_names(created)}" if created else _refusal(error)
            run.scopes.append((scope.__name__, said))
            if scope is assert_no_variable_creations:
                _keep_attempt(run, error)
                raise CutShortError(said) from None
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
            _call(run, sample)
        else:
            traced(sample, None)

    return Phase("call", batch=1, traced=traced is not None), body


def _classes(run: Run) -> dict[str, Any]:
    """Those of all layers that were made but Keras' own, which it finds itself: its operations have the same names."""
    made = [event.subject() for event in run.events("layer")]
    classes = [type(layer) for layer in [*made, run.model] if layer is not None]
    return {cls.__name__: cls for cls in classes if not signature.is_of_keras(cls)}


def _save_and_load(run: Run) -> None:
    """Save the whole model in the ``.keras`` format and load it, with the classes of its layers."""
    if not (signature.is_layer(run.model) and hasattr(run.model, "save")):
        raise NotRunError("only a Keras model is saved whole")
    _need_eager()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        run.model.save(path)
        signature.keras_of(run.model).models.load_model(path, custom_objects=_classes(run), compile=False)
