"""TF204: random numbers, clocks and ids of Python, frozen into the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linter.rule_api.model import Call
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .traces import is_failing, trace_of

_RANDOM = (
    "random", "randint", "uniform", "choice", "choices", "sample", "shuffle", "gauss", "normalvariate", "randrange",
    "triangular", "betavariate", "expovariate", "getrandbits", "lognormvariate", "vonmisesvariate", "gammavariate",
)  # fmt: skip
_NUMPY_RANDOM = (
    "rand", "randn", "randint", "random", "random_sample", "random_integers", "ranf", "sample", "choice", "shuffle",
    "permutation", "uniform", "normal", "standard_normal", "binomial", "poisson", "beta", "gamma", "exponential",
    "laplace", "multinomial", "multivariate_normal", "dirichlet", "truncnorm", "triangular", "integers", "geometric",
    "lognormal", "logistic", "gumbel", "bytes", "permuted", "standard_gamma", "rayleigh", "weibull", "power", "pareto",
)  # fmt: skip
_CLOCKS = (
    "time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic", "time.clock",
    "time.process_time", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
    "datetime.date.today", "timeit.default_timer",
)  # fmt: skip
_IDS = ("uuid.uuid1", "uuid.uuid4", "os.urandom", "secrets.token_hex", "secrets.randbelow", "secrets.choice")
_GENERATORS = ("numpy.random", "numpy.random.RandomState()", "numpy.random.default_rng()")
_MOST_FUNCTIONS = 2
_NOT_DRAWN = frozenset({"seed", "seeds", "name", "op_seed", "initializer", "initial_value"})
_INITIALIZED = frozenset({"tensorflow.Variable", "tensorflow.get_variable", "keras.Variable", "keras.backend.variable"})


class PythonRandomInTfFunction(Rule):
    """A random number, clock or id of Python in traced code is drawn once and frozen into the graph.

    ## Why
    `random`, `np.random`, `time`, `datetime.now`, `uuid` and `os.urandom` are Python: in traced code they run while the
    graph is built, and what they gave is a constant of that graph.
    In `Dataset.map` one `random.randint` gives the same number for every element; under `fit` every batch gets the same
    noise.

    ## Example
    ```python
    import random
    import tensorflow as tf

    def jitter(x):
        return x + random.uniform(-1, 1)

    dataset = tf.data.Dataset.range(20).map(jitter)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    def jitter(x):
        return x + tf.random.uniform([], -1, 1)

    dataset = tf.data.Dataset.range(20).map(jitter)
    ```

    ## Source
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    - https://www.tensorflow.org/guide/random_numbers
    """

    code = "TF204"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    supersedes = ("TF203",)
    calls = (
        *(f"random.{name}" for name in _RANDOM), *(f"random.Random().{name}" for name in _RANDOM),
        *(f"{generator}.{name}" for generator in _GENERATORS for name in _NUMPY_RANDOM), *_CLOCKS, *_IDS,
    )  # fmt: skip

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a draw by where it is made and what for."""
        trace = trace_of(call)
        if trace is None or trace.made_once or is_failing(call) or _is_setting(call):
            return
        clock = call.name in _CLOCKS
        instead = "`tf.timestamp()`" if clock else "a value from outside" if call.name in _IDS else "`tf.random`"
        severity = Severity.WARNING if clock or not trace.certain else Severity.ERROR
        yield self.report(
            call,
            f"`{call.path}` runs {trace.once}: its result is a constant of the graph. Use {instead}.",
            trace.severity(severity),
            related=trace.callers,
        )


def _is_setting(call: Call, depth: int = 0) -> bool:
    """Whether it only seeds or names something, or is the initial value of a variable: once is meant.

    So does what a function returns that is called for nothing else.
    """
    if any("seed" in name.lower() for name in (*call.assigned_to, call.function.name if call.function else "")):
        return True
    for other in call.file.calls_by_function.get(call.scope.function().id, []):
        if other.syntax is call.syntax or not (other.line <= call.line and call.end_line <= other.end_line):
            continue
        for keyword in other.call.keywords:
            if keyword.arg in _NOT_DRAWN and _contains(keyword.value, call.syntax):
                return True
        if other.name in _INITIALIZED or other.name.endswith(".seed"):
            if any(_contains(argument, call.syntax) for argument in other.call.args):
                return True
    function = call.scope.function()
    if depth == _MOST_FUNCTIONS or not (function.kind == "lambda" or isinstance(call.statement, ast.Return)):
        return False
    key = call.file.key, function.id
    callers = [other for other in call.file.calls if any(entity.key == key for entity in other.found)]
    return bool(callers) and all(_is_setting(caller, depth + 1) for caller in callers)


def _contains(node: ast.AST, wanted: ast.AST) -> bool:
    return any(part is wanted for part in ast.walk(node))
