"""Runs a script and writes down what its sessions computed: ``observed.py OUT RUNS SCRIPT [WORDS...]``.

It runs under TF 1.15 and under TF 2.21, so it is Python 3.7. What is not to differ stands still: random operations get
their number in the order of their creation as a seed, the MNIST data of TensorFlow's own examples is made up, what
draws is a stub, and the script ends after RUNS runs of sessions.

With OBSERVED_NUDGE in the environment what is fed is larger by a millionth, which is what the kernels of two versions
differ by: a script that then computes something else cannot be compared with itself.
"""

import importlib.abc
import importlib.machinery
import json
import os
import random
import runpy
import sys
import traceback
import types
import weakref

import numpy as np

MNIST = "tensorflow.examples.tutorials.mnist"
STUBS = (
    "scipy",
    "matplotlib",
    "mpl_toolkits",
    "seaborn",
    "PIL",
    "pylab",
    "moviepy",
    "imageio",
    "cv2",
    "tqdm",
    "gym",
    "termcolor",
)


class Enough(BaseException):
    """The script has run for long enough."""


class InOrder(set):
    """A set that is read in one order: hashes of texts are not those of another Python."""

    def __iter__(self):
        return iter(sorted(super().__iter__(), key=str))


class Stub(types.ModuleType):
    """Something that can be called, read, indexed and unpacked into two, and does nothing."""

    __path__ = ()

    def __init__(self, name="stub"):
        super().__init__(name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(name)

    def __call__(self, *arguments, **named):
        first = arguments[0] if arguments else None
        return first if self.__name__ in ("tqdm", "trange", "colored") and first is not None else Stub()

    def __iter__(self):
        return iter((Stub(), Stub()))

    def __getitem__(self, key):
        return Stub()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a stub for what draws and is not installed."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] in STUBS:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        pass


class Part:
    """A part of a made-up MNIST: digits are bright columns in noise, read in one order."""

    def __init__(self, count, seed, one_hot, reshape):
        numbers = np.random.RandomState(seed)
        digits = numbers.randint(0, 10, count)
        images = numbers.rand(count, 28, 28).astype(np.float32) * 0.3
        for row, digit in enumerate(digits):
            images[row, 4:24, 2 * digit + 2 : 2 * digit + 6] += 0.7
        self.images = images.reshape(count, 784) if reshape else images.reshape(count, 28, 28, 1)
        self.labels = np.eye(10)[digits] if one_hot else digits.astype(np.uint8)
        self.num_examples = count
        self.epochs_completed = 0
        self._at = 0

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """The next examples, from the beginning again after the last ones."""
        rows = np.arange(self._at, self._at + batch_size) % self.num_examples
        self.epochs_completed += (self._at + batch_size) // self.num_examples
        self._at = (self._at + batch_size) % self.num_examples
        return self.images[rows], self.labels[rows]


def read_data_sets(train_dir, fake_data=False, one_hot=False, dtype=None, reshape=True, validation_size=200, **named):
    """What TensorFlow's example gave, with fewer examples."""
    names = ("train", "validation", "test")
    return types.SimpleNamespace(
        **{name: Part((2000, 200, 300)[at], at, one_hot, reshape) for at, name in enumerate(names)}
    )


def install_data():
    """Put the made-up MNIST where scripts import it from."""
    modules = {}
    for end in range(2, len(MNIST.split(".")) + 1):
        name = ".".join(MNIST.split(".")[:end])
        modules[name] = types.ModuleType(name)
        modules[name].__path__ = []
    data = types.ModuleType(MNIST + ".input_data")
    data.read_data_sets = read_data_sets
    data.__spec__ = importlib.machinery.ModuleSpec(data.__name__, None)
    modules[MNIST].input_data = data
    modules[data.__name__] = data
    sys.modules.update(modules)


def digest(value):
    """Numbers that two runs have in common if they computed the same."""
    found = []
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        for part in value:
            found.extend(digest(part))
        return found
    if isinstance(value, (np.ndarray, np.generic, float, int)) and not isinstance(value, bool):
        array = np.asarray(value)
        if array.dtype.kind in "fiub":
            array = array.astype(np.float64).ravel()
            with np.errstate(all="ignore"):
                found.append([array.size, *(float(x) for x in array[:4])])
                if array.size > 4:
                    found[-1] += [float(np.mean(np.abs(array))), float(np.mean(array))]
    return found


def nudged(value):
    """Numbers that are larger by a millionth, if they are no whole ones."""
    if isinstance(value, (float, list, tuple, np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind == "f":
            return array * (1 + 1e-6)
    return value


def observe(seen, runs):
    """Record what sessions compute and number the random operations."""
    from tensorflow.python.client import session
    from tensorflow.python.framework import ops, random_seed

    known = weakref.WeakKeyDictionary()
    draws = {}

    def get_seed(op_seed):
        if op_seed is not None:
            return 87654321, op_seed
        graph = ops.get_default_graph()
        looked_at, number = known.get(graph, (0, 0))
        operations = graph.get_operations()
        for one in operations[looked_at:]:
            if one.type not in draws:
                draws[one.type] = any(attribute.name == "seed2" for attribute in one.op_def.attr)
            number += draws[one.type]
        known[graph] = len(operations), number
        return 87654321, number

    random_seed.get_seed = get_seed
    run = session.BaseSession.run
    make_callable = session.BaseSession._make_callable_from_options
    depth = [0]

    def counted(value):
        seen.append(digest(value))
        if len(seen) >= runs:
            raise Enough
        return value

    def observed(self, fetches, feed_dict=None, *arguments, **named):
        depth[0] += 1
        if "OBSERVED_NUDGE" in os.environ and feed_dict and depth[0] == 1:
            feed_dict = {key: nudged(value) for key, value in feed_dict.items()}
        try:
            value = run(self, fetches, feed_dict, *arguments, **named)
        finally:
            depth[0] -= 1
        return counted(value) if not depth[0] else value

    def observed_callable(self, options):
        made = make_callable(self, options)

        def call(*arguments, **named):
            return counted(made(*arguments, **named))

        return call

    session.BaseSession.run = observed
    session.BaseSession._make_callable_from_options = observed_callable


def seed():
    """Begin the random numbers of Python and numpy."""
    np.random.seed(1)
    random.seed(1)


def main():
    """Run a script until it ends or has run for long enough."""
    out, runs, script = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    os.chdir(os.path.dirname(os.path.abspath(script)))
    sys.path.insert(0, os.getcwd())
    seen = []
    end = "finished"
    sys.meta_path.append(Stubs())
    install_data()
    seed()
    sys.meta_path.insert(0, Watch(seen, runs))
    try:
        runpy.run_path(os.path.basename(script), {"set": InOrder}, "__main__")
    except Enough:
        end = "enough"
    except SystemExit as error:
        end = "finished" if not error.code else f"exit {error.code}"
    except BaseException as error:
        traceback.print_exc()
        end = f"{type(error).__name__}: {str(error)[:300]}"
    with open(out, "w") as stream:
        json.dump({"end": end, "seen": seen}, stream)
    sys.stdout.flush()
    os._exit(0)


class Watch(importlib.abc.MetaPathFinder):
    """Begins to observe when the script itself has imported TensorFlow: what it sets before must count."""

    def __init__(self, seen, runs):
        self._observed = (seen, runs)

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        execute, observed = spec.loader.exec_module, self._observed

        def exec_module(module):
            execute(module)
            seed()  # importing may have drawn
            observe(*observed)

        spec.loader.exec_module = exec_module
        return spec


if __name__ == "__main__":
    main()
