"""What the worker imports, and which model it makes of it; cases run in child interpreters."""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..interpreters import Children

TARGETS = ("keras2", "keras3")

CASES: dict[str, Callable[[Path], None]] = {}
NUMBERS = itertools.count()


def case(check: Callable[[Path], None]) -> Callable[[Path], None]:
    """A check that runs in the children, each in an empty folder of its own."""
    CASES[check.__name__] = check
    return check


def write(folder: Path, **files: str) -> None:
    """Writes modules; ``a__b`` is ``a/b.py``."""
    for name, text in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


def package(folder: Path, text: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(text, encoding="utf-8")


def load(file: Path | None, attribute: str = "build", module: str | None = None, folder: Path | None = None) -> Any:
    from migrate_lint.runtime_checks.worker import target

    path = [str(folder or (file.parent if file else "."))]
    return target.load({"file": file and str(file), "module": module, "attribute": attribute, "search_path": path})


def made(folder: Path, text: str, attribute: str = "build") -> Any:
    """What is built of an attribute of a module with this text."""
    from migrate_lint.runtime_checks.worker import target

    file = folder / f"model_{next(NUMBERS)}.py"
    file.write_text("import tensorflow as tf\n" + textwrap.dedent(text), encoding="utf-8")
    return target.build(load(file, attribute))


@contextmanager
def refused(sentence: str) -> Iterator[None]:
    """The body is refused with a sentence that begins like this one."""
    from migrate_lint.runtime_checks.worker.target import TargetError

    try:
        yield
    except TargetError as error:
        said = str(error)
    else:
        said = "nothing"
    assert sentence == said[: len(sentence)], said


@case
def a_plain_file_is_imported_under_its_stem(folder: Path) -> None:
    """Its siblings are found, and it is not ``__main__``."""
    write(
        folder,
        network_a="import sibling_a\nNAME = __name__\ndef build(): return sibling_a.f",
        sibling_a="import network_a\ndef f(x): return x",
    )
    loaded = load(folder / "network_a.py")

    assert loaded.module.NAME == "network_a"
    assert sys.modules["sibling_a"].network_a is loaded.module
    assert load(folder / "network_a.py").module is loaded.module


@case
def a_program_sees_no_arguments(folder: Path) -> None:
    """One that parses its command line while it is imported gets its defaults."""
    text = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--rate', default=3)\n"
    write(folder, arguments_a=text + "RATE = parser.parse_args().rate\ndef build(): return len")

    assert load(folder / "arguments_a.py").module.RATE == 3


@case
def a_file_name_may_be_no_identifier(folder: Path) -> None:
    """Neither a hyphen nor a dot in it matters."""
    for name in ("my-model.py", "my.model.py"):
        (folder / name).write_text(f"NAME = {name!r}\ndef build(): return len")
        assert load(folder / name).module.NAME == name


@case
def a_loaded_module_of_the_same_name_stays(folder: Path) -> None:
    """``json.py`` and ``numpy.py`` are neither replaced nor taken for the target."""
    for name in ("json", "types", "numpy", "__main__"):
        before = sys.modules[name]
        (folder / f"{name}.py").write_text("MINE = __name__\ndef build(): return len")
        loaded = load(folder / f"{name}.py")
        assert loaded.module.MINE not in (name, "__main__")
        assert sys.modules[name] is before


@case
def a_standard_module_not_loaded_yet_stays(folder: Path) -> None:
    """``import sched`` in other code still means the standard library's module."""
    assert "sched" not in sys.modules
    (folder / "sched.py").write_text("MINE = True\ndef build(): return len")

    assert load(folder / "sched.py").module.MINE
    assert hasattr(importlib.import_module("sched"), "scheduler")


@case
def a_file_of_a_package_is_imported_as_part_of_it(folder: Path) -> None:
    """Relative and absolute imports of the package give the same modules."""
    package(folder / "pack_a", "LOADED = []")
    package(folder / "pack_a" / "deep")
    write(
        folder,
        pack_a__deep__net="""
            from .. import LOADED, layers
            import pack_a.layers
            from .helper import scale
            LOADED.append(__name__)
            def build(): return scale
        """,
        pack_a__layers="",
        pack_a__deep__helper="def scale(x): return x",
    )
    loaded = load(folder / "pack_a" / "deep" / "net.py", module="pack_a.deep.net", folder=folder)

    assert loaded.module.__name__ == "pack_a.deep.net"
    assert loaded.module.LOADED == ["pack_a.deep.net"]
    assert loaded.module.layers is loaded.module.pack_a.layers
    assert sys.modules["pack_a"].deep.net is loaded.module


@case
def a_package_that_imports_its_module_runs_it_once(folder: Path) -> None:
    """So a class in it is one class."""
    package(folder / "pack_b", "COUNT = []\nfrom . import net")
    write(folder, pack_b__net="import pack_b\npack_b.COUNT.append(1)\ndef build(): return len")

    assert load(folder / "pack_b" / "net.py", folder=folder).module is sys.modules["pack_b"].net
    assert sys.modules["pack_b"].COUNT == [1]


@case
def an_init_file_is_a_package(folder: Path) -> None:
    """Its own relative imports work, also where its folder's name cannot be imported."""
    for name in ("pack_c", "pack-d"):
        package(folder / name, "from .nets import build")
        (folder / name / "nets.py").write_text("def build(): return len")
        assert load(folder / name / "__init__.py", folder=folder).value.__name__ == "build"


@case
def a_package_named_as_a_loaded_one_is_imported_beside_it(folder: Path) -> None:
    """Its relative imports stay in it."""
    package(folder / "json")
    write(folder, json__nets="from . import layers\ndef build(): return len", json__layers="MINE = True")
    loaded = load(folder / "json" / "nets.py", module="json.nets", folder=folder)

    assert loaded.module.layers.MINE
    assert sys.modules["json"] is json


@case
def a_folder_without_an_init_file_is_a_namespace(folder: Path) -> None:
    """``space.net:build`` is imported as Python would."""
    write(folder, space_a__net="from . import other\nimport space_a.other\ndef build(): return len", space_a__other="")
    loaded = load(folder / "space_a" / "net.py", module="space_a.net", folder=folder)

    assert loaded.module.__name__ == "space_a.net"
    assert loaded.module.other is sys.modules["space_a.other"]


@case
def an_installed_module_goes_by_name(folder: Path) -> None:
    """One that is not there is refused; an import that fails inside it is the user's error."""
    assert load(None, "JSONDecoder.decode", module="json.decoder").value is json.JSONDecoder.decode
    with refused("there is no module 'absent_a.model', neither installed nor in .: there is no 'absent_a'"):
        load(None, module="absent_a.model")
    write(folder, broken_a="import absent_b", space_b__x="")
    try:
        load(None, module="broken_a", folder=folder)
    except ModuleNotFoundError as error:
        assert error.name == "absent_b"
    with refused("space_b is a folder of modules without an __init__.py"):
        load(None, module="space_b", folder=folder)


@case
def the_users_own_errors_pass_unchanged(folder: Path) -> None:
    """A file that fails is not left behind half imported."""
    write(folder, failing_a="raise KeyError('mine')")
    for _ in range(2):
        try:
            load(folder / "failing_a.py")
        except KeyError as error:
            assert error.args == ("mine",)
        else:
            raise AssertionError
    assert "failing_a" not in sys.modules


@case
def a_dotted_attribute_goes_through_classes_objects_and_submodules(folder: Path) -> None:
    """A submodule is imported when it is asked for."""
    package(folder / "pack_e")
    write(folder, pack_e__nets="class Factory:\n    @staticmethod\n    def build(): return len\nMODEL = Factory()")
    loaded = load(folder / "pack_e" / "__init__.py", "nets.Factory.build", folder=folder)

    assert loaded.value is loaded.holder.build
    assert load(folder / "pack_e" / "__init__.py", "nets.MODEL", folder=folder).value.build() is len


@case
def a_missing_attribute_is_answered_with_the_nearest(folder: Path) -> None:
    """Without a near one, with the functions of the module; an error inside the module's own look-up passes."""
    write(
        folder,
        names_a="from os.path import join\ndef biuld_model(): pass\ndef train(): pass\nclass Net:\n    layer = 1",
        names_b="def __dir__(): return ['lazy']\ndef __getattr__(name): raise AttributeError('inner ' + name)",
    )
    file = folder / "names_a.py"
    with refused(f"{file} has no 'build_model'; did you mean biuld_model?"):
        load(file, "build_model")
    with refused(f"{file} has no 'zzz'; it has Net, biuld_model, train"):
        load(file, "zzz")
    with refused("Net has no 'layers'; did you mean layer?"):
        load(file, "Net.layers")
    try:
        load(folder / "names_b.py", "lazy")
    except AttributeError as error:
        assert str(error) == "inner lazy"


@case
def a_function_without_required_parameters_is_called(folder: Path) -> None:
    """Defaults are allowed; what wraps such a function is called too."""
    text = """
        import functools
        def net(x): return x
        def build(width=3, *rest, flag=True, **more): return net
        cached = functools.lru_cache(build)
        bound = functools.partial(lambda given: net, 3)
        class Factory:
            def __init__(self, width=2): self.width = width
            def method(self): return self.net
            def net(self, x): return x * self.width
            @classmethod
            def of_class(cls): return net
    """
    for name in ("build", "cached", "bound", "Factory.of_class"):
        built = made(folder, text, name)
        assert (built.model.__name__, built.inputs, built.tracked) == ("net", None, None)
    method = made(folder, text, "Factory.method")
    assert method.model(3) == 6
    assert method.tracked is method.model.__self__
    assert made(folder, text, "Factory.net").model(4) == 8


@case
def a_function_with_required_parameters_is_the_model(folder: Path) -> None:
    """A plain callable, as are partials and callable objects."""
    text = """
        import functools
        def net(x, training=False): return x + 1
        half = functools.partial(net, training=True)
        class Net:
            def __call__(self, x): return x + 1
        MODEL = Net()
        one = lambda x: x + 1
    """
    for name in ("net", "half", "MODEL", "Net", "one"):
        assert made(folder, text, name).model(1) == 2
    assert made(folder, text, "net").tracked is None
    assert type(made(folder, text, "MODEL").tracked).__name__ == "Net"


@case
def keras_and_tensorflow_objects_are_models(folder: Path) -> None:
    """Instances as they are; classes are called, and keep their variables themselves."""
    text = """
        class Net(tf.keras.Model):
            def __init__(self, units=3):
                super().__init__()
                self.dense = tf.keras.layers.Dense(units)
            def call(self, x): return self.dense(x)
        class Module(tf.Module):
            def __init__(self): self.w = tf.Variable(2.0)
            def __call__(self, x): return self.w * x
            @tf.function
            def serve(self, x): return self.w * x
        LAYER, MODULE = tf.keras.layers.Dense(2), Module()
        def function(): return Net()
    """
    for name, kind in (("Net", "Net"), ("LAYER", "Dense"), ("MODULE", "Module"), ("function", "Net")):
        built = made(folder, text, name)
        assert type(built.model).__name__ == kind
        assert built.tracked is built.model
    for name in ("Module.serve", "MODULE.serve"):
        built = made(folder, text, name)
        assert float(built.model(3.0)) == 6.0
        assert built.tracked.w is built.model.get_concrete_function(3.0).variables[0]


@case
def a_traced_function_is_the_model(folder: Path) -> None:
    """Even one without parameters, and one of its concrete functions."""
    text = """
        @tf.function
        def build(): return tf.constant(1)
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def double(x): return 2.0 * x
        concrete = double.get_concrete_function()
        def returned(): return double
    """
    assert int(made(folder, text).model()) == 1
    for name in ("double", "concrete", "returned"):
        assert made(folder, text, name).model.__class__.__module__.startswith("tensorflow.")


@case
def a_pair_is_the_model_and_its_inputs(folder: Path) -> None:
    """Of a function as of a module."""
    text = """
        def net(x): return x
        def build(): return net, {"x": 1}
        PAIR = (net, [2])
    """
    assert made(folder, text).inputs == {"x": 1}
    assert made(folder, text, "PAIR").inputs == [2]


@case
def a_saved_model_is_called_or_serves(folder: Path) -> None:
    """One that cannot be called is run through its default signature, and is kept alive with it."""
    import tensorflow as tf

    class Scale(tf.Module):
        def __init__(self) -> None:
            self.w = tf.Variable(3.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def go(self, x: Any) -> Any:
            return self.w * x

    scale = Scale()
    tf.saved_model.save(scale, str(folder / "served"), signatures=scale.go)
    tf.saved_model.save(tf.Module(), str(folder / "bare"))
    text = f"""
        def build(): return tf.saved_model.load({str(folder / "served")!r})
        def bare(): return tf.saved_model.load({str(folder / "bare")!r})
    """
    built = made(folder, text)

    assert built.model(x=tf.constant([2.0]))["output_0"].numpy().tolist() == [6.0]
    assert built.tracked.w.numpy() == 3.0
    with refused("bare() returned an object of type "):
        made(folder, text, "bare")


@case
def what_is_no_model_is_refused_by_what_it_is(folder: Path) -> None:
    """The sentence says what came back and what is wanted."""
    text = """
        class Net(tf.keras.layers.Layer):
            def __init__(self, units, rate, name=None): super().__init__(name=name)
        class Base: pass
        class Module(tf.Module):
            @tf.function
            def serve(self, x): return x
        class Factory:
            def __init__(self, path): pass
            def build(self): return len
        async def coroutine(): return len
        def nothing(): pass
        def triple(): return len, 1, 2
        def pair(): return 5, 6
        def listed(): return [len, 1]
        def tensor(): return tf.zeros((2,))
        def cls(): return Net
        def wrapped(): return coroutine
        def raises(): raise KeyError("mine")
        NUMBER = 3
    """
    wanted = "; wanted is a layer, a model, a function or another callable, or a pair (model, inputs)"
    for name, sentence in {
        "Net": "the constructor of Net needs units and rate; name a function that makes the model",
        "Factory.build": "the constructor of Factory needs path; name a function that makes the model",
        "Base": "Base() returned an object of type model_",
        "Module": "Module() returned an object of type model_",
        "coroutine": "coroutine is a coroutine function (async def); wanted is a plain function",
        "wrapped": "what wrapped() returned is a coroutine function",
        "nothing": "nothing() returned None" + wanted,
        "triple": "triple() returned a tuple of 3 (builtin_function_or_method, int, int)" + wanted,
        "pair": "pair() returned a pair that begins with an object of type int" + wanted,
        "listed": "listed() returned a list of 2 (builtin_function_or_method, int)" + wanted,
        "tensor": "tensor() returned an object of type tensorflow.python.framework.ops.EagerTensor" + wanted,
        "cls": "cls() returned the class Net, not an instance of it" + wanted,
        "NUMBER": "NUMBER is an object of type int" + wanted,
        "tf": "tf is the module tensorflow" + wanted,
    }.items():
        with refused(sentence):
            made(folder, text, name)
    try:
        made(folder, text, "raises")
    except KeyError as error:
        assert error.args == ("mine",)


def check(name: str, folder: str) -> None:
    """In a child: run a case."""
    path = list(sys.path)
    try:
        CASES[name](Path(folder).resolve())
    finally:
        sys.path[:] = path


@pytest.mark.tensorflow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_the_worker_loads_and_builds(name: str, target: str, children: Children, tmp_path: Path) -> None:
    """Each case is a fact, stated by its name."""
    children.call(target, check, name, str(tmp_path))
