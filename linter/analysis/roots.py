"""How functions run that no code of the project calls.

Some run by themselves: module-level code, the forward pass of a layer, an Estimator's `model_fn`.
Others are given to something public, which runs them in its own way, and decorators change how a function runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .execution_context import Context
from .links import RootRow, named
from .names import canonical
from .resolution import FORWARD_METHODS, Resolver
from .summary import CallEdge, FunctionSummary, Summary

_SHIMS = frozenset({"keras.utils.track_tf1_style_variables", "keras.utils.track_tf1_layers_and_variables"})
MAKES_ONCE = "keras.utils.get_or_create_layer"
_ONCE = frozenset(
    {
        "functools.lru_cache", "functools.cache", "functools.cached_property", "werkzeug.utils.cached_property",
        "sonnet.once", "sonnet.src.once.once",
    }
)  # fmt: skip
_ONCE_NAMES = frozenset(
    {"cache", "cached", "cached_property", "lazy_property", "memoize", "memoized", "once", "run_once"}
)
TRACERS = frozenset({"tensorflow.function", "tensorflow.contrib.eager.defun", "tensorflow.contrib.eager.function"})
_ESCAPES = frozenset(
    {
        "tensorflow.py_function", "tensorflow.numpy_function", "tensorflow.py_func",
        "tensorflow.contrib.eager.py_func", "threading.Thread",
    }
)  # fmt: skip
_V2_OFF = frozenset({"tensorflow.disable_v2_behavior", "tensorflow.disable_eager_execution"})
DATASET_METHODS = frozenset(
    {
        "map", "filter", "flat_map", "interleave", "reduce", "take_while", "scan", "map_with_legacy_function",
        "filter_with_legacy_function", "group_by_window", "map_and_batch", "parallel_interleave", "make_batched",
    }
)  # fmt: skip
_DATASET_ONLY = frozenset({"flat_map", "interleave", "map_with_legacy_function", "take_while"})
_RUNNING = frozenset({"run", "experimental_run_v2", "call_for_each_replica", "minimize", "apply", "callback", "sort"})
"""Methods that run what they are given, whatever has them."""
_LATER = frozenset(
    {"atexit.register", "signal.signal", "weakref.finalize", "functools.wraps", "functools.update_wrapper"}
)
"""They run nothing that they are given, or only when the program ends."""
_BUILTINS = frozenset({"map", "filter", "sorted", "min", "max", "iter"})
"""The builtins that run what they are given."""
_WRAPPERS = frozenset({"tensorflow.recompute_grad", "tensorflow.custom_gradient"})
"""What they return runs what they were given."""
_FIT_METHODS = ("train_step", "test_step", "predict_step", "compute_loss", "compute_metrics")
_ESTIMATOR_FUNCTIONS = frozenset(
    {"model_fn", "input_fn", "serving_input_receiver_fn", "serving_input_fn", "train_input_fn", "eval_input_fn"}
)
_COMPILE_ARGUMENTS = frozenset({"loss", "metrics", "weighted_metrics"})
_OTHER_BACKENDS = frozenset({"torch", "jax"})
_MAKERS = frozenset({"__init__", "__new__"})
_MADE = frozenset({"layer", "model", "module", "sonnet", "metric", "optimizer"})
"""Of these kinds it is their construction that is judged."""


def roots_of(names: Resolver, file: str, uses: Iterable[str], reasons: Mapping[str, int]) -> Iterator[RootRow]:
    """What runs by itself in a file that reads these public names; a reason stands for its number."""
    graph = any(canonical(name) in _V2_OFF for name in uses)
    yield RootRow(0, Context.GRAPH if graph else Context.EAGER, reasons[""])
    for number, function in names.summaries[file]["functions"].items():
        for context, reason, unless_once in _own_contexts(names, file, function):
            yield RootRow(int(number), context, reasons[reason], unless_once)
    runs_elsewhere = _is_of_another_backend(uses)
    for number, cls in names.summaries[file]["classes"].items() if not runs_elsewhere else ():
        kinds = names.kinds((file, int(number)))
        for name, context in _methods_that_run(kinds):
            if name in cls["methods"]:
                method = cls["methods"][name]
                own = name == "__call__" and "layer" in kinds and not _calls_base(names.summaries[file], method)
                yield RootRow(method, context | Context.UNSURE if own else context, reasons[""])


def _is_of_another_backend(uses: Iterable[str]) -> bool:
    """Whether code that reads these names computes with PyTorch or JAX: then TensorFlow traces no layer of its."""
    packages = {name.partition(".")[0] for name in uses}
    return bool(packages & _OTHER_BACKENDS) and not packages & {"tensorflow", "tf_keras"}


def _own_contexts(names: Resolver, file: str, function: FunctionSummary) -> Iterator[tuple[Context, str, bool]]:
    """In which contexts a function runs by itself, why, and whether only if it is not made once."""
    decorators = [n.removesuffix("()") for t in function["decorators"] for n in names.canonical_names(file, t)]
    if any(name in TRACERS for name in decorators):
        yield Context.TRACED, " (a tf.function)", False
    if function["name"] not in FORWARD_METHODS and any(name in _SHIMS for name in decorators):
        yield Context.FORWARD | Context.SHIM, "", True
    if {"features", "labels", "mode"} <= set(function["parameters"]):
        yield Context.GRAPH, " (an Estimator's model_fn)", False


def _calls_base(summary: Summary, method: int) -> bool:
    """Whether an overridden ``__call__`` goes on to that of Keras.

    Then a functional model runs it each time.
    Otherwise its layers are nodes of the model themselves, and it runs only where it is called.
    """
    called = (text for edge in named(CallEdge, summary["edges"]) if edge.caller == method for text in edge.targets)
    return any(text.endswith(".__call__") for text in called) or any(
        canonical(text).endswith(".__call__") for text in summary["uses"]
    )


def _methods_that_run(kinds: frozenset[str]) -> Iterator[tuple[str, Context]]:
    """The methods that TensorFlow calls of a class of some kinds."""
    forward: Context | None = None
    if "v1layer" in kinds:
        forward = Context.FORWARD | Context.LEGACY
    elif "layer" in kinds:
        forward = Context.FORWARD | Context.TRACED | Context.FIT
    elif kinds & {"module", "sonnet"}:
        forward = Context.FORWARD
    if forward is not None:
        for name in FORWARD_METHODS:
            yield name, forward
        if "sonnet" in kinds:
            yield "_build", forward | Context.LEGACY
    fit: tuple[str, ...] = ()
    if "model" in kinds:
        fit = _FIT_METHODS
    elif "loss" in kinds:
        fit = FORWARD_METHODS
    elif "metric" in kinds:
        fit = ("update_state", "result")
    for name in fit:
        yield name, Context.TRACED | Context.FIT


def marks_of(names: Resolver, file: str, function: FunctionSummary) -> str:
    """What a function's own decorators make of a context; see `execution_context.entered`."""
    marks = ""
    for text in function["decorators"]:
        if _is_once(names, file, text.removesuffix("()")):
            marks += "o"
        for name in names.canonical_names(file, text):
            plain = name.removesuffix("()")
            marks += "t" if plain in TRACERS else "s" if plain in _SHIMS else "o" if plain in _ONCE else ""
    if function["name"] in _MAKERS and function["cls"] >= 0:
        if _MADE & names.kinds((file, function["cls"])):
            marks += "o"
    return marks


def _is_once(names: Resolver, file: str, decorator: str) -> bool:
    """Whether a decorator of the project says by its name that what it decorates runs once, or is kept."""
    found = [names.function(e.key) for e in names.resolve(file, decorator) if e.kind == "function"]
    return any(summary is not None and summary["name"] in _ONCE_NAMES for summary in found)


def given_to(name: str, argument: str, is_kept: bool = False) -> str | None:
    """How a function runs that is given to something public, see `execution_context.given`; None if that is not known.

    ``?map`` is the method of a value that is not known, ``?dataset.map`` where only a dataset has such a keyword.
    """
    unknown = name.startswith("?")
    name = name.removeprefix("?")
    method = name.rpartition(".")[2]
    if name.removesuffix("()") in TRACERS:
        return "traced"
    if name == "tensorflow.wrap_function":
        return "graph"
    if name == MAKES_ONCE:
        return "once"
    if name in _ESCAPES:
        return "host"
    if argument in _ESTIMATOR_FUNCTIONS or (name.startswith("tensorflow.estimator") and argument == "0"):
        return "graph"
    if method == "compile" and argument in _COMPILE_ARGUMENTS:
        return "compiled"
    if name.startswith("keras.layers.") and "(" not in name:
        return "once" if argument.endswith("_initializer") or argument == "output_shape" else "layer"
    if name in ("tensorflow.vectorized_map", "tensorflow.autograph.to_graph"):
        return "also traced"
    if ("tensorflow.data." in name or name.startswith("dataset.")) and method in DATASET_METHODS:
        return "dataset"
    if method in _DATASET_ONLY and argument in ("0", "map_func", "predicate"):
        return "dataset"
    if unknown:
        return "same" if method in _RUNNING else None
    if "." not in name:
        return "same" if name in _BUILTINS else None
    if name in _LATER or (is_kept and name in _WRAPPERS) or method.endswith("Callback") or method[:1].isupper():
        return None
    return "same"
