"""Imports the user's target and makes the model of it."""

from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import importlib
import inspect
import sys
from types import ModuleType
from typing import Any, Iterator, NamedTuple, NoReturn, Sequence

from . import modules, signature
from .patching import replaced

__all__ = [
    "BATCH", "EXAMPLE", "Built", "Loaded", "TargetError", "attribute", "build", "if_factory", "keeping_owners", "load",
    "named", "parse_flags",
]  # fmt: skip

_WANTED = "wanted is a layer, a model, a function or another callable, or a pair (model, inputs)"
_DEFAULT_SIGNATURE = "serving_default"
OWN_NAMES = EXAMPLE, BATCH = "example_inputs", "example_batch"
"""What a program may say beside its model: inputs of it, and what a training step gets."""


class TargetError(ValueError):
    """What the user asked for cannot be run as it is; the text is a sentence that says why."""


class Loaded(NamedTuple):
    """The imported target: the object, what holds it (a module or a class), its dotted name and its module."""

    value: Any
    holder: Any
    name: str
    module: ModuleType


class Built(NamedTuple):
    """What the phases call.

    ``inputs`` is what ``build()`` returned beside the model, else None;
    ``tracked`` is the object that keeps the model's variables, itself or the one that a method belongs to; None for a
    function, which keeps none.
    """

    model: Any
    inputs: Any
    tracked: Any


def load(job: dict[str, Any]) -> Loaded:
    """Imports ``job["file"]`` or ``job["module"]`` and finds ``job["attribute"]`` in it.

    To the program it looks as if it were run with ``job["arguments"]``.
    Raises `TargetError` where there is no such module or name, and whatever the imported code raises.
    """
    modules.prefer(job.get("search_path") or [])
    file, name, notebook = job.get("file"), job.get("module"), job.get("notebook")
    sys.argv = [str(file or name), *job.get("arguments", ())]
    dotted = job["attribute"]
    if file is None:
        module = _installed(str(name), job.get("search_path") or [])
    else:
        text = None if notebook is None else _up_to(notebook, (dotted.partition(".")[0], *OWN_NAMES))
        module = modules.import_file(file, name, text)
    holder: Any = module
    for part in dotted.split(".")[:-1]:
        holder = attribute(holder, part)
    return Loaded(attribute(holder, dotted.rpartition(".")[2]), holder, dotted, module)


def _up_to(notebook: dict[str, Any], names: Sequence[str]) -> str:
    """The text of the cells up to the last one that binds one of the names; all of it where none does."""
    text = str(notebook["text"])
    try:
        statements = ast.parse(text).body
    except SyntaxError:  # which importing it says
        return text
    bound = [one.lineno for one in statements if not _bound_by(one).isdisjoint(names)]
    later = [line for line in notebook["cells"] if bound and line > max(bound)]
    return "".join(text.splitlines(keepends=True)[: min(later) - 1]) if later else text


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module binds, whatever it holds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    names = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    aliases = [one for one in ast.walk(statement) if isinstance(one, ast.alias)]
    return names | {one.asname or one.name.partition(".")[0] for one in aliases}


def attribute(holder: Any, name: str) -> Any:
    """``holder.name``, also where it is a submodule not imported yet; `TargetError` names the nearest names."""
    try:
        return getattr(holder, name)
    except AttributeError:
        if name in dir(holder):
            raise
    if inspect.ismodule(holder) and hasattr(holder, "__path__"):
        dotted = f"{holder.__name__}.{name}"
        try:
            return importlib.import_module(dotted)
        except ModuleNotFoundError as error:
            if error.name != dotted:
                raise
    raise TargetError(f"{_place(holder)} has no {name!r}{_nearest(holder, name)}")


def build(loaded: Loaded, method: str | None = None) -> Built:
    """Calls a function without required parameters or a class; anything else that can be called is the model itself.

    With the name of a `method` it is that method of what is built, which need not be callable, that the phases call.
    Raises `TargetError` where no model comes of it, and whatever the user's code raises.
    """
    holder, value = _bound(loaded)
    _refuse_coroutines(value, loaded.name)
    if inspect.isclass(value):
        built = _from(_construct(value, loaded.name), f"{loaded.name}()", method=method)
    elif signature.is_function(value) and not signature.required(value):
        built = _from(value(), f"{loaded.name}()", method=method)
    else:
        built = _from(value, loaded.name, verb="is", method=method)
    if built.tracked is None and holder is not None and built.model is value:
        return built._replace(tracked=holder)
    return built


def if_factory(name: str, needed: list[str]) -> str:
    """What to do about a function that makes a model and cannot be called without arguments."""
    arguments = ", ".join(f"{one}=..." for one in needed)
    return f"if it makes the model, name a function without arguments: `def build_model(): return {name}({arguments})`"


def named(place: dict[str, str]) -> Any:
    """What ``place["name"]`` is, dots followed, in ``place["file"]``, which is imported if it was not."""
    value: Any = modules.import_file(place["file"])
    for part in place["name"].split("."):
        value = attribute(value, part)
    return value


def parse_flags() -> list[str]:
    """Parse the program's flags, as ``absl.app.run`` does before ``main``; what is no flag of its is given back.

    Raises `TargetError` where a flag that must be given is not.
    """
    flags = sys.modules.get("absl.flags")
    if flags is None or flags.FLAGS.is_parsed():
        return []
    try:
        left = flags.FLAGS(sys.argv, known_only=True)[1:]
    except flags.Error as error:
        said = " ".join(str(error).split())
        raise TargetError(f"{said}; flags go behind `--` on the command line: -- --name=value") from None
    own = [name for name in flags.FLAGS.flags_by_module_dict() if name.partition(".")[0] not in ("absl", "tensorflow")]
    return list(left) if own else []


@contextlib.contextmanager
def keeping_owners() -> Iterator[dict[int, Any]]:
    """Collects, by identity, the objects whose ``tf.function`` methods the body reads.

    Such a method holds its object by a weak reference, so ``return trainer.step`` in ``build()`` is a method of nothing
    unless somebody else keeps the trainer.
    """
    from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

    original, owners = Function.__get__, {}

    def get(function: Any, instance: Any, owner: Any = None) -> Any:
        owners[id(instance)] = instance
        return original(function, instance, owner)

    with replaced(Function, "__get__", get):
        yield owners


def _installed(name: str, folders: list[str]) -> ModuleType:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name + ".").startswith(error.name + "."):
            raise
        where = " nor in " + ", ".join(folders) if folders else ""
        text = f"there is no module {name!r}, neither installed{where}"
        raise TargetError(text if error.name == name else text + f": there is no {error.name!r}") from None
    if getattr(module, "__file__", None) is None and hasattr(module, "__path__"):
        raise TargetError(f"{name} is a folder of modules without an __init__.py; name a module in it")
    return module


def _place(holder: Any) -> str:
    if inspect.ismodule(holder):
        return str(getattr(holder, "__file__", None) or holder.__name__)
    return str(holder.__qualname__) if inspect.isclass(holder) else _described(holder)


def _nearest(holder: Any, name: str) -> str:
    names = [known for known in dir(holder) if not known.startswith("_")]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    models = [known for known in names if signature.is_layer(inspect.getattr_static(holder, known, None))][:5]
    if models and inspect.ismodule(holder):
        kinds = "are models or layers" if models[1:] else "is a model or layer"
        return f"; {_listed(models)} {kinds} of Keras: name it behind the colon, as in :{models[0]}"
    if near:
        return "; did you mean {}?".format(" or ".join(near))
    own = [known for known in names if _is_defined_in(holder, known)]
    if not own:
        return ""
    estimators = [known for known in own if _is_model_fn(getattr(holder, known))]
    if estimators:
        advice = "`migrate-lint verify --init pair.py` compares it with the model that it becomes"
        return f"; {estimators[0]} is the model_fn of an Estimator, a graph of TF1: {advice}"
    makers = [known for known in own if known not in OWN_NAMES]
    named = ", ".join(own[:5])
    advice = f": name what makes the model behind the colon, as in :{makers[0]}" if makers else ""
    return f"; it has {named}{advice}" if inspect.ismodule(holder) else f"; it has {named}"


def _is_model_fn(value: Any) -> bool:
    """Whether an Estimator would take a function: it refuses other names of parameters."""
    if not inspect.isfunction(value):
        return False
    names = set(inspect.signature(value).parameters)
    return {"features", "mode"} <= names <= {"features", "labels", "mode", "params", "config"}


def _is_defined_in(holder: Any, name: str) -> bool:
    value = inspect.getattr_static(holder, name, None)
    return callable(value) and getattr(value, "__module__", None) == getattr(holder, "__name__", None)


def _bound(loaded: Loaded) -> Any:
    """The object that a method of a class was bound to, or None; and the target, bound where it is a method."""
    name = loaded.name.rpartition(".")[2]
    if not inspect.isclass(loaded.holder) or inspect.isclass(loaded.value):
        return None, loaded.value
    static = inspect.getattr_static(loaded.holder, name)
    known = (signature.parameters(static) if signature.is_traced(static) else None) or []
    if not (inspect.isfunction(static) or [item.name for item in known[:1]] == ["self"]):
        return None, loaded.value
    instance = _construct(loaded.holder, loaded.name.rpartition(".")[0])
    return instance, getattr(instance, name)


def _construct(cls: Any, name: str) -> Any:
    missing = signature.constructor_needs(cls)
    if missing:
        raise TargetError(f"the constructor of {name} needs {_listed(missing)}; name a function that makes the model")
    return cls()


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def _refuse_coroutines(value: Any, name: str) -> None:
    function = value.func if isinstance(value, functools.partial) else value
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TargetError(f"{name} is a coroutine function (async def); wanted is a plain function")


def _from(value: Any, what: str, verb: str = "returned", method: str | None = None) -> Built:
    """The model, and the inputs of a pair; `what` and `verb` begin the sentence of an error."""
    model, inputs = value, None
    if isinstance(value, tuple) and not callable(value):
        if len(value) != 2:
            _refuse(value, what, verb)
        model, inputs = value
        if not (method or _is_model(model)):
            raise TargetError(f"{what} {verb} a pair that begins with {_described(model)}; {_WANTED}")
    if method:
        return Built(_method(model, method), inputs, model)
    if inspect.isclass(model):
        raise TargetError(f"{what} {verb} the class {model.__qualname__}, not an instance of it; {_WANTED}")
    _refuse_coroutines(model, f"what {what} {verb}" if verb == "returned" else what)
    if callable(model):
        return Built(model, inputs, signature.keeper(model))
    served = _served(model)
    if served is None:
        _refuse(model, what, verb)
    return Built(served, inputs, model)


def _method(model: Any, name: str) -> Any:
    found = attribute(model, name)
    if not callable(found):
        raise TargetError(f"`{name}` of {_described(model)} cannot be called")
    return found


def _is_model(value: Any) -> bool:
    return callable(value) or _served(value) is not None


def _served(value: Any) -> Any | None:
    """The default signature of a loaded SavedModel."""
    signatures = getattr(value, "signatures", None)
    try:
        return signatures[_DEFAULT_SIGNATURE] if signatures is not None else None
    except (KeyError, TypeError):
        return None


def _refuse(value: Any, what: str, verb: str) -> NoReturn:
    methods = [name for name in dir(type(value)) if signature.is_traced(inspect.getattr_static(type(value), name))]
    hint = "; it cannot be called, but has the tf.function {}".format(", ".join(methods)) if methods else ""
    raise TargetError(f"{what} {verb} {_described(value)}; {_WANTED}{hint}")


def _described(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, (tuple, list)):
        kinds = ", ".join(type(item).__name__ for item in value)
        return f"a {type(value).__name__} of {len(value)} ({kinds})" if value else f"an empty {type(value).__name__}"
    if inspect.ismodule(value):
        return f"the module {value.__name__}"
    kind = type(value)
    owner = "" if kind.__module__ == "builtins" else kind.__module__.rpartition(modules.PREFIX)[2] + "."
    return f"an object of type {owner}{kind.__qualname__}"
