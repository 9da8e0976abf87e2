"""The two public scopes, and the recorder below them, see each new variable once and nothing else.

A child interpreter for each target says what every case gave.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from ..interpreters import Children

REFUSAL = "Attempted to create a new variable instead of reusing an existing one."

Case = Callable[[Any], object]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Run this in the children; it gets the module of TensorFlow and returns what JSON can hold."""
    CASES[function.__name__] = function
    return function


def refusing() -> Any:
    from migrate_lint.runtime_checks import assert_no_variable_creations

    return assert_no_variable_creations()


def catching() -> Any:
    from migrate_lint.runtime_checks import catch_and_raise_created_variables

    return catch_and_raise_created_variables()


def recording(callback: Callable[[Any], object]) -> Any:
    from migrate_lint.runtime_checks.worker import scopes

    return scopes.creations(callback)


def raised(scope: Any, action: Callable[[], object]) -> BaseException | None:
    """What comes out of a scope around an action."""
    try:
        with scope:
            action()
    except BaseException as error:
        return error
    return None


def refused(action: Callable[[], object]) -> bool:
    error = raised(refusing(), action)
    return isinstance(error, ValueError) and REFUSAL in str(error)


def caught(action: Callable[[], object]) -> list[str]:
    """Last parts of the names in the error of the catching scope, sorted; none where it raises nothing."""
    error = raised(catching(), action)
    if error is None:
        return []
    assert isinstance(error, ValueError), repr(error)
    text, variables = error.args
    assert text == "Created vars:", error
    return sorted(variable.name.split("/")[-1] for variable in variables)


def both(action: Callable[[], object]) -> list[object]:
    return [refused(action), caught(action)]


def seen(action: Callable[[], object]) -> int:
    variables: list[object] = []
    with recording(variables.append):
        action()
    return len(variables)


def silent(action: Callable[[], object]) -> bool:
    """Whether nothing at all is said of an action."""
    return raised(refusing(), action) is None and raised(catching(), action) is None and seen(action) == 0


def shim(tf: Any) -> Callable[[Any], Any]:
    """The decorator of the guide; Keras 3 has none."""
    keras3 = tf.keras.layers.Layer.__module__.startswith("keras.src.layers.")
    return (lambda call: call) if keras3 else tf.compat.v1.keras.utils.track_tf1_style_variables


def legacy(tf: Any) -> bool:
    return not tf.keras.layers.Layer.__module__.startswith("keras.src.layers.")


def broken(tf: Any) -> Any:
    class BrokenScaling(tf.keras.layers.Layer):
        @shim(tf)
        def call(self, inputs: Any) -> Any:
            return inputs * tf.Variable(2.0) + tf.Variable(2.0, name="bias")

    return BrokenScaling()


def fixed(tf: Any) -> Any:
    class FixedScaling(tf.keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.scale = self.bias = None

        @shim(tf)
        def call(self, inputs: Any) -> Any:
            if self.scale is None:
                self.scale, self.bias = tf.Variable(2.0), tf.Variable(2.0, name="bias")
            return inputs * self.scale + self.bias

    return FixedScaling()


def followed(tf: Any, layer: Any) -> list[object]:
    """What both scopes say of a call that is not the first."""
    inputs = tf.ones((1, 3))
    layer(inputs)
    return both(lambda: layer(inputs))


@case
def broken_scaling(tf: Any) -> object:
    return followed(tf, broken(tf))


@case
def fixed_scaling(tf: Any) -> object:
    return followed(tf, fixed(tf))


@case
def arguments_of_the_refused(tf: Any) -> object:
    text = str(raised(refusing(), lambda: tf.Variable(2.0, name="bias")))
    return [text.startswith(f"{REFUSAL} Args: {{'initial_value': 2.0, 'trainable': None,"), "'name': 'bias'" in text]


@case
def layer_in_call(tf: Any) -> object:
    class Caller(tf.keras.layers.Layer):
        @shim(tf)
        def call(self, inputs: Any) -> Any:
            return tf.keras.layers.Dense(2)(inputs)

    class Keeper(tf.keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        @shim(tf)
        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

    return [followed(tf, Caller()), followed(tf, Keeper())]


@case
def unnamed_v1_layer(tf: Any) -> object:
    if not legacy(tf):
        return None

    class Unnamed(tf.keras.layers.Layer):
        @shim(tf)
        def call(self, inputs: Any) -> Any:
            return tf.compat.v1.layers.dense(inputs, 2)

    class Scoped(tf.keras.layers.Layer):
        @shim(tf)
        def call(self, inputs: Any) -> Any:
            with tf.compat.v1.variable_scope("scoped"):
                return tf.compat.v1.layers.dense(inputs, 2)

    return [followed(tf, Unnamed()), followed(tf, Scoped())]


@case
def swallowed(tf: Any) -> object:
    def body() -> None:
        with contextlib.suppress(ValueError):
            tf.Variable(1.0)

    error = raised(refusing(), body)
    where = [frame.name for frame in traceback.extract_tb(error.__traceback__)] if error else []
    return [refused(body), "body" in where]


@case
def swallowed_then_failed(tf: Any) -> object:
    failure = RuntimeError("later")

    def body() -> None:
        with contextlib.suppress(ValueError):
            tf.Variable(1.0)
        raise failure

    error = raised(refusing(), body)
    return [REFUSAL in str(error), error is not None and error.__cause__ is failure]


@case
def translated_refusal(tf: Any) -> object:
    def body() -> None:
        try:
            tf.Variable(1.0)
        except ValueError as error:
            raise RuntimeError("no model") from error

    return repr(raised(refusing(), body))


@case
def failed_after_creation(tf: Any) -> object:
    failure = RuntimeError("later")

    def body() -> None:
        tf.Variable(1.0, name="lost")
        raise failure

    error = raised(catching(), body)
    return [caught(body), error is not None and error.__cause__ is failure]


@case
def failed_without_creation(tf: Any) -> object:
    failure = RuntimeError("plain")

    def body() -> None:
        raise failure

    return [raised(scope, body) is failure and failure.__cause__ is None for scope in (refusing(), catching())]


@case
def interrupted(tf: Any) -> object:
    interrupt = KeyboardInterrupt()

    def body() -> None:
        with contextlib.suppress(ValueError):
            tf.Variable(1.0)
        raise interrupt

    return [raised(scope, body) is interrupt for scope in (refusing(), catching())]


@case
def in_a_thread(tf: Any) -> object:
    def body() -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(tf.Variable, 1.0, name="threaded").exception()

    return both(body)


@case
def in_a_graph(tf: Any) -> object:
    left: list[int] = []

    def body() -> None:
        with tf.Graph().as_default() as graph:
            try:
                tf.Variable(1.0, name="native")
                tf.compat.v1.get_variable("resource", [2])
                tf.compat.v1.get_variable("ref", [2], use_resource=False)
            finally:
                left.append(len(graph.get_collection("variables")))

    return [both(body), left]


@case
def refused_ref_variable(tf: Any) -> object:
    def body() -> None:
        with tf.Graph().as_default():
            tf.compat.v1.get_variable("ref", [2], use_resource=False)

    return refused(body)


@case
def by_its_class(tf: Any) -> object:
    from tensorflow.python.ops.resource_variable_ops import ResourceVariable

    error = raised(refusing(), lambda: ResourceVariable(1.0, name="direct"))
    return [both(lambda: ResourceVariable(1.0, name="direct")), str(error).split("Args: ")[-1]]


@case
def in_a_symbolic_call(tf: Any) -> object:
    class Nested(tf.keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = tf.keras.layers.Dense(2), tf.keras.layers.Dense(2)

        def call(self, inputs: Any) -> Any:
            return self.second(self.first(inputs))

    inputs = tf.ones((1, 3))
    deferred, stacks = [], []

    def note(variable: Any) -> None:
        deferred.append(not isinstance(variable, tf.Variable))
        stacks.append("call" in [frame.name for frame in traceback.extract_stack() if frame.filename == __file__])

    with recording(note):
        Nested()(inputs)
    error = raised(catching(), lambda: Nested()(inputs))
    listed = error.args[1] if error else []
    return {
        "refused": refused(lambda: Nested()(inputs)),
        "recorded": len(deferred),
        "deferred": all(deferred),
        "below call": all(stacks),
        "listed": [isinstance(variable, tf.Variable) for variable in listed],
    }


@case
def in_a_symbolic_call_that_ends_later(tf: Any) -> object:
    if legacy(tf):
        return None
    from keras.src.backend.common.stateless_scope import StatelessScope

    with StatelessScope():
        names = caught(lambda: tf.keras.Variable("zeros", shape=(2,), name="late"))
        made: list[Any] = []
        with recording(made.append):
            tf.keras.Variable("ones", shape=(2,), name="later")
    return [names, [variable.name for variable in made], seen(lambda: made[0].assign([1.0, 2.0]))]


@case
def assignments(tf: Any) -> object:
    variable = tf.Variable(1.0)

    @tf.function
    def add(amount: Any) -> Any:
        return variable.assign_add(amount) + variable.assign_sub(amount)

    def graph_body() -> None:
        with tf.Graph().as_default(), recording(lambda made: names.append(made.name)):
            inside = tf.Variable(1.0, name="inside")
            inside.assign(2.0)
            inside.assign_add(1.0)

    names: list[str] = []
    graph_body()
    eager = silent(lambda: variable.assign(2.0))
    return [eager, silent(lambda: add(1.0)), silent(lambda: add(tf.ones(()))), names]


@case
def wrapped_handles(tf: Any) -> object:
    from tensorflow.python.ops.resource_variable_ops import ResourceVariable

    variable = tf.Variable([1.0, 2.0])
    take = tf.function(lambda one: one * 2.0)

    def wrapped() -> Any:
        return ResourceVariable(handle=variable.handle, shape=variable.shape, dtype=variable.dtype)

    return [silent(lambda: take(variable)), wrapped() is not variable, silent(wrapped)]


@case
def restores_and_exports(tf: Any) -> object:
    module = tf.Module()
    module.weight = tf.Variable([1.0, 2.0])
    module.double = tf.function(lambda: module.weight * 2.0, input_signature=[])
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = tf.train.Checkpoint(module=module)
        path = checkpoint.write(os.path.join(folder, "checkpoint"))
        restore = silent(lambda: checkpoint.read(path).assert_consumed())
        saved = os.path.join(folder, "saved")
        save = silent(lambda: tf.saved_model.save(module, saved))
        load = seen(lambda: tf.saved_model.load(saved))
        refusal = refused(lambda: tf.saved_model.load(saved))
    return {"restore": restore, "save": save, "load": load, "load refused": refusal}


@case
def in_tf_function(tf: Any) -> object:
    class Once(tf.Module):
        weight = None

        @tf.function
        def __call__(self, inputs: Any) -> Any:
            if self.weight is None:
                self.weight = tf.Variable(5.0, name="weight")
            return inputs * self.weight

    contexts: list[bool] = []
    with recording(lambda _: contexts.append(tf.inside_function())):
        Once()(1.0)
    once = Once()
    once(1.0)
    return [both(lambda: Once()(1.0)), contexts, silent(lambda: once(2.0))]


@case
def replicas(tf: Any) -> object:
    devices = ["CPU:0", "CPU:1"]
    strategies = (
        tf.distribute.MirroredStrategy(devices),
        tf.distribute.experimental.CentralStorageStrategy(devices, "CPU:0"),
    )

    def body(strategy: Any) -> None:
        with strategy.scope():
            tf.Variable(1.0)

    calls = [partial(body, strategy) for strategy in strategies]
    return [[refused(call), len(caught(call)), seen(call)] for call in calls]


@case
def decorators(tf: Any) -> object:
    @refusing()
    def strict(make: bool) -> str:
        if make:
            tf.Variable(1.0)
        return "returned"

    @catching()
    def lenient() -> None:
        tf.Variable(1.0)

    def message(action: Callable[[], object]) -> str:
        try:
            return str(action())
        except ValueError as error:
            return str(error.args[0])[: len("Attempted")]

    return [message(lambda: strict(True)), message(lambda: strict(False)), message(lenient), message(lenient)]


@case
def nested(tf: Any) -> object:
    outer: list[Any] = []
    inner: list[Any] = []
    with recording(outer.append):
        tf.Variable(1.0)
        with recording(inner.append):
            tf.Variable(1.0)
        tf.Variable(1.0)
        refusal = refused(lambda: tf.Variable(1.0))
        tf.Variable(1.0)
    tf.Variable(1.0)
    return [len(outer), len(inner), refusal]


@case
def concurrent(tf: Any) -> object:
    """Two overlapping scopes, of which the first to begin is the first to end."""
    opened, close = threading.Event(), threading.Event()
    first: list[Any] = []
    second: list[Any] = []

    def other() -> None:
        with recording(first.append):
            opened.set()
            close.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    opened.wait(30)
    with recording(second.append):
        tf.Variable(1.0)
        close.set()
        thread.join()
        tf.Variable(1.0)
    return [len(first), len(second)]


@case
def patched_over(tf: Any) -> object:
    """Somebody else wraps the patched constructor, and takes the wrapper away only after the scope has ended."""
    from tensorflow.python.ops.variables import VariableMetaclass

    def theirs(cls: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(cls.__name__)
        return ours(cls, *args, **kwargs)

    calls: list[str] = []
    with recording(lambda _: None):
        ours = VariableMetaclass.__call__
        VariableMetaclass.__call__ = theirs
    between = seen(lambda: tf.Variable(1.0))
    VariableMetaclass.__call__ = ours
    return [between, calls, seen(lambda: tf.Variable(1.0))]


def patched_names() -> dict[str, object]:
    """All that the scopes may patch, as it stands now."""
    from tensorflow.python.ops.variables import VariableMetaclass

    module = sys.modules.get("keras.src.backend.tensorflow.core")
    names = ("__init__", "_deferred_initialize")
    own = {name: vars(module.Variable).get(name) for name in names} if module else {}
    return {"__call__": VariableMetaclass.__call__, **own}


def answers() -> dict[str, object]:
    """In a child of its own, whose devices are changed: what each case gave, or how it failed."""
    import tensorflow as tf

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    answer: dict[str, object] = {"version": tf.__version__, "keras": "keras2" if legacy(tf) else "keras3"}
    before = patched_names()
    for name, run in CASES.items():
        try:
            answer[name] = run(tf)
        except Exception:
            answer[name] = traceback.format_exc()
    answer["put back"] = patched_names() == before
    return answer


@pytest.fixture(
    scope="module", params=[pytest.param(target, marks=pytest.mark.tensorflow) for target in ("keras2", "keras3")]
)
def answer(request: pytest.FixtureRequest, children: Children) -> Mapping[str, Any]:
    """What the child interpreter of one target says."""
    said: dict[str, Any] = children.call(request.param, answers, alone=True)
    return said


def test_importing_the_scopes_imports_no_framework() -> None:
    """A user's test that imports them needs nothing but TensorFlow, and that only where it enters a scope."""
    code = (
        "import sys; from migrate_lint.runtime_checks import assert_no_variable_creations,"
        " catch_and_raise_created_variables; print(sorted({'tensorflow', 'keras', 'numpy', 'libcst',"
        " 'migrate_lint.linter', 'migrate_lint.rules'} & set(sys.modules)))"
    )
    child = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == child.stdout


def test_a_layer_that_makes_its_weights_again_is_seen(answer: Mapping[str, Any]) -> None:
    """The first scope refuses, the second one lists both variables."""
    assert [True, ["Variable:0", "bias:0"]] == answer["broken_scaling"]


def test_a_layer_that_keeps_its_weights_is_silent(answer: Mapping[str, Any]) -> None:
    """Neither scope says anything of a call that reuses variables."""
    assert [False, []] == answer["fixed_scaling"]


def test_a_refusal_shows_the_arguments(answer: Mapping[str, Any]) -> None:
    """In the guide's words: the arguments as a creator gets them, first the initial value."""
    assert [True, True] == answer["arguments_of_the_refused"]


def test_a_keras_layer_made_in_call_is_seen(answer: Mapping[str, Any]) -> None:
    """Kernel and bias of the new layer are listed; the layer made in the constructor is silent."""
    assert [[True, ["bias:0", "kernel:0"]], [False, []]] == answer["layer_in_call"]


def test_an_unnamed_v1_layer_is_seen(answer: Mapping[str, Any]) -> None:
    """Under the shim its name counts up at each call; a named variable scope around it makes it reuse."""
    expected = [[True, ["bias:0", "kernel:0"]], [False, []]] if answer["keras"] == "keras2" else None

    assert expected == answer["unnamed_v1_layer"]


def test_a_swallowed_refusal_comes_back(answer: Mapping[str, Any]) -> None:
    """It is raised at the end of the scope, with the traceback of the creation."""
    assert [True, True] == answer["swallowed"]


def test_a_swallowed_refusal_comes_before_a_later_error(answer: Mapping[str, Any]) -> None:
    """The later error is its cause."""
    assert [True, True] == answer["swallowed_then_failed"]


def test_an_error_that_came_from_a_refusal_passes(answer: Mapping[str, Any]) -> None:
    """What the body made of the refusal says enough."""
    assert "RuntimeError('no model')" == answer["translated_refusal"]


def test_created_variables_are_listed_when_the_body_raises(answer: Mapping[str, Any]) -> None:
    """The body's exception is the cause."""
    assert [["lost:0"], True] == answer["failed_after_creation"]


def test_without_creations_the_error_of_the_body_passes(answer: Mapping[str, Any]) -> None:
    """The same object leaves both scopes."""
    assert [True, True] == answer["failed_without_creation"]


def test_an_interrupt_passes(answer: Mapping[str, Any]) -> None:
    """What is no Exception is never replaced."""
    assert [True, True] == answer["interrupted"]


def test_another_thread_is_seen(answer: Mapping[str, Any]) -> None:
    """The creator stack of TensorFlow belongs to a thread, the scopes do not."""
    assert [True, ["threaded:0"]] == answer["in_a_thread"]


def test_a_graph_inside_the_scope_is_seen(answer: Mapping[str, Any]) -> None:
    """Resource and reference variables are listed once each; a refused one leaves nothing in the graph."""
    assert [[True, ["native:0", "ref:0", "resource:0"]], [0, 3]] == answer["in_a_graph"]


def test_a_reference_variable_is_refused(answer: Mapping[str, Any]) -> None:
    """Those of a v1 graph are another class."""
    assert answer["refused_ref_variable"] is True


def test_a_variable_made_by_its_class_is_seen(answer: Mapping[str, Any]) -> None:
    """It passes no creator; the refusal shows what its constructor got."""
    assert [[True, ["direct:0"]], "{'initial_value': 1.0, 'name': 'direct'}"] == answer["by_its_class"]


def test_deferred_variables_are_seen_where_they_are_wanted(answer: Mapping[str, Any]) -> None:
    """Keras 3 fills them after its symbolic call; each is announced once, below the user's call."""
    assert {
        "refused": True,
        "recorded": 4,
        "deferred": answer["keras"] == "keras3",
        "below call": True,
        "listed": [True] * 4,
    } == answer["in_a_symbolic_call"]


def test_a_variable_without_value_at_the_end_of_the_scope_is_seen(answer: Mapping[str, Any]) -> None:
    """It stays a Keras variable in the list, and is not announced again when it gets its value."""
    expected = [["late"], ["later"], 0] if answer["keras"] == "keras3" else None

    assert expected == answer["in_a_symbolic_call_that_ends_later"]


def test_assignments_are_no_creations(answer: Mapping[str, Any]) -> None:
    """Eagerly, in a traced function and in a graph, where TensorFlow wraps their results in a variable class."""
    assert [True, True, True, ["inside:0"]] == answer["assignments"]


def test_a_wrapped_handle_is_no_creation(answer: Mapping[str, Any]) -> None:
    """A variable given to a function is the old one, and so is another object for its handle."""
    assert [True, True, True] == answer["wrapped_handles"]


def test_saving_and_restoring_are_no_creations(answer: Mapping[str, Any]) -> None:
    """A loaded SavedModel has a variable of its own."""
    assert {"restore": True, "save": True, "load": 1, "load refused": True} == answer["restores_and_exports"]


def test_a_variable_of_a_traced_function_is_seen_once(answer: Mapping[str, Any]) -> None:
    """It is announced inside the trace; the calls that reuse it are silent."""
    assert [[True, ["weight:0"]], [True], True] == answer["in_tf_function"]


def test_each_component_counts(answer: Mapping[str, Any]) -> None:
    """A mirrored variable has two, one for each device, a central one has one; their containers are not listed."""
    assert [[True, 2, 2], [True, 1, 1]] == answer["replicas"]


def test_scopes_are_decorators(answer: Mapping[str, Any]) -> None:
    """Each call of the function enters a fresh scope."""
    assert ["Attempted", "returned", "Created v", "Created v"] == answer["decorators"]


def test_nested_scopes_both_see(answer: Mapping[str, Any]) -> None:
    """The end of the inner one leaves the outer one watching, and what is refused is not made."""
    assert [4, 1, True] == answer["nested"]


def test_concurrent_scopes_both_see(answer: Mapping[str, Any]) -> None:
    """The one that ends first takes nothing from the other."""
    assert [1, 2] == answer["concurrent"]


def test_a_foreign_patch_is_left_in_place(answer: Mapping[str, Any]) -> None:
    """With it and after it a variable is announced once."""
    assert [1, ["Variable", "ResourceVariable"], 1] == answer["patched_over"]


def test_everything_is_put_back(answer: Mapping[str, Any]) -> None:
    """After the last scope the constructors are those of TensorFlow and Keras."""
    assert answer["put back"] is True
