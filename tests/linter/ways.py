"""Ways by which a forward pass, a `tf.function` or a `tf.data` transformation reaches code, as programs.

In each of them some code calls ``mark()``.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent, indent
from typing import NamedTuple

ROOTS = ("layer", "function", "dataset")
_HEAD = """\
import atexit
import contextlib
import functools
import operator
import threading
from functools import partial, reduce
import numpy as np
import tensorflow as tf

def target(x):
    mark()
    return x

"""
_BASES = {"layer": "tf.keras.layers.Layer", "function": "tf.Module", "dataset": "tf.Module", "eager": "tf.Module"}
_METHODS = {
    "layer": "def call(self, x):\n",
    "function": "@tf.function\ndef step(self, x):\n",
    "dataset": "def step(self, x):\n",
    "eager": "def step(self, x):\n",
}


class Way(NamedTuple):
    """The code of the root's body, what stands before the class, and its other methods."""

    name: str
    body: str
    module: str = ""
    members: str = ""
    files: Mapping[str, str] = {}
    roots: tuple[str, ...] = ("layer", "function")
    base: str = ""

    def program(self, root: str) -> dict[str, str]:
        """Its files; the one that is run is the last, and has a `net` with the method `step` or `call`."""
        body = dedent(self.body).strip("\n")
        if "return" not in body.rpartition("\n")[2]:
            body = f"{body}\nreturn x" if "\n" in body or "=" in body.partition("(")[0] else f"return {body}"
        if root == "dataset":
            body = f"def element(x):\n{indent(body, '    ')}\nreturn list(tf.data.Dataset.from_tensors(x).map(element))"
        cls = f"class Net({self.base or _BASES[root]}):\n{indent(dedent(self.members), '    ')}"
        cls += indent(_METHODS[root] + indent(body, "    "), "    ") + "\n"
        run = "net.step(tf.ones((2, 3)))\n" if root == "eager" else ""
        return {**self.files, "example.py": f"{_HEAD}{dedent(self.module)}\n{cls}\nnet = Net()\n{run}"}


def init(code: str) -> str:
    """A constructor."""
    return f"def __init__(self):\n    super().__init__()\n{indent(dedent(code).strip(chr(10)), '    ')}\n"


WAYS = [
    # -- what is called -----------------------------------------------------------------------------------------------
    Way("a function", "target(x)", roots=ROOTS),
    Way("a lambda in place", "(lambda y: target(y))(x)", roots=ROOTS),
    Way("either of two in place", "(target if x is not None else tf.identity)(x)", roots=ROOTS),
    Way("the first that is true in place", "(None or target)(x)"),
    Way("a name for a lambda", "f = lambda y: target(y)\nreturn f(x)"),
    Way("a name bound in passing", "(f := target)(x)"),
    Way("either of two by a name", "f = target if x is not None else tf.identity\nreturn f(x)"),
    Way("either of two by an if", "if x is None:\n    f = tf.identity\nelse:\n    f = target\nreturn f(x)"),
    Way("an item of a dict in place", '{"a": target, "b": tf.identity}["a"](x)'),
    Way("an item of a local dict", 'fs = {"a": target}\nreturn fs["a"](x)', roots=ROOTS),
    Way("an item of a local list", "fs = [tf.identity, target]\nreturn fs[1](x)"),
    Way("an item of a tuple that is unpacked", "f, g = target, tf.identity\nreturn g(f(x))"),
    Way("an item of a list of lambdas", "fs = [lambda y: target(y)]\nreturn fs[0](x)"),
    Way("a dict's get", 'fs = {"a": target}\nreturn fs.get("a")(x)'),
    Way("a table of the module", 'FS["a"](x)', 'FS = {"a": target, "b": tf.identity}\n', roots=ROOTS),
    Way("a table of the module that is filled", 'FS["a"](x)', 'FS = {}\nFS["a"] = target\n'),
    Way("a registry", 'REGISTRY["run"](x)', """
        REGISTRY = {}
        def register(fn):
            REGISTRY[fn.__name__] = fn
            return fn
        @register
        def run(x):
            mark()
            return x
        """),
    Way("a loop over a list", "for f in [tf.identity, target]:\n    x = f(x)\nreturn x", roots=ROOTS),
    Way("a loop over a named tuple of functions", "for f in FS:\n    x = f(x)\nreturn x",
        "FS = (target, tf.identity)\n"),
    Way("a loop over a dict's values", "for f in FS.values():\n    x = f(x)\nreturn x", 'FS = {"a": target}\n'),
    Way("a loop over a dict's items", "for _, f in FS.items():\n    x = f(x)\nreturn x", 'FS = {"a": target}\n'),
    Way("a loop over pairs", "for n, f in [(1, target)]:\n    x = f(x)\nreturn x"),
    Way("a loop over enumerate", "for n, f in enumerate([target]):\n    x = f(x)\nreturn x"),
    Way("a loop over zip", "for f, n in zip([target], [1]):\n    x = f(x)\nreturn x"),
    Way("a comprehension over functions", "[f(x) for f in (target, tf.identity)][0]"),
    Way("a generator expression that any asks", "any(f(x) is None for f in (target,))\nreturn x"),
    Way("getattr with a literal", 'getattr(self, "run")(x)', "", "def run(self, x):\n    mark()\n    return x\n"),
    Way("operator.methodcaller", 'operator.methodcaller("run", x)(self)', "",
        "def run(self, x):\n    mark()\n    return x\n"),
    Way("a global that is assigned", "f(x)", "f = target\n"),
    Way("a result's result", "make()()(x)", "def make():\n    return lambda: target\n"),
    Way("apply with a literal list", "functools.reduce(lambda y, f: f(y), [target], x)"),
    # -- attributes ---------------------------------------------------------------------------------------------------
    Way("an attribute", "self.f(x)", "", init("self.f = target"), roots=ROOTS),
    Way("an attribute with a lambda", "self.f(x)", "", init("self.f = lambda y: target(y)"), roots=ROOTS),
    Way("an attribute with either of two", "self.f(x)", "", init("self.f = target if FLAG else tf.identity").replace(
        "FLAG", "len('a')")),
    Way("an attribute with a method", "self.f(x)", "", init("self.f = self.run")
        + "def run(self, x):\n    mark()\n    return x\n"),
    Way("an attribute with a partial", "self.f(x)", "", init("self.f = functools.partial(target)")),
    Way("an attribute with a partial of a method", "self.f(x)", "", init("self.f = partial(self.run, scale=2)")
        + "def run(self, x, scale=1):\n    mark()\n    return x\n"),
    Way("an attribute with a dict", 'self.fs["a"](x)', "", init('self.fs = {"a": target}'), roots=ROOTS),
    Way("an attribute with a dict of methods", 'self.fs["a"](x)', "", init('self.fs = {"a": self.run}')
        + "def run(self, x):\n    mark()\n    return x\n"),
    Way("an attribute with a list", "self.fs[0](x)", "", init("self.fs = [target, tf.identity]")),
    Way("an attribute with a list that is filled", "for f in self.fs:\n    x = f(x)\nreturn x", "",
        init("self.fs = []\nself.fs.append(target)")),
    Way("an attribute with a list of lambdas", "self.fs[0](x)", "", init("self.fs = [lambda y: target(y)]")),
    Way("an attribute with a comprehension", "for f in self.fs:\n    x = f(x)\nreturn x", "",
        init("self.fs = [f for f in (target,)]")),
    Way("an attribute with what a factory makes", "self.f(x)",
        "def make(scale):\n    def inner(x):\n        mark()\n        return x * scale\n    return inner\n",
        init("self.f = make(2.0)"), roots=ROOTS),
    Way("an attribute with an object", "self.f(x)",
        "class Block:\n    def __call__(self, x):\n        mark()\n        return x\n", init("self.f = Block()")),
    Way("an attribute of an attribute", "self.a.b(x)",
        "class Box:\n    def __init__(self):\n        self.b = target\n", init("self.a = Box()")),
    Way("a class attribute", "self.f[0](x)", "", "f = (target,)\n"),
    Way("a class attribute with a static function", "self.f(x)", "", "f = staticmethod(target)\n"),
    Way("an attribute that another method sets", "self.f(x)", "", init("self.setup()")
        + "def setup(self):\n    self.f = target\n"),
    Way("an attribute that a parameter gives", "self.block.fn(x)",
        "class Block:\n    def __init__(self, fn):\n        self.fn = fn\n", init("self.block = Block(target)")),
    Way("a method that calls what the constructor was given", "self.block.run(x)", """
        class Block:
            def __init__(self, fn):
                self.fn = fn
            def run(self, x):
                return self.fn(x)
        """, init("self.block = Block(target)"), roots=ROOTS),
    Way("a layer that calls what its constructor was given", "self.block(x)", """
        class Block(tf.keras.layers.Layer):
            def __init__(self, fn):
                super().__init__()
                self.fn = fn
            def call(self, x):
                return self.fn(x)
        """, init("self.block = Block(target)"), roots=("layer",)),
    Way("setattr", "self.f(x)", "", init('setattr(self, "f", target)')),
    # -- methods ------------------------------------------------------------------------------------------------------
    Way("a method", "self.run(x)", "", "def run(self, x):\n    mark()\n    return x\n", roots=ROOTS),
    Way("a method of a class", "self.run(x)", "", "@classmethod\ndef run(cls, x):\n    mark()\n    return x\n"),
    Way("a static method", "self.run(x)", "", "@staticmethod\ndef run(x):\n    mark()\n    return x\n"),
    Way("a static method by the class", "Net.run(x)", "", "@staticmethod\ndef run(x):\n    mark()\n    return x\n"),
    Way("a method by the class", "Net.run(self, x)", "", "def run(self, x):\n    mark()\n    return x\n"),
    Way("a method by type(self)", "type(self).run(self, x)", "", "def run(self, x):\n    mark()\n    return x\n"),
    Way("a method by self.__class__", "self.__class__.run(self, x)", "",
        "def run(self, x):\n    mark()\n    return x\n"),
    Way("a property", "x * self.scale", "", "@property\ndef scale(self):\n    mark()\n    return 2.0\n", roots=ROOTS),
    Way("a property of another object", "x * self.box.scale",
        "class Box:\n    @property\n    def scale(self):\n        mark()\n        return 2.0\n",
            init("self.box = Box()")),
    Way("a function that a property gives", "self.f(x)", "", "@property\ndef f(self):\n    return target\n"),
    Way("a property by assignment", "x * self.scale", "",
        "def _scale(self):\n    mark()\n    return 2.0\nscale = property(_scale)\n"),
    Way("an inherited method", "self.run(x)", base="Base", roots=("function",), module="""
        class Base(tf.Module):
            def run(self, x):
                mark()
                return x
        """),
    Way("a mixin's method", "self.run(x)", base="Mixin, tf.Module", roots=("function",), module="""
        class Mixin:
            def run(self, x):
                mark()
                return x
        """),
    Way("a method through super", "self.run(x)", base="Base", roots=("function",), module="""
        class Base(tf.Module):
            def run(self, x):
                mark()
                return x
        """, members="def run(self, x):\n    return super().run(x)\n"),
    Way("a method through super with words", "super(Net, self).run(x)", base="Base", roots=("function",), module="""
        class Base(tf.Module):
            def run(self, x):
                mark()
                return x
        """),
    Way("a mixin that calls super", "self.run(x)", base="Mixin, Base", roots=("function",), module="""
        class Base(tf.Module):
            def run(self, x):
                mark()
                return x
        class Mixin:
            def run(self, x):
                return super().run(x)
        """),
    Way("an override", "self.outer(x)", base="Base", roots=("function",), module="""
        class Base(tf.Module):
            def outer(self, x):
                return self.inner(x)
            def inner(self, x):
                return x
        """, members="def inner(self, x):\n    mark()\n    return x\n"),
    Way("a method as an argument", "apply(self.run, x)", "def apply(f, x):\n    return f(x)\n",
        "def run(self, x):\n    mark()\n    return x\n", roots=ROOTS),
    Way("an operator", "self + x", "", "def __add__(self, x):\n    mark()\n    return x\n"),
    Way("an item", "self[x]", "", "def __getitem__(self, x):\n    mark()\n    return x\n"),
    Way("__getattr__", "x * self.scale", "",
        "def __getattr__(self, name):\n    if name != 'scale':\n        raise AttributeError(name)\n"
        "    mark()\n    return 2.0\n"),
    Way("__enter__", "with Box():\n    return x",
        "class Box:\n    def __enter__(self):\n        mark()\n    def __exit__(self, *a):\n        pass\n"),
    Way("a constructor", "Box(x).x", "class Box:\n    def __init__(self, x):\n        mark()\n        self.x = x\n"),
    Way("a dataclass that is called", "Box()(x)",
        "class Box:\n    def __call__(self, x):\n        return self.run(x)\n"
        "    def run(self, x):\n        mark()\n        return x\n"),
    Way("a function that an object is given to", "run(self, x)", "def run(layer, x):\n    return layer.helper(x)\n",
        "def helper(self, x):\n    mark()\n    return x\n"),
    # -- functions that are given -------------------------------------------------------------------------------------
    Way("a helper that calls what it is given", "apply(target, x)", "def apply(f, x):\n    return f(x)\n", roots=ROOTS),
    Way("by a keyword", "apply(x, fn=target)", "def apply(x, fn):\n    return fn(x)\n"),
    Way("through two helpers", "outer(target, x)",
        "def inner(g, x):\n    return g(x)\ndef outer(f, x):\n    return inner(f, x)\n", roots=ROOTS),
    Way("in a list", "chain([tf.identity, target], x)",
        "def chain(fs, x):\n    for f in fs:\n        x = f(x)\n    return x\n"),
    Way("in a dict", 'pick({"a": target}, x)', 'def pick(fs, x):\n    return fs["a"](x)\n'),
    Way("with star arguments", "chain(x, tf.identity, target)",
        "def chain(x, *fs):\n    for f in fs:\n        x = f(x)\n    return x\n"),
    Way("forwarded by star arguments", "outer(target, x)",
        "def inner(f, x):\n    return f(x)\ndef outer(*args):\n    return inner(*args)\n"),
    Way("forwarded by keywords", "outer(x, fn=target)",
        "def inner(x, fn=None):\n    return fn(x)\ndef outer(x, **kwargs):\n    return inner(x, **kwargs)\n"),
    Way("as a default", "apply(x)", "def apply(x, f=target):\n    return f(x)\n", roots=ROOTS),
    Way("as a default of a lambda", "(lambda y, f=target: f(y))(x)"),
    Way("through a closure", "make(target)(x)",
        "def make(f):\n    def inner(x):\n        return f(x)\n    return inner\n", roots=ROOTS),
    Way("through a closure kept on self", "self.f(x)",
        "def make(f):\n    def inner(x):\n        return f(x)\n    return inner\n", init("self.f = make(target)")),
    Way("through a lambda in the helper", "apply(target, x)", "def apply(f, x):\n    return (lambda: f(x))()\n"),
    Way("a nested function", "def inner(y):\n    mark()\n    return y\nreturn inner(x)", roots=ROOTS),
    Way("a nested function in a nested function",
        "def inner(y):\n    def deep(z):\n        mark()\n        return z\n    return deep(y)\nreturn inner(x)"),
    Way("a compose", "compose(tf.identity, target)(x)",
        "def compose(f, g):\n    return lambda x: f(g(x))\n"),
    Way("a method that is given a lambda", "self.run(lambda: target(x))", "", "def run(self, fn):\n    return fn()\n",
        roots=ROOTS),
    Way("a method that is given elsewhere to the same helper", "self.run(lambda: x)", "", """
        def setup(self):
            return self.run(lambda: target(1))
        def run(self, fn):
            return fn()
        """),
    Way("a helper that others give another function", "apply(tf.identity, x)",
        "def apply(f, x):\n    return f(x)\ndef other():\n    return apply(target, 1)\n"),
    Way("functools.partial in place", "partial(target)(x)"),
    Way("a local partial", "f = functools.partial(target)\nreturn f(x)"),
    Way("a partial of the module", "f(x)", "f = partial(target)\n"),
    Way("a partial that gives a function", "f(x)", "def apply(g, x):\n    return g(x)\nf = partial(apply, target)\n"),
    Way("a partial that gives a function by keyword", "f(x)",
        "def apply(x, g=None):\n    return g(x)\nf = partial(apply, g=target)\n"),
    Way("a partial of a partial", "f(x)", "def two(a, x):\n    return target(x)\nf = partial(partial(two), 1)\n"),
    Way("map", "list(map(target, [x]))\nreturn x", roots=ROOTS),
    Way("filter", "list(filter(lambda y: target(y) is not None, [x]))\nreturn x"),
    Way("sorted by a key", "sorted([2, 1], key=lambda y: target(y))\nreturn x"),
    Way("max by a key", "max([2, 1], key=lambda y: target(y))\nreturn x"),
    Way("reduce", "reduce(lambda a, b: target(a), [x, x])"),
    Way("sort by a key", "ys = [2, 1]\nys.sort(key=lambda y: target(y))\nreturn x"),
    Way("a generator", "for y in gen(x):\n    x = y\nreturn x", "def gen(x):\n    mark()\n    yield x\n"),
    Way("a context manager", "with scope():\n    return x",
        "@contextlib.contextmanager\ndef scope():\n    mark()\n    yield\n"),
    Way("an exit stack", "with contextlib.ExitStack() as stack:\n    stack.callback(target, x)\nreturn x"),
    Way("a thread", "t = threading.Thread(target=target, args=(1,))\nt.start()\nt.join()\nreturn x", roots=("layer",)),
    Way("atexit", "atexit.register(target, 1)\nreturn x"),
    Way("a cache", "run(1)\nreturn x", "@functools.lru_cache(None)\ndef run(n):\n    mark()\n    return n\n"),
    Way("a function that is only named", "f = target\nreturn x"),
    Way("a function that is only stored", "self.f\nreturn x", "", init("self.f = target")),
    # -- decorators ---------------------------------------------------------------------------------------------------
    *(Way(name, "run(x)", f"{dedent(deco)}\n{use}\ndef run(x):\n    mark()\n    return x\n", roots=("layer",
        "function"))
      for name, use, deco in [
        ("tf.function as a decorator", "@tf.function", ""),
        ("tf.function with options", "@tf.function(autograph=False)", ""),
        ("a partial of tf.function", "@partial(tf.function, autograph=False)", ""),
        ("another name of tf.function", "@graph", "graph = tf.function\n"),
        ("a decorator that returns tf.function", "@jit", "def jit(fn):\n    return tf.function(fn)\n"),
        ("a decorator that returns its function", "@plain", "def plain(fn):\n    return fn\n"),
        ("a decorator with a wrapper", "@wrap", """
        def wrap(fn):
            @functools.wraps(fn)
            def inner(*args, **kwargs):
                return fn(*args, **kwargs)
            return inner
        """),
        ("a decorator with a lambda", "@wrap", "def wrap(fn):\n    return lambda *args: fn(*args)\n"),
        ("a decorator whose wrapper is a tf.function", "@wrap", """
        def wrap(fn):
            @tf.function
            def inner(x):
                return fn(x)
            return inner
        """),
        ("a decorator that gives its wrapper to tf.function", "@wrap", """
        def wrap(fn):
            def inner(x):
                return fn(x)
            return tf.function(inner)
        """),
        ("a decorator that names the result", "@wrap", """
        def wrap(fn):
            fast = tf.function(fn)
            return fast
        """),
        ("a decorator whose wrapper calls a tf.function", "@wrap", """
        def wrap(fn):
            fast = tf.function(fn)
            def inner(x):
                return fast(x)
            return inner
        """),
        ("a factory of decorators", "@scoped('neck')", """
        def scoped(name):
            def wrap(fn):
                def inner(*args):
                    with tf.name_scope(name):
                        return fn(*args)
                return inner
            return wrap
        """),
        ("a factory that makes a tf.function", "@compiled(False)", """
        def compiled(jit):
            def wrap(fn):
                return tf.function(fn, autograph=jit)
            return wrap
        """),
        ("a factory that returns tf.function or nothing", "@maybe()", """
        def maybe(enabled=True):
            return tf.function if enabled else (lambda f: f)
        """),
        ("a factory that returns a partial of tf.function", "@options()", """
        def options():
            return functools.partial(tf.function, autograph=False)
        """),
        ("a factory that returns tf.function with options", "@options()", """
        def options():
            return tf.function(autograph=False)
        """),
        ("a decorator with optional options", "@wrap", """
        def wrap(fn=None, scale=1):
            if fn is None:
                return functools.partial(wrap, scale=scale)
            def inner(x):
                return fn(x) * scale
            return inner
        """),
        ("a class as a decorator", "@Wrap", """
        class Wrap:
            def __init__(self, fn):
                self.fn = fn
            def __call__(self, x):
                return self.fn(x)
        """),
        ("an object as a decorator", "@Wrap(2)", """
        class Wrap:
            def __init__(self, n):
                self.n = n
            def __call__(self, fn):
                def inner(x):
                    return fn(x)
                return inner
        """),
        ("a class as a decorator that traces", "@Wrap", """
        class Wrap:
            def __init__(self, fn):
                self.fn = tf.function(fn)
            def __call__(self, x):
                return self.fn(x)
        """),
        ("two decorators", "@outer\n@inner", """
        def outer(fn):
            return lambda x: fn(x)
        def inner(fn):
            return tf.function(fn)
        """),
        ("tf.function over a decorator", "@tf.function\n@wrap", "def wrap(fn):\n    return lambda x: fn(x)\n"),
        ("a decorator over tf.function", "@wrap\n@tf.function", "def wrap(fn):\n    return lambda x: fn(x)\n"),
        ("a decorator that calls another", "@wrap", """
        def inner(fn):
            return tf.function(fn)
        def wrap(fn):
            return inner(fn)
        """),
        ("contextmanager as a decorator", "@scope()", """
        @contextlib.contextmanager
        def scope():
            yield
        """),
        ("tf.custom_gradient", "@double", """
        def double(fn):
            @tf.custom_gradient
            def inner(x):
                return fn(x), lambda dy: dy
            return inner
        """),
        ("tf.recompute_grad", "@tf.recompute_grad", ""),
        ("do_not_convert", "@tf.autograph.experimental.do_not_convert", ""),
        ("with_name_scope", "@again", """
        def again(fn):
            def inner(*args):
                for _ in range(2):
                    result = fn(*args)
                return result
            return inner
        """),
        ("a decorator beside another use of it", "@wrap", """
        def wrap(fn):
            def inner(x):
                return fn(x)
            return inner
        @tf.function
        @wrap
        def other(x):
            return x
        other(1)
        """),
      ]),
    Way("a decorated method", "self.run(x)",
        "def wrap(fn):\n    def inner(self, *args):\n        return fn(self, *args)\n    return inner\n",
        "@wrap\ndef run(self, x):\n    mark()\n    return x\n"),
    Way("a method under a factory of decorators", "self.run(x)", """
        def retry(times):
            def wrap(fn):
                @functools.wraps(fn)
                def inner(self, *args):
                    return fn(self, *args)
                return inner
            return wrap
        """, "@retry(3)\ndef run(self, x):\n    mark()\n    return x\n"),
    Way("a method under an own tf.function", "self.run(x)", "def jit(fn):\n    return tf.function(fn)\n",
        "@jit\ndef run(self, x):\n    mark()\n    return x\n"),
    Way("a decorated class", "Box()(x)", """
        def plain(cls):
            return cls
        @plain
        class Box:
            def __call__(self, x):
                mark()
                return x
        """),
    Way("a wrapper's own code", "run(x)", """
        def wrap(fn):
            def inner(x):
                mark()
                return fn(x)
            return inner
        @wrap
        def run(x):
            return x
        """),
    Way("a decorator's own code", "run(x)", """
        def wrap(fn):
            mark()
            return fn
        @wrap
        def run(x):
            return x
        """),
    # -- what TensorFlow does with functions --------------------------------------------------------------------------
    Way("tf.function in place", "tf.function(target)(x)", roots=("function",)),
    Way("tf.function by a helper", "self.f(x)", "def jit(fn):\n    return tf.function(fn)\n",
        init("self.f = jit(target)"), roots=ROOTS),
    Way("tf.function by a helper's helper", "self.f(x)",
        "def jit(fn):\n    return tf.function(fn)\ndef fast(g):\n    return jit(g)\n", init("self.f = fast(target)")),
    Way("tf.function by a method", "self.f(x)", "",
        "def jit(self, fn):\n    return tf.function(fn)\n" + init("self.f = self.jit(target)")),
    Way("tf.function on an attribute", "self.f(x)", "", init("self.f = tf.function(self.run)")
        + "def run(self, x):\n    mark()\n    return x\n", roots=ROOTS),
    Way("tf.function in a dict", 'self.fs["a"](x)', "", init('self.fs = {"a": tf.function(target)}')),
    Way("tf.function in a comprehension", "self.fs[0](x)", "", init("self.fs = [tf.function(f) for f in (target,)]")),
    Way("tf.function of a lambda", "self.f(x)", "", init("self.f = tf.function(lambda y: target(y))")),
    Way("tf.function by options first", "f(x)", "f = tf.function(autograph=False)(target)\n"),
    Way("tf.cond", "tf.cond(tf.constant(True), lambda: target(x), lambda: x)", roots=ROOTS),
    Way("tf.case", "tf.case([(tf.constant(True), lambda: target(x))], default=lambda: x)"),
    Way("tf.switch_case", "tf.switch_case(tf.constant(0), [lambda: target(x), lambda: x])"),
    Way("tf.while_loop", "tf.while_loop(lambda i: i < 1, lambda i: (target(i) + 1,), [0])\nreturn x"),
    Way("tf.map_fn", "tf.map_fn(target, x)", roots=ROOTS),
    Way("tf.map_fn by a name", "tf.map_fn(fn=lambda y: target(y), elems=x)"),
    Way("tf.scan", "tf.scan(lambda a, y: target(a), x)"),
    Way("tf.foldl", "tf.foldl(lambda a, y: target(a), x)"),
    Way("tf.vectorized_map", "tf.vectorized_map(lambda y: target(y), x)", roots=("function",)),
    Way("tf.nest.map_structure", "tf.nest.map_structure(target, [x])[0]"),
    Way("tf.py_function", "tf.py_function(target, [x], tf.float32)"),
    Way("tf.numpy_function", "tf.numpy_function(target, [x], tf.float32)"),
    Way("tf.py_function of a lambda", "tf.py_function(lambda y: target(y), [x], tf.float32)"),
    Way("tf.py_function by a helper", "host(target, x)",
        "def host(fn, x):\n    return tf.py_function(fn, [x], tf.float32)\n"),
    Way("tf.custom_gradient's function", "op(x)", """
        @tf.custom_gradient
        def op(x):
            mark()
            return x, lambda dy: dy
        """),
    Way("tf.custom_gradient's gradient", """
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = op(x)
        tape.gradient(y, x)
        return x
        """, """
        @tf.custom_gradient
        def op(x):
            def grad(dy):
                mark()
                return dy
            return x, grad
        """),
    Way("tf.recompute_grad on an attribute", "self.f(x)", "", init("self.f = tf.recompute_grad(target)")),
    Way("tf.recompute_grad in place", "tf.recompute_grad(target)(x)"),
    Way("tf.GradientTape", "with tf.GradientTape():\n    y = target(x)\nreturn x"),
    Way("tf.init_scope", "with tf.init_scope():\n    target(1)\nreturn x"),
    Way("strategy.run", "strategy.run(target, args=(x,))", "strategy = tf.distribute.get_strategy()\n"),
    Way("a Lambda layer", "self.f(x)", "", init("self.f = tf.keras.layers.Lambda(lambda y: target(y))"),
        roots=("layer",)),
    Way("an activation", "self.f(x)", "", init("self.f = tf.keras.layers.Activation(target)"), roots=("layer",)),
    Way("an activation of Dense", "self.f(x)", "", init("self.f = tf.keras.layers.Dense(2, activation=target)"),
        roots=("layer",)),
    Way("autograph.to_graph", "f(x)", "f = tf.autograph.to_graph(target)\n", roots=("function",)),
    Way("name_scope", "with tf.name_scope('a'):\n    return target(x)"),
    # -- datasets -----------------------------------------------------------------------------------------------------
    *(Way(f"a dataset: {name}", "list(load(x))\nreturn x", dedent(code), roots=("eager",)) for name, code in [
        ("map", "def load(x):\n    return tf.data.Dataset.from_tensors(x).map(target)\n"),
        ("map of a lambda", "def load(x):\n    return tf.data.Dataset.from_tensors(x).map(lambda y: target(y))\n"),
        ("map on what a name holds",
         "def load(x):\n    ds = tf.data.Dataset.from_tensors(x)\n    ds = ds.repeat(2)\n    return ds.map(target)\n"),
        ("map on an annotated parameter", """
        def prepare(ds: tf.data.Dataset):
            return ds.map(target)
        def load(x):
            return prepare(tf.data.Dataset.from_tensors(x))
        """),
        ("map on a parameter", """
        def prepare(ds):
            return ds.map(target)
        def load(x):
            return prepare(tf.data.Dataset.from_tensors(x))
        """),
        ("map on a parameter with a dataset's keyword", """
        def prepare(ds):
            return ds.map(target, num_parallel_calls=2)
        def load(x):
            return prepare(tf.data.Dataset.from_tensors(x))
        """),
        ("map on a parameter that was shuffled, with a dataset's keyword", """
        def prepare(ds):
            ds = ds.shuffle(3)
            return ds.batch(2).map(target, deterministic=True).prefetch(1)
        def load(x):
            return prepare(tf.data.Dataset.from_tensors(x))
        """),
        ("map on an unknown value with a dataset's keyword", """
        def load(x):
            return make[0](x).map(target, num_parallel_calls=tf.data.AUTOTUNE)
        make = [tf.data.Dataset.from_tensors][:]
        """),
        ("map of a parameter", """
        def prepare(ds, fn):
            return ds.map(fn, num_parallel_calls=2)
        def load(x):
            return prepare(tf.data.Dataset.from_tensors(x), target)
        """),
        ("map of a parameter on a known dataset", """
        def prepare(x, fn):
            return tf.data.Dataset.from_tensors(x).map(fn)
        def load(x):
            return prepare(x, target)
        """),
        ("map of a wrapped parameter", """
        def prepare(x, fn):
            return tf.data.Dataset.from_tensors(x).map(lambda y: fn(y))
        def load(x):
            return prepare(x, target)
        """),
        ("map of a partial", "def load(x):\n    return tf.data.Dataset.from_tensors(x).map(partial(target))\n"),
        ("map of what a factory makes", """
        def make():
            def inner(x):
                mark()
                return x
            return inner
        def load(x):
            return tf.data.Dataset.from_tensors(x).map(make())
        """),
        ("map of an object", """
        class Block:
            def __call__(self, x):
                mark()
                return x
        def load(x):
            return tf.data.Dataset.from_tensors(x).map(Block())
        """),
        ("map of an item of a table", """
        FS = {"a": target}
        def load(x):
            return tf.data.Dataset.from_tensors(x).map(FS["a"])
        """),
        ("map in a loop over functions", """
        def load(x):
            ds = tf.data.Dataset.from_tensors(x)
            for f in (target, tf.identity):
                ds = ds.map(f)
            return ds
        """),
        ("filter", "def load(x):\n    return tf.data.Dataset.range(2).filter(lambda y: target(y) > 0)\n"),
        ("flat_map", """
        def load(x):
            return tf.data.Dataset.range(2).flat_map(lambda y: tf.data.Dataset.from_tensors(target(y)))
        """),
        ("interleave", """
        def load(x):
            return tf.data.Dataset.range(2).interleave(lambda y: tf.data.Dataset.from_tensors(target(y)))
        """),
        ("reduce", """
        def keep(count, y):
            target(y)
            return count
        def load(x):
            return [tf.data.Dataset.range(2).reduce(np.int64(0), keep)]
        """),
        ("apply", """
        def prepare(ds):
            return ds.map(target)
        def load(x):
            return tf.data.Dataset.from_tensors(x).apply(prepare)
        """),
        ("the code of a function that apply is given", """
        def prepare(ds):
            mark()
            return ds
        def load(x):
            return tf.data.Dataset.from_tensors(x).apply(prepare)
        """),
        ("from_generator", """
        def gen():
            mark()
            yield 1
        def load(x):
            return tf.data.Dataset.from_generator(gen, output_signature=tf.TensorSpec((), tf.int32))
        """),
        ("a py_function in map", """
        def load(x):
            return tf.data.Dataset.from_tensors(x).map(lambda y: tf.py_function(target, [y], tf.float32))
        """),
        ("a pool's map", """
        class Pool:
            def map(self, fn, xs):
                return [fn(x) for x in xs]
        def load(x):
            return Pool().map(target, [x])
        """),
      ]),
    # -- files --------------------------------------------------------------------------------------------------------
    Way("another file", "other.run(x)", "import other\n",
        files={"other.py": "def run(x):\n    mark()\n    return x\n"}),
    Way("a name of another file", "go(x)", "from other import run as go\n",
        files={"other.py": "def run(x):\n    mark()\n    return x\n"}),
    Way("a re-export", "run(x)", "from other import run\n",
        files={"deep.py": "def run(x):\n    mark()\n    return x\n", "other.py": "from deep import run\n"}),
    Way("a star import", "run(x)", "from other import *\n",
        files={"deep.py": "def run(x):\n    mark()\n    return x\n", "other.py": "from deep import *\n"}),
    Way("a table of another file", 'FS["a"](x)', "from other import FS\n",
        files={"other.py": 'def run(x):\n    mark()\n    return x\nFS = {"a": run}\n'}),
    Way("a decorator of another file", "run(x)", "from other import jit\n@jit\ndef run(x):\n    mark()\n    return x\n",
        files={"other.py": "import tensorflow as tf\ndef jit(fn):\n    return tf.function(fn)\n"}),
    Way("a helper of another file", "apply(target, x)", "from other import apply\n",
        files={"other.py": "def apply(f, x):\n    return f(x)\n"}),
    Way("an import in the body", "import other\nreturn other.run(x)",
        files={"other.py": "def run(x):\n    mark()\n    return x\n"}),
]  # fmt: skip
