"""Writes a unit test that repeats a verification, with the four kinds of test that the migration guides list.

These are the forward pass, some training steps, the speed of inference against the TF1 side, and right predictions on
fixed points; https://www.tensorflow.org/guide/migrate/migration_debugging names them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from ...linter.reporters import printable
from ..worker.recording.format.reading import read
from .compare import compare
from .points import Points, points
from .results import Status

__all__ = ["generate"]

_TRAINING = ("step", "steps")
_INLINE = 200
"""Numbers of an array that are written into the test; of a larger one an even sample."""

_WIDTH = 100

_TEXT = Template('''\
"""Repeats what `migrate-lint verify $shown` found out: whether the TF2 model computes what the TF1 model computes.

Written by `migrate-lint verify --gen-test`, to be kept and changed. Run it with `python -m unittest` or with pytest.
"""

import atexit
import functools
$finding
import os
import shutil
import tempfile
import unittest

$environment
import numpy as np
$imports

$pair

# Everything that is to be verified: other pairs of the same file ("pair.py:name") for other parameters of the models,
# other seeds, more steps.
CONFIGURATIONS = [
    {"pair": PAIR, "steps": $steps, "seed": $seed},
]
FORWARD = $forward
TRAINING = $training

# How many times as long as the TF1 side the TF2 side may take for inference: the ratio of the medians of calls that
# are made in turns. Generous, because small models measure the overhead of a call.
SLOWEST = 10.0

# What the TF1 side made of the first batch $weights.
# By name: the shape, the distance of the values that were kept in the flattened array, and these values.
TRAINED = $trained
INPUTS = $inputs
PREDICTIONS = $predictions
RTOL, ATOL = 1e-4, 1e-5


@functools.lru_cache(maxsize=None)
def verified(pair, steps, seed):
    """The report of a configuration, and a folder with the recordings of both sides."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
$verify
    return report, folder


class MigratedModelTest(unittest.TestCase):
    """Both sides compute the same."""

    def test_forward_pass(self):
        """Variables match, and so do outputs, endpoints and regularization losses."""
        for configuration in CONFIGURATIONS:
            with self.subTest(**configuration):
                verified(**configuration)[0].assert_equal(*FORWARD)

$steps_test
    def test_inference_time(self):
        """Inference is not much slower than it was."""
        for pair in {configuration["pair"] for configuration in CONFIGURATIONS}:
            with self.subTest(pair=pair):
                times = inference_times(pair)
                self.assertLess(times.ratio, SLOWEST)

$points_test
    def close(self, expected, actual):
        self.assertEqual(list(expected), list(actual))
        for name, (shape, every, values) in expected.items():
            with self.subTest(name=name):
                self.assertEqual(tuple(shape), actual[name].shape)
                kept = actual[name].ravel()[::every]
                if kept.dtype.kind in "SUb":
                    self.assertEqual(list(values), kept.tolist())
                else:
                    np.testing.assert_allclose(kept, values, rtol=RTOL, atol=ATOL)


if __name__ == "__main__":
    unittest.main()
''')

_STEPS_TEST = '''\
    def test_training_steps(self):
        """Losses, learning rates, gradients, weights and the slots of the optimizer match, step by step."""
        for configuration in CONFIGURATIONS:
            with self.subTest(**configuration):
                verified(**configuration)[0].assert_equal(*TRAINING)
'''
_NO_STEPS_TEST = '''\
    @unittest.skip("the pair was verified without training steps")
    def test_training_steps(self):
        """Give the TF1 side a train_op, the pair a train_step or a compiled model, and generate this test again."""
'''
_POINTS_TEST = '''\
    def test_predictions_on_fixed_points(self):
        """What is predicted now is what the TF1 side predicted when this test was written."""
        _, folder = verified(**CONFIGURATIONS[0])
        found = points(os.path.join(folder, "tf2"))
        self.assertIsNotNone(found, "the TF2 side recorded no outputs")
        self.assertEqual(TRAINED, found.trained, "the TF2 side did not come as far as the TF1 side")
        self.close(INPUTS, found.inputs)
        self.close(PREDICTIONS, found.outputs)
'''
_NO_POINTS_TEST = '''\
    @unittest.skip("the TF1 side recorded no outputs")
    def test_predictions_on_fixed_points(self):
        """Verify at least up to the rung `fingerprint`, and generate this test again."""
'''
_IMPORTS = (
    "from migrate_lint.runtime_checks.benchmark import inference_times",
    "from migrate_lint.runtime_checks.comparison.points import points",
)
_IN_PROCESS = (
    "    report = verify(pair, until=UNTIL, policy=POLICY, steps=steps, seed=seed, folder=folder)",
    ("from migrate_lint.runtime_checks import verify",),
    'if importlib.util.find_spec("tf_keras"):\n'
    '    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # the model was verified with Keras 2',
)
_IN_WORKERS = (
    "    request = Request(pair, until=UNTIL, policy=POLICY, steps=steps, seed=seed, output=folder, target=KERAS)\n"
    "    report = run(request)  # in two processes: the TF1 side needs Keras 2, the TF2 side Keras 3",
    (
        "from migrate_lint.linter.finding import Target",
        "from migrate_lint.runtime_checks.verifying import Request, run",
    ),
    "",
)


def generate(
    run: str | os.PathLike[str], asked: Mapping[str, Any], beside: str | os.PathLike[str] | None = None
) -> str:
    """The text of a test file that repeats a run.

    Args:
        run: the run's folder, with the recordings of both sides.
        asked: what ``run.json`` says: ``pair`` (a file or a module), ``attribute``, ``until``, ``policy``, ``steps``
            and ``seed``.
        beside: the folder that the test will lie in, by default the working folder; the pair's file is looked for
            from there.

    Raises:
        RecordingError: if the folder holds no recordings, or damaged ones.
        ValueError: if what was asked for makes no sense.
    """
    tf1, tf2 = (read(Path(run, side)) for side in ("tf1", "tf2"))
    report = compare(tf1, tf2, policy=asked["policy"], until=asked.get("until"))
    ran = [rung.name for rung in report.rungs if rung.status is not Status.NOT_RUN]
    keras3 = (tf2.content.get("versions") or {}).get("target") == "keras3"
    verify, imports, environment = _IN_WORKERS if keras3 else _IN_PROCESS
    found = points(tf1)
    shown, pair = _pair(str(asked["pair"]), asked.get("attribute"), os.fspath(beside or os.getcwd()))
    trains = any(name in ran for name in _TRAINING)
    until = asked.get("until")
    constants = [pair, f"UNTIL = {None if until is None else _quoted(until)}", f"POLICY = {_quoted(asked['policy'])}"]
    constants += ["KERAS = Target.KERAS3"] if keras3 else []
    text = _TEXT.substitute(
        shown=printable(shown.replace("\\", "/").replace('"', "")),
        finding="import importlib.util" if environment else "",
        environment=f"{environment}\n" if environment else "",
        imports="\n".join(sorted({*_IMPORTS, *imports})),
        pair="\n".join(constants),
        steps=int(asked["steps"]),
        seed=int(asked["seed"]),
        forward=_tuple(name for name in ran if name not in _TRAINING),
        training=_tuple(name for name in ran if name in _TRAINING),
        trained=found is not None and found.trained,
        weights=_weights(found),
        inputs=_written({} if found is None else found.inputs),
        predictions=_written({} if found is None else found.outputs),
        verify=verify,
        steps_test=_STEPS_TEST if trains else _NO_STEPS_TEST,
        points_test=_NO_POINTS_TEST if found is None else _POINTS_TEST,
    )
    return text.replace("import unittest\n\n\n", "import unittest\n\n").replace("functools\n\n", "functools\n")


def _pair(place: str, attribute: str | None, folder: str) -> tuple[str, str]:
    """How the pair is called, and the line that says where it is."""
    name = f":{attribute}" if attribute else ""
    if not place.endswith(".py"):
        return f"{place}{name}", f"PAIR = {_quoted(place + name)}"
    relative = Path(os.path.relpath(place, folder)).as_posix()
    parts = ", ".join(map(_quoted, relative.split("/")))
    suffix = f" + {_quoted(name)}" if name else ""
    return f"{relative}{name}", f"PAIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), {parts}){suffix}"


def _quoted(text: object) -> str:
    """A literal of Python; JSON writes what lies beyond 16 bits as two characters."""
    words = str(text)
    return json.dumps(words) if words.isascii() else ascii(words)


def _tuple(names: Iterable[str]) -> str:
    words = [_quoted(name) for name in names]
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def _weights(found: Points | None) -> str:
    if found is None:
        return "is not known"
    return "after training" if found.trained else "with weights that follow from their names"


def _written(arrays: Mapping[str, Any]) -> str:
    """A dict of shapes, distances and values, as Python reads it."""
    if not arrays:
        return "{}"
    lines = ["{"]
    for name, array in arrays.items():
        every = max(1, -(-array.size // _INLINE))
        wrapped = _wrapped([_literal(value) for value in array.ravel()[::every]])
        lines += [
            f"    {_quoted(name)}: (",
            f"        {tuple(array.shape)},",
            f"        {every},",
            "        [",
            wrapped,
            "        ],",
            "    ),",
        ]
    return "\n".join([*lines, "}"])


def _wrapped(literals: Sequence[str]) -> str:
    """The literals with commas between them, in lines that break between two of them and nowhere else."""
    lines: list[str] = []
    for at, literal in enumerate(literals, 1):
        word = literal if at == len(literals) else f"{literal},"
        if lines and len(lines[-1]) + 1 + len(word) <= _WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(" " * 12 + word)
    return "\n".join(lines)


def _literal(value: Any) -> str:
    """The shortest text that gives the value back in its own dtype."""
    if value.dtype.kind == "f":
        return str(value) if np.isfinite(value) else f'float("{value}")'
    if value.dtype.kind == "c":
        return f"complex({_literal(value.real)}, {_literal(value.imag)})"
    return ascii(value.item())
