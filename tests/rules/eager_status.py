"""Writes what each callable of `tf.compat.v1` that TF2 itself does not have does in eager execution.

    python -m tests.rules.eager_status

Each is called with arguments that are made up by the names of its parameters, in a child process for itself, in a graph
and eagerly; the first combination that both take, or that eager execution refuses, is what counts. The calls whose
arguments cannot be made up stand in `eager_calls.py`:

``works``: it computes eagerly, or makes an object;
``raises``: eager execution refuses what a graph takes, with this type of error;
``nothing``: a graph gives an operation, a tensor or a list of such, and eager execution, which runs no operation, None,
an empty string or an empty list;
``unknown``: no combination was taken by both or told apart.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from .eager_calls import CALLS, evaluate

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "rules" / "tf1_api" / "eager_status.json"
_LEFT_OUT = (
    "app.", "flags.", "gfile.", "logging.", "keras.", "estimator.", "test.", "tpu.", "resource_loader.", "lite.",
)  # fmt: skip
"""What has nothing to do with graphs, or needs a device or a package of its own."""
_SWITCHES = re.compile(r"(?:^|\.)(?:enable|disable)_\w+$|initialize_tpu|reset_default_graph")
_SECONDS = 20
_MOST = 40
_GIVEN: dict[str, Any] = {
    "name": "made", "axis": 0, "dim": 0, "dims": [2], "shape": [2], "dtype": "float32", "num_classes": 2, "k": 1,
    "num_units": 2, "depth": 2, "size": [2, 2], "learning_rate": 0.1, "momentum": 0.9, "decay_steps": 10,
    "decay_rate": 0.5, "global_step": 1, "boundaries": [1, 2], "initial_learning_rate": 0.1, "thresholds": [0.5],
    "sensitivity": 0.5, "specificity": 0.5, "num_thresholds": 5, "batch_size": 2, "capacity": 8,
    "min_after_dequeue": 1, "logdir": "logs", "filename": "x.txt", "filenames": ["x.txt"], "string_tensor": ["a", "b"],
    "pattern": "*.txt", "delimiter": ",", "num_buckets": 5, "block_size": 2, "ksizes": [1, 1, 1, 1],
    "strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME", "paddings": [[0, 0]], "func": None,
    "Tout": "float32", "collection": "c", "key": "c", "names": "c", "value_rowids": [0, 1], "minval": 0.0,
    "maxval": 1.0, "mean": 0.0, "stddev": 1.0, "lam": 1.0, "alpha": 1.0, "num_samples": 1, "seed": [1, 2],
    "clip_norm": 1.0, "low": 0, "length": 2, "pos": 0, "len": 1, "num": 2, "begin": [0], "step": 1, "limit": 4,
    "num_shards": 2, "max_partitions": 2, "multiples": [2], "perm": [0], "offset": 0.0, "height": 2, "width": 2,
    "target_height": 2, "target_width": 2, "crops": [[0, 0]], "block_shape": [1], "feature_columns": [],
}  # fmt: skip
_STATE = re.compile(r"^(?:ref|var|variable|value_var)$")
_REFUSAL = re.compile(r"^RuntimeError|[Ee]ager|[Gg]raph")
"""What eager execution says where it takes no call; any other error is one of the arguments."""
_CHECKS = re.compile(r"(?:^|\.)assert_(?!variables)\w+$")
"""What gives nothing eagerly because it has checked already."""
_FUNCTION = re.compile(r"(?:^|_)(?:fn|func|function)$")


def names() -> dict[str, Any]:
    """The callables of `tf.compat.v1` below no other name of TF2, by their public names."""
    import tensorflow as tf

    found: dict[str, Any] = {}
    queue: list[tuple[Any, str]] = [(tf.compat.v1, "")]
    while queue:
        module, prefix = queue.pop()
        for name in dir(module):
            value = None if name.startswith("_") else getattr(module, name, None)
            full = f"{prefix}{name}"
            if isinstance(value, types.ModuleType):
                if full not in ("compat", "raw_ops") and not f"{full}.".startswith(_LEFT_OUT):
                    if _is_of_tensorflow(value):
                        queue.append((value, f"{full}."))
            elif callable(value) and not _has(tf, full) and not full.startswith(_LEFT_OUT):
                if not _SWITCHES.search(full) and full.count(".") < 3:
                    found[full] = value
    return dict(sorted(found.items()))


def _is_of_tensorflow(module: Any) -> bool:
    try:
        return "tensorflow" in module.__name__
    except AttributeError:  # of the other Keras
        return False


def _has(module: Any, name: str) -> bool:
    for part in name.split("."):
        module = getattr(module, part, None)
    return module is not None


def _kinds(tf: Any) -> list[Any]:
    """Tensors of many types and ranks, each made when it is asked for."""
    return [
        lambda: tf.constant([1.0, 2.0]),
        lambda: tf.constant([[1.0, 2.0], [3.0, 5.0]]),
        lambda: tf.constant([0, 1]),
        lambda: tf.constant([[0, 1], [1, 0]]),
        lambda: tf.constant([True, False]),
        lambda: tf.constant(["a", "1"]),
        lambda: tf.constant([[1.0, 2.0]], tf.complex64),
        lambda: tf.zeros([1, 4, 4, 1]),
        lambda: tf.constant(1.0),
        lambda: tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]]),
        lambda: [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])],
        lambda: tf.constant([0, 1], tf.int64),
    ]


def _calls(tf: Any, value: Any, described: Any) -> Iterator[Callable[[], Any]]:
    """Calls with combinations of arguments for the parameters that have to be given, each made when it is called."""
    try:
        parameters = inspect.signature(described).parameters.values()
    except (TypeError, ValueError):
        yield value
        return
    required = [
        one
        for one in parameters
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) and one.name != "self"
    ]
    fixed, free = {}, []
    for one in required:
        if one.name in _GIVEN:
            fixed[one.name] = lambda given=_GIVEN[one.name]: given
        elif _STATE.match(one.name):
            fixed[one.name] = lambda: tf.compat.v1.Variable([1.0, 2.0], name="state", use_resource=True)
        elif one.name == "dataset":
            fixed[one.name] = lambda: tf.data.Dataset.range(3)
        elif _FUNCTION.search(one.name):
            fixed[one.name] = lambda: lambda *given: given[0] if given else tf.constant(1.0)
        else:
            free.append(one.name)
    kinds = _kinds(tf)
    same = [[kind] * len(free) for kind in kinds]
    mixed = itertools.product(kinds, repeat=len(free)) if 1 < len(free) < 4 else iter(())
    for row in itertools.islice(itertools.chain(same if free else [[]], mixed), _MOST):
        yield partial(_with, value, {**fixed, **dict(zip(free, row, strict=True))})


def _with(value: Any, arguments: dict[str, Any]) -> Any:
    return value(**{name: make() for name, make in arguments.items()})


@cache
def _written() -> dict[str, str]:
    return {name: expression for names, expression in CALLS.items() for name in names.split()}


def _folder() -> contextlib.AbstractContextManager[None]:
    return contextlib.chdir(tempfile.mkdtemp(dir="."))


def _called(call: Callable[[], Any]) -> tuple[str, Any]:
    try:
        return "", call()
    except Exception as error:
        return f"{type(error).__name__}: {error}", None


def _is_empty(found: Any) -> bool:
    if found is None or (isinstance(found, (bytes, list, tuple)) and not found):
        return True
    numpy = getattr(found, "numpy", None)
    return numpy is not None and getattr(found, "dtype", None) == "string" and found.shape == [] and not found.numpy()


class _Watched:
    """A callable that notes whether its last call ran an operation eagerly."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.ran = False

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        from tensorflow.python.framework import op_callbacks

        def note(kind: Any, *_: Any, **__: Any) -> None:
            self.ran |= kind not in ("NoOp", b"NoOp")

        self.ran = False
        op_callbacks.add_op_callback(note)
        try:
            return self.value(*arguments, **keywords)
        finally:
            op_callbacks.remove_op_callback(note)


def judge(name: str) -> str:
    """What one callable does; it changes the state of the process."""
    import tensorflow as tf

    value = tf.compat.v1
    for part in name.split("."):
        value = getattr(value, part)
    value, written, signature = _Watched(value), _written().get(name), value
    direct = not written or written.startswith("f(")  # else what it gives is what the call has changed
    refused = ""
    for call in [partial(evaluate, written, value)] if written else _calls(tf, value, signature):
        with tf.Graph().as_default(), _folder():
            tf.compat.v1.get_variable("kept", [1])
            tf.compat.v1.losses.add_loss(tf.constant(1.0))
            tf.compat.v1.summary.scalar("seen", tf.constant(1.0))
            graph_error, in_graph = _called(call)
        if graph_error and not written:
            continue
        with _folder():
            error, eager = _called(call)
        if error:
            if _REFUSAL.search(error) or (written and not graph_error):
                refused = refused or error.partition(":")[0]
            continue
        if not _is_empty(eager) or (value.ran and direct) or _CHECKS.search(name):
            return "works"
        return "unknown" if _is_empty(in_graph) else "nothing"
    return f"raises {refused}" if refused else "unknown"


def judged(wanted: list[str]) -> dict[str, str]:
    """What callables do, each in a child of this process."""
    import tensorflow  # noqa: F401 - before the children

    found = {}
    for name in wanted:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            signal.alarm(_SECONDS)
            try:
                os.write(write, judge(name).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as answer:
            found[name] = answer.read() or "unknown"
        os.waitpid(child, 0)
    return found


def asked(wanted: list[str], target: str) -> dict[str, str]:
    """What callables do with one of the Kerases, by a child; all of them for an empty list."""
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": str(int(target == "keras2")), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.rules.eager_status", "--child"],
        input=json.dumps(wanted), capture_output=True, text=True, check=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    answer: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return answer


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # some of them write where they run
            print(json.dumps(judged(json.load(sys.stdin) or list(names()))))
    else:
        both = {target: asked([], target) for target in ("keras2", "keras3")}
        agreed = {name: told for name, told in both["keras2"].items() if both["keras3"].get(name) == told}
        rows: dict[str, list[str]] = {}
        for each, told in agreed.items():
            rows.setdefault(told, []).append(each)
        TABLE.write_text(json.dumps({told: " ".join(rows[told]) for told in sorted(rows)}, indent=1) + "\n", "utf-8")
