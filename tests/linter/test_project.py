"""Names across files, kinds of class, and the contexts in which functions run."""

from __future__ import annotations

import ast

import pytest
from migrate_lint.linter.analysis.index import FileIndex
from migrate_lint.linter.analysis.summary import summarize
from migrate_lint.linter.rule_api.model import Context

from .analysis import call, file_of, project_of

F, T, G = Context.FORWARD, Context.TRACED, Context.GRAPH
KERAS = F | T | Context.FIT
ONCE = T | Context.FIT | Context.ONCE


def test_reexports_and_relative_imports() -> None:
    """``from .compat import tf`` means what compat imported, to any depth; packages re-export."""
    file = file_of(
        {
            "pkg/__init__.py": "from .deep.compat import *\n",
            "pkg/deep/__init__.py": "",
            "pkg/deep/compat.py": "import tensorflow.compat.v1 as tf\nlayers = tf.layers\n",
            "pkg/example.py": "from .deep.compat import tf\nfrom . import layers as L\ntf.Session()\nL.dense()\n",
            "other/example.py": "from pkg import layers\nlayers.dense()\n",
        },
        "pkg/example.py",
    )

    assert "tensorflow.compat.v1.Session" == call(file, "tf.Session").spelled
    assert "tensorflow.compat.v1.layers.dense" == call(file, "L.dense").spelled


def test_a_script_imports_from_beside_itself() -> None:
    """Without packages, `import nets` means the neighbour; a stray file named like a library does not hide it."""
    texts = {
        "scripts/nets.py": "import tensorflow as tf\n",
        "scripts/run.py": "from nets import tf\ntf.function()\n",
        "tensorflow.py": "import tensorflow as tf\ntf.function()\n",
    }

    assert "tensorflow.function" == call(file_of(texts, "scripts/run.py"), "tf.function").name
    assert "tensorflow.function" == call(file_of(texts, "tensorflow.py"), "tf.function").name


def test_import_cycles_end() -> None:
    """Two files that re-export each other's names resolve to nothing, in any order."""
    project = project_of({"a.py": "from b import x\n", "b.py": "from a import x\n"})

    assert () == project.resolve("a.py", "b.x")


def test_an_attribute_that_is_given_its_own_attributes() -> None:
    """One of many ways on: the walk ends, and what is met on it is known."""
    steps = "".join(f"    def step{i}(self): self.at = self.at.next{i}\n" for i in range(40))
    links = "".join(f"        self.next{i} = Leaf()\n" for i in range(40))
    texts = {
        "m.py": "class Leaf:\n    def run(self): ...\n"
        f"class Root:\n    def __init__(self):\n{links}"
        f"class Walk:\n    def __init__(self):\n        self.at = Root()\n{steps}"
    }
    project = project_of(texts)
    walk, leaf = (int(n) for n, c in project.summaries["m.py"]["classes"].items() if c["name"] in ("Walk", "Leaf"))
    walk, leaf = max(walk, leaf), min(walk, leaf)

    found = project.resolve("m.py", f"self@{walk}.at.run")

    assert {("m.py", leaf + 1)} == {entity.key for entity in found if entity.kind == "function"}


@pytest.mark.parametrize(
    ("bases", "kinds"),
    [
        ("tf.keras.layers.Layer", {"layer"}),
        ("tf.keras.Model", {"layer", "model"}),
        ("tf.keras.layers.Dense", {"layer"}),
        ("Base", {"layer"}),
        ("Mixin, Base", {"layer"}),
        ("tf.Module", {"module"}),
        ("tf.keras.losses.Loss", {"loss"}),
        ("tf.keras.metrics.Mean", {"metric"}),
        ("tf.keras.callbacks.Callback", {"callback"}),
        ("tf.keras.optimizers.Optimizer", {"optimizer"}),
        ("tf.compat.v1.layers.Layer", {"layer", "v1layer"}),
        ("sonnet.Module", {"sonnet"}),
        ("torch.nn.Module", set()),
        ("flax.linen.Module", set()),
        ("Model", set()),
        ("object", set()),
    ],
)
def test_kinds(bases: str, kinds: set[str]) -> None:
    """A class is what its public bases make it, through bases and mixins of other files; a name alone makes nothing."""
    texts = {
        "base.py": "import tensorflow as tf\nclass Mixin: ...\nclass Base(tf.keras.layers.Layer): ...\n",
        "example.py": f"""
        import tensorflow as tf, torch, flax, sonnet
        from base import Base, Mixin
        from mylib import Model
        class Net({bases}):
            def call(self, x): ...
        """,
    }

    assert kinds == file_of(texts).classes[0].kinds


def contexts(text: str, path: str = "here", **files: str) -> set[Context]:
    """The contexts in which the call ``here()`` of example.py runs."""
    texts = {f"{name}.py": content for name, content in files.items()} | {"example.py": text}
    return set(call(file_of(texts), path).contexts)


def net(body: str, decorator: str = "") -> str:
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    return (
        "import tensorflow as tf\nv1 = tf.compat.v1\n"
        "from tensorflow.compat.v1.keras.utils import track_tf1_style_variables as shim\n"
        f"class Net(tf.keras.layers.Layer):\n    {decorator}\n    def call(self, x):\n{lines}\n"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("here()", {KERAS}),
        ("if self.v is None:\n    self.v = here()", {ONCE}),
        ("if training:\n    here()", {KERAS}),
        ("with tf.init_scope():\n    here()", {KERAS | Context.LIFTED}),
        ("if tf.executing_eagerly():\n    here()", {F}),
        ("with tf.Graph().as_default():\n    here()", {G}),
        ("with tf.compat.v1.variable_scope('m'):\n    here()", {KERAS | Context.SCOPED}),
        ("with tf.compat.v1.variable_scope(''):\n    here()", {KERAS}),
        ("with tf.compat.v1.variable_scope(None, default_name='m'):\n    here()", {KERAS | Context.SCOPED}),
        ("with tf.name_scope('m'), v1.variable_scope(name_or_scope='m'):\n    here()", {KERAS | Context.SCOPED}),
        ("for _ in x:\n    y = [here() for _ in x]", {KERAS}),
        ("def inner():\n    here()\nreturn inner()", {KERAS}),
        ("return tf.cond(x, lambda: here(), lambda: x)", {KERAS}),
        ("tf.py_function(lambda: here(), [x], tf.float32)", {F}),
        ("tf.function(lambda: here())()", {T}),
    ],
)
def test_context_of_a_line(body: str, expected: set[Context]) -> None:
    """What stands around a line in a forward pass decides how it runs."""
    assert expected == contexts(net(body))


def test_shim() -> None:
    """The shim on the method makes everything below it shimmed."""
    assert {KERAS | Context.SHIM} == contexts(net("here()", "@shim"))


@pytest.mark.parametrize(
    "helper",
    [
        "import example\ndef helper(x):\n    example.deep(x)\n",
        "from example import deep\ndef middle(x): deep(x)\ndef helper(x): middle(x)\n",
        "from example import deep\nclass Helper:\n    def __call__(self, x): deep(x)\nhelper = Helper()\n",
        "from example import deep\ndef apply(f, x): return f(x)\ndef helper(x): apply(deep, x)\n",
        "from example import deep\nclass Helper:\n    def run(self, x): deep(x)\nhelper = Helper().run\n",
        "from example import deep\ndef helper(x):\n    if x: helper(x)\n    deep(x)\n",
    ],
)
def test_forward_pass_across_files(helper: str) -> None:
    """The forward pass reaches through modules, objects, callbacks and recursion."""
    text = "import tensorflow as tf\nfrom helpers import helper\ndef deep(x):\n    here()\n" + net("helper(x)")

    assert {KERAS} == contexts(text, helpers=helper)


@pytest.mark.parametrize("number", [0, 31, 32, 99])
@pytest.mark.parametrize("call", ["f{}(x)", "Net{}().run(x)"])
def test_forward_pass_through_many_star_imports(number: int, call: str) -> None:
    """A name is looked for in all of them."""
    stars = "".join(f"from part{i} import *\n" for i in range(100))
    run = "from example import deep\ndef f{0}(x): deep(x)\nclass Net{0}:\n    def run(self, x): f{0}(x)\n"
    text = f"{stars}def deep(x):\n    here()\n" + net(call.format(number))

    assert {KERAS} == contexts(text, **{f"part{i}": run.format(i) for i in range(100)})


def test_guard_at_the_caller() -> None:
    """A helper that is only called under a create-once guard does not run at every call."""
    text = net("if self.v is None:\n    self._make()") + "    def _make(self):\n        self.v = here()\n"

    assert {ONCE} == contexts(text)


def test_property_and_cached_property() -> None:
    """A property runs where it is read; a cached one only once."""
    text = net("return self.p") + "    @property\n    def p(self):\n        return here()\n"
    cached = "import functools\n" + text.replace("@property", "@functools.cached_property")

    assert {KERAS} == contexts(text)
    assert {ONCE} == contexts(cached)


@pytest.mark.parametrize(
    "text",
    [
        "@tf.function\ndef step(): here()",
        "@tf.function(jit_compile=True)\ndef step(): here()",
        "graph = tf.function\n@graph\ndef step(): here()",
        "graph = functools.partial(tf.function, jit_compile=True)\n@graph\ndef step(): here()",
        "@functools.partial(tf.function, jit_compile=True)\ndef step(): here()",
        "from tensorflow import function as graph\n@graph()\ndef step(): here()",
    ],
)
def test_decorated_tf_function(text: str) -> None:
    """Every form of the decorator traces, under any alias; a module-level caller keeps it traced."""
    found = contexts(f"import functools\nimport tensorflow as tf\n{text}\n")

    assert found == {T}


@pytest.mark.parametrize(
    "use",
    [
        "tf.function(step)()",
        "fast = tf.function(step, jit_compile=True)",
        "from traced import use",
    ],
)
def test_tf_function_as_a_call(use: str) -> None:
    """`tf.function(f)` traces f, also from another file."""
    text = f"import tensorflow as tf\ndef step(): here()\n{use}\n"
    found = contexts(text, traced="import tensorflow as tf\nimport example\nuse = tf.function(example.step)\n")

    assert all(s & T for s in found) and found


def test_dataset_functions() -> None:
    """`Dataset.map` traces its function; `pool.map` does not."""
    text = "import tensorflow as tf\ndef f(x): here()\nds = tf.data.Dataset.range(3)\nds = ds.map(f)\n"

    assert {T | Context.DATASET} == contexts(text)
    assert not any(s & T for s in contexts(text.replace("tf.data.Dataset.range(3)", "make()")))


def test_model_fn_and_disabled_v2() -> None:
    """An Estimator's model_fn builds a graph, and so does everything after `disable_v2_behavior`."""
    model_fn = "import tensorflow as tf\ndef net(x): here()\ndef model_fn(features, labels, mode): net(features)\n"
    disabled = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ndef main(): here()\nmain()\n"

    assert {G} == contexts(model_fn)
    assert {G} == contexts(disabled)


def test_trail_names_the_way() -> None:
    """The trail says by which calls a place is reached."""
    file = file_of({"example.py": net("self.helper(x)") + "    def helper(self, x):\n        here()\n"})

    assert "`Net.call` (example.py:7) -> `Net.helper`" == call(file, "here").trail(F)


def test_wrapper_that_opens_a_scope() -> None:
    """A decorator that calls its function inside a variable scope opens it for the function."""
    decorator = """
import functools
import tensorflow as tf
def scoped(f):
    @functools.wraps(f)
    def wrapper(*args):
        with tf.compat.v1.variable_scope("m"):
            return f(*args)
    return wrapper
"""
    text = decorator + "@scoped\ndef block(x):\n    here()\n" + net("block(x)")

    assert any(s & Context.SCOPED for s in contexts(text))


@pytest.mark.parametrize(
    ("call", "reached"), [("make(x)", True), ("make(x, x)", False), ("make(x, kernel=x)", False), ("make(*x)", True)]
)
def test_a_default_that_no_caller_leaves(call: str, reached: bool) -> None:
    """Code for an absent argument does not run where every caller gives it."""
    helper = "def make(x, kernel=None):\n    if kernel is None:\n        kernel = here()\n    return kernel\n"

    assert reached == bool(contexts(helper + net(call)))


def test_a_function_given_away_by_code_that_nobody_calls() -> None:
    """`tf.function(self.run)` traces run, whether or not the project makes the object."""
    text = """
import tensorflow as tf
class Trainer:
    def __init__(self):
        self.fast = tf.function(self.run)
    def run(self, x):
        here()
"""

    assert {T} == contexts(text)
    assert {G} == contexts(text.replace("self.fast =", "with tf.Graph().as_default(): self.fast ="))


PACKAGE = {
    "net/__init__.py": "from .layers import *\nfrom .train import step\n",
    "net/base.py": (
        "import tensorflow as tf\n\n\nclass Base(tf.keras.layers.Layer):\n    def call(self, x):\n"
        "        return self.run(x)\n\n    def run(self, x):\n        return x\n"
    ),
    "net/layers.py": (
        "import tensorflow as tf\nfrom .base import Base\n\n\nclass Mixin:\n    def run(self, x):\n"
        "        return super().run(x) + self.scale(x)\n\n"
        "    def scale(self, x):\n        return tf.Variable(1.0) * x\n\n\n"
        "class Wide(Mixin, Base):\n    pass\n\n\ndef head(x, name=None):\n    return tf.identity(x, name=name)\n"
    ),
    "net/train.py": (
        "import tensorflow as tf\nimport net\nfrom . import layers as L\n\n\n@tf.function\ndef step(x):\n"
        "    layer = net.layers.Wide()\n    return L.head(layer(x))\n\n\ndef main(fn):\n    fn(step)\n"
    ),
    "use.py": (
        "from net import step, Wide\nfrom net.base import Base\n\n\ndef f(b: Base):\n"
        "    return Base()(1), step(Wide()(2))\n"
    ),
}
EDITS = [
    ("net/base.py", "        return x\n", "        # another\n        return [y for y in x]\n"),
    ("net/base.py", "    def run(", "    def walk("),
    ("net/base.py", "        return self.run(x)\n", "        # one\n        # two\n        return self.run(x)\n"),
    ("net/train.py", "import net\n", "import net\n\n\n"),
    ("use.py", "return Base()(1), step(Wide()(2))", "return (\n        Base()(1),\n        step(Wide()(2)),\n    )"),
    ("net/base.py", "class Base(tf.keras.layers.Layer)", "class Base"),
    ("net/base.py", "import tensorflow as tf\n", "import tensorflow as tf\n\nhelper = lambda x: x\n"),
    ("net/layers.py", "(Mixin, Base)", "(Base, Mixin)"),
    ("net/layers.py", "    def scale(", "    def size("),
    ("net/layers.py", "    pass", "    def run(self, x):\n        return head(x)"),
    ("net/layers.py", "    pass", "    def __init__(self):\n        self.inner = Base()"),
    ("net/layers.py", "from .base import Base\n", ""),
    ("net/layers.py", "def head(x, name=None)", "def head(name=None, x=None)"),
    ("net/layers.py", "def head(", "def tail("),
    ("net/train.py", "@tf.function\n", ""),
    ("net/train.py", "    fn(step)\n", "    fn(L.head)\n    tf.function(fn)\n"),
    ("net/train.py", "L.head(layer(x))", "x"),
    ("net/__init__.py", "from .layers import *", "from .layers import head"),
    ("net/__init__.py", "from .train import step\n", "from .layers import head as step\n"),
    ("use.py", "from net import step, Wide", "from net.layers import head as step, Mixin as Wide"),
]


@pytest.mark.parametrize(("file", "old", "new"), EDITS)
def test_other_code_of_one_file_is_a_project_anew(file: str, old: str, new: str) -> None:
    """Of an edit, and of what takes it back: everything is linked as if all files had just been read."""
    whole = project_of(PACKAGE)
    whole.prepare()
    assert old in PACKAGE[file]
    texts = PACKAGE | {file: PACKAGE[file].replace(old, new)}
    for before, changed in ((whole, texts), (project_of(texts), PACKAGE)):
        edited = before.with_code(file, summarize(FileIndex(ast.parse(changed[file]))))
        fresh = project_of(changed)
        graph, wanted = edited.call_graph, fresh.call_graph

        assert wanted._names == graph._names
        assert None not in [one.moved_to(other) for one, other in zip(graph._files, wanted._files, strict=True)]
        keys = [(name, int(number)) for name, summary in fresh.summaries.items() for number in summary["functions"]]
        assert keys
        assert [fresh.contexts(key) for key in keys] == [edited.contexts(key) for key in keys]
        assert [fresh.callers(key) for key in keys] == [edited.callers(key) for key in keys]
        for flag in Context:
            assert [fresh.trail(key, flag) for key in keys] == [edited.trail(key, flag) for key in keys]
            assert [wanted.calls_under(key, flag) for key in keys] == [graph.calls_under(key, flag) for key in keys]


def test_an_edit_that_leads_to_nothing_else_keeps_what_is_known() -> None:
    """A comment and an expression within a function change no link of any file."""
    whole = project_of(PACKAGE)
    text = PACKAGE["net/layers.py"].replace("1.0) * x", "2.0) * x  # twice")
    assert text != PACKAGE["net/layers.py"]

    edited = whole.with_code("net/layers.py", summarize(FileIndex(ast.parse(text))))
    assert edited.call_graph._table is whole.call_graph._table
