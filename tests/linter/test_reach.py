"""In which contexts code runs that is reached in a hundred ways: as the linter says, and as TensorFlow does."""

from __future__ import annotations

import builtins
import importlib
import linecache
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.analysis.execution_context import Context

from ..interpreters import Children
from .analysis import file_of
from .ways import WAYS, Way

MEMBERS = [(way, root) for way in WAYS for root in way.roots]
NOT_FOLLOWED = {
    "operator.methodcaller": "a name in a string",
    "setattr": "a name in a string",
    "a property of another object": "reads are followed on `self` alone",
    "a property by assignment": "a property is known by its decorator",
    "an operator": "which object has it is not asked of operators",
    "an item": "which object has it is not asked of subscripts",
    "__getattr__": "any name may be meant",
    "a function that an object is given to": "objects are not followed through parameters",
    "forwarded by star arguments": "positions are not followed through them",
    "a cache": "what runs once is a context of its own",
    "tf.recompute_grad on an attribute": "the argument is not known from the result",
    "a dataset: map on a parameter": "only its caller knows that it is a dataset",
    "a dataset: apply": "only its caller knows that it is a dataset",
}


def observed() -> list[list[bool]]:
    """In a child: of each member whether the marked code runs at each call, and whether it does so while tracing."""
    import tensorflow as tf

    seen: list[bool] = []
    tf.autograph.set_verbosity(0)
    builtins.mark = tf.autograph.experimental.do_not_convert(  # type: ignore[attr-defined]
        lambda: seen.append(tf.inside_function())
    )
    found: list[list[bool]] = []
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        sys.dont_write_bytecode = True
        for way, root in MEMBERS:
            found.append(_run(way, root, Path(folder), seen))
        sys.path.remove(folder)
    return found


def _run(way: Way, root: str, folder: Path, seen: list[bool]) -> list[bool]:
    import tensorflow as tf

    files = way.program(root)
    for name, text in files.items():
        (folder / name).write_text(text)
    linecache.clearcache()
    importlib.invalidate_caches()
    net: Any = importlib.import_module("example").net
    for name in files:
        sys.modules.pop(name.removesuffix(".py"), None)
    x = tf.ones((2, 3))
    entry = net if root == "layer" else net.step
    seen.clear()
    entry(x)
    traced = any(seen)
    seen.clear()
    entry(x)
    entry(x)
    each = not all(seen)
    if root == "layer":
        tf.function(net)(x)
    return [each, traced or any(seen)]


def placed(way: Way, root: str) -> list[bool]:
    """The same, as the linter says; what is only reached once says nothing of it."""
    files = way.program(root)
    name = next((name for name in files if name != "example.py" and "mark()" in files[name]), "example.py")
    marked = [site for site in file_of(files, name).calls if site.path == "mark"][-1]
    contexts = [context for context in marked.contexts if not context & Context.ONCE]
    each = any(
        context & (Context.FORWARD if root == "layer" else Context.FORWARD | Context.EAGER | Context.HOST)
        and (context & Context.FIT or not context & Context.TRACED)
        for context in contexts
    )
    return [each, any(context & Context.TRACED for context in contexts)]


@pytest.mark.tensorflow
@pytest.mark.slow
def test_code_is_placed_where_it_runs(children: Children) -> None:
    """Nothing is placed wrongly, and what is not followed is known by name."""
    runs = children.call("keras3", observed, alone=True)
    wrong, missed = [], []
    for (way, root), expected in zip(MEMBERS, runs, strict=True):
        found = placed(way, root)
        if any(said and not true for said, true in zip(found, expected, strict=True)):
            wrong.append((way.name, root, found, expected))
        elif found != expected:
            missed.append(way.name)

    assert [] == wrong
    assert set(NOT_FOLLOWED) == set(missed)
    assert len({way.name for way in WAYS}) >= 200
    assert len(missed) <= 0.06 * len(MEMBERS)
