"""Programs that grow: of each shape the files for a size, in which one thing is there `n` times.

A shape is a way in which real code is large, or in which names, classes, conditions and files lead to each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

_TF = "import tensorflow as tf\n"
_Made = Callable[[int], str | Mapping[str, str]]


class Shape(NamedTuple):
    """A program that grows.

    ``scale`` is how many lines or files of others one of its parts is worth; ``is_counted`` whether few parts cost as
    many do, so that small sizes tell of large ones.
    """

    made: _Made
    scale: int
    is_counted: bool

    def files(self, n: int) -> Mapping[str, str]:
        """The files of `n` parts; a shape that gives a text is a project of one file."""
        found = self.made(n)
        return {"m.py": _TF + found} if isinstance(found, str) else found


SHAPES: dict[str, Shape] = {}
"""By name."""


def _shape(scale: int = 1, is_counted: bool = True) -> Callable[[_Made], _Made]:
    """Register a shape."""

    def register(made: _Made) -> _Made:
        SHAPES[made.__name__.replace("_", " ")] = Shape(made, scale, is_counted)
        return made

    return register


def _each(n: int, line: Callable[[int], str]) -> str:
    return "".join(map(line, range(n)))


def _files(n: int, text: Callable[[int], str]) -> dict[str, str]:
    return {f"m{i}.py": _TF + text(i) for i in range(n)}


def _traced(body: str) -> str:
    return f"@tf.function\ndef step(x):\n{body}"


# -- statements --------------------------------------------------------------------------------------------------------


@_shape()
def calls_in_a_module(n: int) -> str:
    return "x = tf.placeholder(1)\n" * n


@_shape()
def calls_in_a_line(n: int) -> str:
    return f"x = [{','.join(['tf.placeholder(1)'] * n)}]\n"


@_shape()
def calls_in_a_line_that_is_not_ascii(n: int) -> str:
    return f"x = 'é{'a' * n}'; y = [{','.join(['tf.placeholder(1)'] * n)}]\n"


@_shape()
def elif_chain(n: int) -> str:
    arms = _each(n, lambda i: f"  elif x == {i}:\n    y = tf.Variable({i})\n")
    return _traced(f"  if x is None:\n    y = tf.zeros(1)\n{arms}  return y\n")


@_shape()
def elif_chain_of_calls(n: int) -> str:
    arms = _each(n, lambda i: f"  elif pick{i}(x):\n    y = make{i}(y)\n")
    return _traced(f"  y = x\n  if x is None:\n    y = tf.zeros(1)\n{arms}  return y\n")


@_shape()
def elif_chain_of_imports(n: int) -> str:
    arms = _each(n, lambda i: f"elif tf.__version__ < '{i}':\n  import tensorflow.compat.v{i} as tf{i}\n")
    return f"if tf is None:\n  pass\n{arms}" + _each(n, lambda i: f"tf{i}.placeholder(1)\n")


@_shape(scale=30)
def else_nests(n: int) -> str:
    """Nesting has its own limit in Python; many such nests have none."""
    indents = [(depth, "  " * depth) for depth in range(1, 31)]
    nest = "".join(f"{by}if x == {depth}:\n{by}  tf.Variable(1)\n{by}else:\n" for depth, by in indents)
    return _each(n, lambda i: f"def f{i}(x):\n{nest}{'  ' * 31}pass\n")


@_shape()
def ifs_in_a_row(n: int) -> str:
    rows = _each(n, lambda i: f"  if x == {i}:\n    y = tf.Variable({i})\n  else:\n    y = g\n")
    return _traced(f"  y = x\n{rows}  return y()\n")


@_shape()
def ifs_in_a_row_that_read_what_they_assign(n: int) -> str:
    return _traced("  y = x\n" + _each(n, lambda i: f"  if x.a{i}:\n    y = tf.exp(y)\n") + "  return float(y)\n")


@_shape()
def early_returns(n: int) -> str:
    return _traced(_each(n, lambda i: f"  if x == {i}:\n    return tf.Variable({i})\n") + "  return x\n")


@_shape()
def early_returns_in_methods(n: int) -> str:
    body = _each(n, lambda i: f"    if x == {i}:\n      return self.w\n    self.w = tf.Variable({i})\n")
    return f"class Net(tf.keras.layers.Layer):\n  def call(self, x):\n{body}    return x\n"


@_shape()
def assertions_in_a_row(n: int) -> str:
    return _traced(_each(n, lambda i: f"  assert x > {i}\n  if not x: raise ValueError({i})\n") + "  return x\n")


@_shape()
def guards_in_a_row(n: int) -> str:
    body = _each(n, lambda i: f"    if self.w{i} is None:\n      self.w{i} = tf.Variable({i})\n")
    return f"class Net(tf.keras.layers.Layer):\n  def call(self, x):\n{body}    return x\n"


@_shape()
def guards_by_a_method(n: int) -> str:
    body = _each(n, lambda i: f"    if not self.w{i}:\n      self.make{i}()\n")
    makers = _each(n, lambda i: f"  def make{i}(self):\n    self.w{i} = tf.Variable({i})\n")
    return f"class Net(tf.keras.layers.Layer):\n{makers}  def call(self, x):\n{body}    return x\n"


@_shape()
def one_guard_written_often(n: int) -> str:
    body = "    if self.w is None:\n      self.v = tf.Variable(1)\n" * n + "    self.w = 1\n" * n
    return f"class Net(tf.keras.layers.Layer):\n  def call(self, x):\n{body}    return x\n"


@_shape()
def try_in_a_row(n: int) -> str:
    return _each(n, lambda i: f"try:\n  import a{i} as tf\nexcept ImportError:\n  pass\n") + "tf.placeholder(1)\n"


@_shape()
def handlers_of_one_try(n: int) -> str:
    handlers = _each(n, lambda i: f"  except E{i}:\n    y = tf.Variable({i})\n")
    return _traced(f"  try:\n    y = x\n{handlers}  return y\n")


@_shape()
def returns_in_try(n: int) -> str:
    rows = _each(n, lambda i: f"    try:\n      return self.w{i}\n    except AttributeError:\n      pass\n")
    return f"class Net(tf.keras.layers.Layer):\n  def call(self, x):\n{rows}    self.w = tf.Variable(1)\n    return x\n"


@_shape()
def with_in_a_row(n: int) -> str:
    return "with tf.compat.v1.variable_scope('a'):\n  tf.compat.v1.get_variable('x')\n" * n


@_shape()
def items_of_one_with(n: int) -> str:
    items = ", ".join(f"tf.name_scope('{i}') as s{i}" for i in range(n))
    return _traced(f"  with {items}:\n    return tf.Variable(x)\n")


@_shape()
def match_cases(n: int) -> str:
    cases = _each(n, lambda i: f"    case {i}:\n      y = tf.Variable({i})\n")
    return _traced(f"  match x:\n{cases}  return y\n")


@_shape()
def loops_in_a_row(n: int) -> str:
    return _traced(_each(n, lambda i: f"  for i{i} in range(3):\n    x = x + tf.Variable({i})\n") + "  return x\n")


@_shape()
def assignments_in_a_loop(n: int) -> str:
    body = _each(n, lambda i: f"    if x: y = tf.exp(y) + {i}\n")
    return _traced(f"  y = x\n  for i in range(3):\n{body}  return int(y)\n")


@_shape()
def statements_of_a_function(n: int) -> str:
    return _traced("  x = tf.nn.relu(x)\n" * n + "  return bool(x)\n")


@_shape()
def augmented_assignments(n: int) -> str:
    return _traced("  y = x\n" + "  y += tf.exp(y)\n" * n + "  return np.sum(y)\n")


@_shape()
def deletions_and_globals(n: int) -> str:
    return _each(n, lambda i: f"def f{i}():\n  global v\n  v = tf.Variable({i})\n  del v\n")


@_shape()
def global_of_many_names(n: int) -> str:
    return "def f():\n" + _each(n, lambda i: f"  global v{i}\n") + _each(n, lambda i: f"  v{i} = tf.Variable({i})\n")


# -- names -------------------------------------------------------------------------------------------------------------


@_shape()
def alias_chain(n: int) -> str:
    return "a0 = tf\n" + _each(n, lambda i: f"a{i + 1} = a{i}\n") + f"x = a{n}.placeholder(1)\n"


@_shape()
def alias_chain_backward(n: int) -> str:
    return _each(n, lambda i: f"a{i} = a{i + 1}\n") + f"a{n} = tf\nx = a0.placeholder(1)\n"


@_shape(is_counted=False)
def alias_chain_of_attributes(n: int) -> str:
    return _each(n, lambda i: f"a{i} = a{i + 1}.b\n") + f"a{n} = tf\nx = a0.placeholder(1)\n"


@_shape()
def alias_circle(n: int) -> str:
    circle = _each(n, lambda i: f"a{i} = a{(i + 1) % n}\n")
    return f"{circle}a0 = tf\n" + _each(n, lambda i: f"a{i}.placeholder(1)\n")


@_shape()
def alias_circle_of_attributes(n: int) -> str:
    return _each(n, lambda i: f"a{i} = a{(i + 1) % n}.keras\n") + _each(n, lambda i: f"a{i}.placeholder(1)\n")


@_shape()
def alias_circle_with_chords(n: int) -> str:
    circle = _each(n, lambda i: f"a{i} = a{(i + 1) % n} or a{i * 7 % n}\n")
    return circle + _each(n, lambda i: f"a{i}.placeholder(1)\n")


@_shape()
def alias_by_functions(n: int) -> str:
    functions = _each(n, lambda i: f"def f{i}():\n  global a{i + 1}\n  a{i + 1} = a{i}\n")
    return f"a0 = tf\n{functions}a{n}.placeholder(1)\n"


@_shape()
def rebinding(n: int) -> str:
    return "a = tf\n" + "a = a.compat.v1 if a else a\n" * n + "x = a.placeholder(1)\n"


@_shape()
def rebinding_read_between(n: int) -> str:
    return "a = tf\n" + _each(n, lambda i: f"a = a.b{i}\na.placeholder(1)\n")


@_shape()
def rebinding_by_calls(n: int) -> str:
    return "a = tf.data.Dataset.range(9)\n" + "a = a.map(lambda x: tf.Variable(x))\n" * n


@_shape()
def rebinding_of_two(n: int) -> str:
    return "a = b = tf\n" + "a, b = b.compat, a.compat\n" * n + "a.placeholder(1)\n"


@_shape()
def many_meanings(n: int) -> str:
    imports = _each(n, lambda i: f"if c{i}:\n  import tensorflow.compat.v{i} as a\n")
    return imports + "a.placeholder(1)\n" * n


@_shape()
def many_names_imported(n: int) -> str:
    return f"from tensorflow import {', '.join(f'x{i}' for i in range(n))}\n" + _each(n, lambda i: f"x{i}(1)\n")


@_shape(is_counted=False)
def attribute_chain(n: int) -> str:
    return "x = tf" + ".keras" * min(n, 2500) + "\n"


@_shape(scale=10)
def attribute_chains(n: int) -> str:
    return ("x = tf" + ".keras" * 60 + "\n") * n


@_shape(is_counted=False)
def method_chain(n: int) -> str:
    return "x = tf.data.Dataset.range(1)" + ".map(lambda x: tf.Variable(x))" * min(n, 900) + "\n"


@_shape()
def stars(n: int) -> str:
    return _each(n, lambda i: f"from lib{i} import *\n") + _each(n, lambda i: f"name{i}(1)\n")


# -- functions ---------------------------------------------------------------------------------------------------------


@_shape()
def call_chain(n: int) -> str:
    chain = _each(n, lambda i: f"def f{i}(x):\n  return f{i + 1}(x)\n")
    return _traced("  return f0(x)\n") + f"{chain}def f{n}(x):\n  return tf.Variable(x)\n"


@_shape()
def call_chain_backward(n: int) -> str:
    chain = "".join(f"def f{i}(x):\n  return f{i + 1}(x)\n" for i in reversed(range(n)))
    return f"def f{n}(x):\n  return tf.Variable(x)\n{chain}" + _traced("  return f0(x)\n")


@_shape()
def call_chain_with_findings(n: int) -> str:
    return _traced("  return f0(x)\n") + _each(n, lambda i: f"def f{i}(x):\n  return f{i + 1}(x) + tf.Variable(1)\n")


@_shape()
def call_chain_that_makes_variables_by_name(n: int) -> str:
    chain = _each(n, lambda i: f"def f{i}(x):\n  return f{i + 1}(x) + tf.compat.v1.get_variable('v{i}', [1])\n")
    return chain + "class Net(tf.keras.layers.Layer):\n  def call(self, x):\n    return f0(x)\n"


@_shape()
def call_circle(n: int) -> str:
    circle = _each(n, lambda i: f"def f{i}(x):\n  tf.Variable(1)\n  return f{(i + 1) % n}(x)\n")
    return circle + _traced("  return f0(x)\n")


@_shape()
def call_graph_of_ten_each(n: int) -> str:
    def function(i: int) -> str:
        return f"def f{i}(x):\n  return {' + '.join(f'f{(i * 7 + j) % n}(x)' for j in range(10))} + tf.Variable(1)\n"

    return _each(n, function) + _traced("  return f0(x)\n")


@_shape()
def callers_of_one(n: int) -> str:
    return "def made(x, y=None):\n  if y is None:\n    return tf.Variable(x)\n" + _each(
        n, lambda i: f"@tf.function\ndef f{i}(x):\n  return made(x)\n"
    )


@_shape()
def callees_of_one(n: int) -> str:
    functions = _each(n, lambda i: f"def f{i}(x):\n  return tf.Variable(x)\n")
    return functions + _traced(_each(n, lambda i: f"  f{i}(x)\n"))


@_shape()
def returned_functions(n: int) -> str:
    choice = _each(n, lambda i: f"  if c: return h{i}\n")
    made = _each(n, lambda i: f"def h{i}(x): return tf.Variable(x)\n")
    return f"def make():\n{choice}{made}" + _traced("  return make()(x)\n")


@_shape()
def returned_calls(n: int) -> str:
    return _each(n, lambda i: f"def f{i}():\n  return f{i + 1}()\n") + f"def f{n}():\n  return tf\n" + _each(
        n, lambda i: f"f{i}().placeholder(1)\n"
    )


@_shape()
def callbacks(n: int) -> str:
    given = _each(n, lambda i: f"run(lambda: tf.Variable({i}))\n")
    return f"def run(a):\n  return a()\n{given}" + _traced("  return run(x)\n")


@_shape()
def callbacks_of_callbacks(n: int) -> str:
    circle = _each(n, lambda i: f"def f{i}(g):\n  g(f{(i + 1) % n})\n  return g(f{i * 3 % n})\n")
    return circle + _traced("  return f0(f1)\n")


@_shape(is_counted=False)
def callbacks_called_often(n: int) -> str:
    """As many functions are given to a parameter as there are calls of it, by the root of the size."""
    k = int(n**0.5) + 1
    return "def run(a):\n" + "  a()\n" * k + _each(k, lambda i: f"def h{i}(): tf.Variable({i})\nrun(h{i})\n")


@_shape()
def callbacks_in_one_call(n: int) -> str:
    return f"tf.cond(1, [{', '.join(f'lambda: tf.Variable({i})' for i in range(n))}])\n"


@_shape()
def wrapped_functions(n: int) -> str:
    wrapper = "def wrap(f):\n  def inner(*a):\n    return f(*a)\n  return inner\n"
    return wrapper + _each(n, lambda i: f"@wrap\ndef f{i}(x):\n  return tf.Variable(x)\n") + _traced("  return f0(x)\n")


@_shape()
def wrappers_of_one(n: int) -> str:
    wrappers = _each(n, lambda i: f"def wrap{i}(f):\n  def inner(*a):\n    return f(*a)\n  return inner\n")
    decorated = _each(n, lambda i: f"@wrap{i}\n") + "def f(x):\n  return tf.Variable(x)\n"
    return wrappers + decorated + _traced("  return f(x)\n")


@_shape()
def decorators_of_one(n: int) -> str:
    return "@tf.function\n" * n + "def f(x):\n  return tf.Variable(x)\n"


@_shape()
def parameters_of_one(n: int) -> str:
    names = ", ".join(f"a{i}=None" for i in range(n))
    return f"def f({names}):\n" + _each(n, lambda i: f"  if a{i} is None: tf.Variable({i})\n") + _traced(
        "  return f(x)\n"
    )


@_shape()
def parameters_given_on(n: int) -> str:
    chain = _each(n, lambda i: f"def f{i}(g):\n  return f{i + 1}(g)\n")
    return f"{chain}def f{n}(g):\n  return g()\n" + _traced("  return f0(lambda: tf.Variable(1))\n")


@_shape()
def arguments_of_one_call(n: int) -> str:
    return f"f({', '.join(f'a{i}=tf.Variable({i})' for i in range(n))})\n"


@_shape(scale=20)
def functions_in_functions(n: int) -> str:
    nest = "".join(f"{' ' * i}def g{i}(x):\n" for i in range(1, 40)) + " " * 40 + "return tf.Variable(x)\n"
    returns = "".join(f"{' ' * i}return g{i}(x)\n" for i in reversed(range(1, 40)))
    return _each(n, lambda i: f"@tf.function\ndef f{i}(x):\n{nest}{returns}")


@_shape(scale=20)
def lambdas_in_lambdas(n: int) -> str:
    return _each(n, lambda i: f"f{i} = {'lambda x: ' * 60}tf.Variable(x)\n")


@_shape()
def dict_of_lambdas(n: int) -> str:
    table = ", ".join(f"'{i}': lambda x: tf.Variable({i})" for i in range(n))
    return f"T = {{{table}}}\n@tf.function\ndef f(k, x):\n  return T[k](x)\n"


@_shape()
def dict_of_functions(n: int) -> str:
    functions = _each(n, lambda i: f"def f{i}(x):\n  return tf.Variable(x)\n")
    return f"{functions}T = {{{', '.join(f'{i}: f{i}' for i in range(n))}}}\n" + _traced("  return T[x](x)\n")


@_shape()
def lambdas_assigned(n: int) -> str:
    return _each(n, lambda i: f"f{i} = lambda x: f{i + 1}(x) + tf.Variable({i})\n") + _traced("  return f0(x)\n")


@_shape()
def lambdas_of_one_name(n: int) -> str:
    return _each(n, lambda i: f"f = lambda x: tf.Variable({i})\n") + _traced("  return f(x)\n")


@_shape()
def functions_of_one_name(n: int) -> str:
    return _each(n, lambda i: f"def f(x):\n  return tf.Variable({i})\n") + _traced("  return f(x)\n")


# -- classes -----------------------------------------------------------------------------------------------------------


@_shape()
def layers(n: int) -> str:
    return _each(
        n,
        lambda i: (
            f"class C{i}(tf.keras.layers.Layer):\n  def __init__(self):\n    super().__init__()\n"
            "    self.w = tf.Variable(1.)\n  def call(self, x):\n    return x * self.w\n"
        ),
    )


@_shape()
def layers_in_a_layer(n: int) -> str:
    made = _each(n, lambda i: f"    self.a{i} = tf.keras.layers.Dense({i})\n")
    used = _each(n, lambda i: f"    x = self.a{i}(x)\n")
    return f"class Net(tf.keras.layers.Layer):\n  def __init__(self):\n{made}  def call(self, x):\n{used}    return x\n"


@_shape()
def methods_of_a_class(n: int) -> str:
    methods = _each(n, lambda i: f"  def m{i}(self, x):\n    return self.m{i + 1}(x) + self.v{i}\n")
    return f"class Net(tf.keras.layers.Layer):\n  def call(self, x):\n    return self.m0(x)\n{methods}"


@_shape()
def properties_of_a_class(n: int) -> str:
    properties = _each(n, lambda i: f"  @property\n  def p{i}(self):\n    return self.p{i + 1} + tf.Variable({i})\n")
    return f"class Net(tf.keras.layers.Layer):\n  def call(self, x):\n    return self.p0\n{properties}"


@_shape()
def one_attribute_assigned_often(n: int) -> str:
    body = _each(n, lambda i: f"    self.w = tf.Variable({i})\n")
    return f"class Net(tf.keras.layers.Layer):\n  def __init__(self):\n{body}  def call(self, x):\n    return self.w\n"


@_shape()
def attribute_that_is_a_list(n: int) -> str:
    items = ", ".join(f"tf.keras.layers.Dense({i})" for i in range(n))
    return (
        f"class Net(tf.keras.layers.Layer):\n  def __init__(self):\n    self.a = [{items}]\n"
        "  def call(self, x):\n    for one in self.a:\n      x = one(x)\n    return x\n"
    )


@_shape(scale=4)
def inheritance_chain(n: int) -> str:
    k = n
    chain = _each(k, lambda i: f"class A{i + 1}(A{i}):\n  def h(self, x):\n    return super().h(x) + tf.Variable(1)\n")
    return f"class A0(tf.keras.layers.Layer):\n  def call(self, x):\n    return self.h(x)\n{chain}"


@_shape()
def inheritance_circle(n: int) -> str:
    body = "  def call(self, x):\n    return super().call(x) + tf.Variable(1)\n"
    return _each(n, lambda i: f"class A{i}(A{(i + 1) % n}, A{(i + 2) % n}):\n{body}")


@_shape()
def inheritance_circle_with_chords(n: int) -> str:
    body = "  def call(self, x):\n    return self.h(x)\n"
    return _each(n, lambda i: f"class A{i}(A{(i + 1) % n}, A{i * 7 % n}):\n{body}")


@_shape(scale=20)
def inheritance_diamonds(n: int) -> str:
    text = "class A0(tf.keras.layers.Layer):\n  def call(self, x):\n    return tf.Variable(1)\n"
    return text + _each(
        n,
        lambda i: (
            f"class B{i}(A{i}): pass\nclass C{i}(A{i}): pass\n"
            f"class A{i + 1}(B{i}, C{i}):\n  def call(self, x):\n    return super().call(x)\n"
        ),
    )


@_shape()
def subclasses_of_one(n: int) -> str:
    base = "class A(tf.keras.layers.Layer):\n  def call(self, x):\n    return self.h(x)\n"
    return base + _each(n, lambda i: f"class B{i}(A):\n  def h(self, x):\n    return x + tf.Variable({i})\n")


@_shape(is_counted=False)
def calls_of_an_overridden_method(n: int) -> str:
    k = int(n**0.5) + 1
    calls = "    x = self.h(x)\n" * k
    base = f"class A(tf.keras.layers.Layer):\n  def call(self, x):\n{calls}    return x\n"
    return base + _each(k, lambda i: f"class B{i}(A):\n  def h(self, x):\n    return x + tf.Variable({i})\n")


@_shape()
def bases_of_one(n: int) -> str:
    bases = _each(n, lambda i: f"class B{i}(tf.keras.layers.Layer):\n  def m{i}(self, x):\n    return tf.Variable(x)\n")
    calls = _each(n, lambda i: f"    x = self.m{i}(x)\n")
    return f"{bases}class A({', '.join(f'B{i}' for i in range(n))}):\n  def call(self, x):\n{calls}    return x\n"


@_shape(scale=20)
def classes_in_classes(n: int) -> str:
    nest = "".join(f"{' ' * i}class C{i}:\n" for i in range(1, 40)) + " " * 40 + "x = tf.Variable(1)\n"
    return _each(n, lambda i: f"class A{i}:\n{nest}")


@_shape()
def instances_of_a_class(n: int) -> str:
    cls = "class Net(tf.keras.layers.Layer):\n  def call(self, x):\n    return tf.Variable(x)\n"
    return cls + _each(n, lambda i: f"n{i} = Net()\nn{i}(1)\nn{i}.call(1)\n")


@_shape()
def attributes_of_attributes(n: int) -> str:
    method = "  def m(self):\n    return self.v.v.v.m()\n"
    return _each(n, lambda i: f"class C{i}:\n  def __init__(self):\n    self.v = C{i + 1}()\n{method}")


@_shape(scale=5)
def walks_through_what_is_linked(n: int) -> str:
    """An attribute is given attributes of itself."""
    links = _each(n, lambda i: f"    self.a{i} = of\n")
    steps = _each(n, lambda i: f"  def f{i}(self):\n    self.at = self.at.a{i}\n    return self.at.a{i}.run(1)\n")
    node = f"class Node:\n  def __init__(self, of):\n{links}"
    return f"{node}class Walk:\n  def __init__(self):\n    self.at = Node(None)\n{steps}"


# -- expressions -------------------------------------------------------------------------------------------------------


@_shape()
def comprehensions(n: int) -> str:
    return _each(n, lambda i: f"x{i} = [tf.Variable(a) for a in range({i}) if a for b in a]\n")


@_shape(scale=15)
def clauses_of_a_comprehension(n: int) -> str:
    clauses = " ".join(f"for i{j} in x if i{j}" for j in range(15))
    return f"x = [tf.Variable(1) {clauses}]\n" * n


@_shape(scale=60)
def conditional_expressions(n: int) -> str:
    nest = " else ".join(f"tf.Variable({i}) if c{i}" for i in range(60))
    return f"x = {nest} else 0\n" * n


@_shape()
def operands_of_and(n: int) -> str:
    return _traced(f"  return {' and '.join(f'tf.Variable({i})' for i in range(n))}\n")


@_shape()
def operands_of_or_in_a_test(n: int) -> str:
    tests = " or ".join(f"self.w{i} is None" for i in range(n))
    return f"class Net(tf.keras.layers.Layer):\n  def call(self, x):\n    if {tests}:\n      self.w0 = tf.Variable(1)\n"


@_shape(is_counted=False)
def operands_of_a_sum(n: int) -> str:
    return _traced(f"  x = {' + '.join(['tf.exp(x)'] * min(n, 1400))}\n  return float(x)\n")


@_shape()
def comparisons(n: int) -> str:
    return _traced(f"  if {' < '.join(['tf.exp(x)'] * n)}:\n    return x\n")


@_shape(scale=60)
def calls_in_calls(n: int) -> str:
    return (f"x = {'tf.identity(' * 60}tf.Variable(1){')' * 60}\n") * n


@_shape()
def formatted_string(n: int) -> str:
    return "x = f'" + "{tf.Variable(1)}" * n + "'\n"


@_shape()
def walrus(n: int) -> str:
    return _traced(_each(n, lambda i: f"  if (y{i} := tf.exp(x)) and (x := y{i}):\n    pass\n"))


@_shape()
def unpacking(n: int) -> str:
    names = ", ".join(f"a{i}" for i in range(n))
    return f"{names} = {', '.join(f'tf.Variable({i})' for i in range(n))}\n{names} = tf.split(x)\n"


@_shape()
def annotations(n: int) -> str:
    return _each(n, lambda i: f"def f{i}(x: tf.Tensor, y: 'tf.Tensor' = None) -> tf.Tensor:\n  return float(x)\n")


@_shape()
def numbers(n: int) -> str:
    return f"x = [{','.join(map(str, range(n * 50)))}]\ntf.placeholder(1)\n"


# -- text --------------------------------------------------------------------------------------------------------------


@_shape()
def long_string(n: int) -> str:
    return f"x = '{'a' * (n * 500)}'; tf.placeholder(1)\n"


@_shape()
def blank_lines(n: int) -> str:
    return "\n" * (n * 100) + "tf.placeholder(1)\n"


@_shape()
def comments(n: int) -> str:
    return "# a comment: tf.placeholder\n" * (n * 10) + "tf.placeholder(1)\n"


@_shape()
def lines_of_one_statement(n: int) -> str:
    return f"x = [\n{'  tf.placeholder(1),' + chr(10)}" + "  tf.placeholder(1),\n" * n + "]\n"


@_shape(is_counted=False)
def continued_lines(n: int) -> str:
    return "x = \\\n" + "  tf.placeholder(1) + \\\n" * min(n, 900) + "  1\n"


@_shape()
def suppressed(n: int) -> str:
    return "x = tf.placeholder(1)  # noqa: TF402\n" * n


@_shape()
def suppressions_that_hide_nothing(n: int) -> str:
    return "x = 1  # migrate-lint: disable=TF402,TF101,foo-bar\n" * n


@_shape(scale=8)
def suppressions_of_names_that_are_no_rules(n: int) -> str:
    return _each(n, lambda i: f"x = 1  # migrate-lint: disable=unknown-{i}\n")


@_shape()
def suppressions_of_a_file(n: int) -> str:
    return "# migrate-lint: disable-file=TF101\n" * n + "tf.placeholder(1)\n" * 50


@_shape()
def names_in_one_suppression(n: int) -> str:
    return f"x = 1  # migrate-lint: disable={','.join(['TF101'] * n)}\n"


@_shape()
def unparsable(n: int) -> str:
    return "x = tf.placeholder(1)\n" * (n * 4) + "def f(:\n"


@_shape(is_counted=False)
def unclosed(n: int) -> str:
    return "x = (tf.placeholder(1)\n" * min(n, 150) + "y = 1\n" * n


@_shape()
def python_2(n: int) -> str:
    return "x = tf.placeholder(1)\n" * (n * 4) + "print 'x'\n" * n


@_shape()
def prints_to_a_file(n: int) -> str:
    return "print >>f, tf.placeholder(1)\n" * n


# -- files -------------------------------------------------------------------------------------------------------------


@_shape(scale=4)
def files(n: int) -> Mapping[str, str]:
    return _files(n, lambda i: "tf.placeholder(1)\n")


@_shape(scale=2)
def files_without_tensorflow(n: int) -> Mapping[str, str]:
    return {f"m{i}.py": f"import m{i + 1}\nx = {i}\n" for i in range(n)}


@_shape(scale=8)
def files_that_import_the_next(n: int) -> Mapping[str, str]:
    return _files(
        n, lambda i: f"from m{i + 1} import f{i + 1}\ndef f{i}(x):\n  return f{i + 1}(x) + tf.Variable(1)\n"
    )


@_shape(scale=8, is_counted=False)
def files_that_export_the_next(n: int) -> Mapping[str, str]:
    return _files(n, lambda i: f"from m{i + 1} import f\n") | {f"m{n}.py": f"{_TF}def f(): tf.Variable(1)\n"}


@_shape(scale=10)
def files_in_a_circle(n: int) -> Mapping[str, str]:
    k = max(n, 3)
    return _files(
        k,
        lambda i: (
            f"from m{(i + 1) % k} import *\nfrom m{(i + 2) % k} import f{(i + 2) % k}\nimport m{(i + 3) % k} as q\n"
            f"def f{i}(x):\n  return q.f{(i + 3) % k}(f{(i + 2) % k}(x)) + tf.Variable(1)\n"
            f"@tf.function\ndef g{i}(x):\n  return f{(i + 1) % k}(x)\n"
        ),
    )


@_shape(scale=10, is_counted=False)
def files_that_reexport_in_a_circle(n: int) -> Mapping[str, str]:
    k = max(n, 3)
    return _files(k, lambda i: f"from m{(i + 1) % k} import a, b\na.placeholder(1)\nb.placeholder(1)\n")


@_shape(scale=20, is_counted=False)
def stars_of_a_package(n: int) -> Mapping[str, str]:
    """A package that imports everything of its modules, which import everything of the package."""
    k = max(n, 3)
    text = f"{_TF}from p import *\n"
    inner = {f"p/m{i}.py": f"{text}def f{i}(x):\n  return f{(i + 1) % k}(x) + tf.Variable(1)\n" for i in range(k)}
    return inner | {"p/__init__.py": _each(k, lambda i: f"from p.m{i} import *\n")}


@_shape(scale=20, is_counted=False)
def stars_of_a_package_relative(n: int) -> Mapping[str, str]:
    k = max(n, 3)
    text = f"{_TF}from . import *\n"
    inner = {f"p/m{i}.py": f"{text}unknown{i}(1)\ndef f{i}(x):\n  return f{(i + 1) % k}(x)\n" for i in range(k)}
    return inner | {"p/__init__.py": _each(k, lambda i: f"from .m{i} import *\n")}


@_shape(is_counted=False)
def stars_of_all(n: int) -> Mapping[str, str]:
    """Each module imports everything of every other: the number of imports is the square of the files'."""
    k = max(int((n / 2) ** 0.5), 3)
    return _files(
        k,
        lambda i: "".join(f"from m{j} import *\n" for j in range(k) if j != i)
        + f"def f{i}(x):\n  return f{(i + 1) % k}(x) + tf.Variable(1)\n",
    )


@_shape(scale=10, is_counted=False)
def stars_in_a_row(n: int) -> Mapping[str, str]:
    k = n
    return _files(k, lambda i: f"from m{i + 1} import *\ndef f{i}(x):\n  return f{k - 1}(x) + unknown(x)\n")


@_shape(scale=40, is_counted=False)
def packages_in_packages(n: int) -> Mapping[str, str]:
    k = min(n, 60)
    found = {}
    for i in range(k):
        folder = "/".join(f"p{j}" for j in range(i + 1))
        found[f"{folder}/__init__.py"] = f"{_TF}from .p{i + 1} import f\nfrom .. import g\ntf.placeholder(1)\n"
    return found


@_shape(scale=20, is_counted=False)
def packages_in_a_circle(n: int) -> Mapping[str, str]:
    k = max(n, 3)
    found = {}
    for i in range(k):
        found[f"p{i}/__init__.py"] = f"{_TF}from p{(i + 1) % k} import *\nfrom p{(i + 2) % k} import f\nf(1)\n"
        found[f"p{i}/m.py"] = f"{_TF}from . import *\nfrom p{(i + 1) % k}.m import h\nh(1)\n"
    return found


@_shape(scale=16, is_counted=False)
def classes_across_files(n: int) -> Mapping[str, str]:
    def text(i: int) -> str:
        base = f"from m{i - 1} import A{i - 1}\nclass A{i}(A{i - 1}):\n" if i else "class A0(tf.keras.layers.Layer):\n"
        body = "  def __init__(self):\n    super().__init__()\n    self.w = tf.Variable(1)\n"
        return base + body + "  def call(self, x):\n    return super().call(x) + self.w\n"

    return _files(max(n, 2), text)


@_shape(scale=16)
def classes_in_a_circle_of_files(n: int) -> Mapping[str, str]:
    k = max(n, 3)
    body = "  def call(self, x):\n    return self.h()\n"
    return _files(k, lambda i: f"from m{(i + 1) % k} import A{(i + 1) % k}\nclass A{i}(A{(i + 1) % k}):\n{body}")


@_shape(scale=4)
def users_of_one_module(n: int) -> Mapping[str, str]:
    users = _files(n, lambda i: "from lib import make\n@tf.function\ndef f(x):\n  return make(x)\n")
    return users | {"lib.py": f"{_TF}def make(x, y=None):\n  if y is None:\n    return tf.Variable(x)\n"}


# -- notebooks ---------------------------------------------------------------------------------------------------------


def _notebook(cells: Iterable[Any]) -> dict[str, str]:
    return {"n.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": source} for source in cells]})}


@_shape()
def cells(n: int) -> Mapping[str, str]:
    return _notebook(["import tensorflow as tf\n", "!pip install x\n", "x = tf.placeholder(1)\n"] for _ in range(n))


@_shape()
def magics_in_a_cell(n: int) -> Mapping[str, str]:
    return _notebook([_TF + "%time y = tf.placeholder(1)\n!ls ?\nfoo?\n" * n])


@_shape()
def cells_that_cannot_be_parsed(n: int) -> Mapping[str, str]:
    return _notebook([_TF, *["x = tf.placeholder(1\n"] * n])
