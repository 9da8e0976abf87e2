"""TF304: a layer that cannot say how it was made."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from ...linter.rule_api.model import (
    Call,
    ClassSite,
    File,
    FunctionSite,
    Location,
    Scope,
    Target,
    canonical,
    is_test_path,
    path_of,
)
from ...linter.rule_api.rewriting import with_last
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .whole_models import keeps_weights_only, saves_whole_models_in

if TYPE_CHECKING:
    import libcst

_PLAIN_BASES = frozenset({"object", "abc.ABC", "typing.Generic"})
_REGISTRATIONS = frozenset({"keras.saving.register_keras_serializable", "keras.utils.register_keras_serializable"})
_OVERRIDES = ("get_config", "from_config", "__new__")
_CONFIGURED = ("name", "trainable", "dtype")
_OBJECTS = {
    "collections.abc.Callable": "a function",
    "keras.Model": "a model",
    "keras.Variable": "a variable",
    "keras.layers.Layer": "a layer",
    "numpy.ndarray": "an array",
    "tensorflow.Tensor": "a tensor",
    "tensorflow.Variable": "a variable",
    "typing.Callable": "a function",
}
_MADE = {
    "keras.Model": "a model",
    "keras.Sequential": "a model",
    "numpy.arange": "an array",
    "numpy.array": "an array",
    "numpy.asarray": "an array",
    "numpy.ones": "an array",
    "numpy.zeros": "an array",
    "tensorflow.Variable": "a variable",
    "tensorflow.constant": "a tensor",
}
_OF_LAYERS = frozenset({"keras.Model", "keras.Sequential"})
_BELOW = (
    ("keras.layers.", "a layer"),
    ("keras.initializers.", "an initializer"),
    ("keras.regularizers.", "a regularizer"),
)


class MissingGetConfig(Rule):
    """A layer without `get_config` takes constructor arguments that Keras cannot write down or give back.

    ## Why
    A model is saved with the configuration of its layers, and loading makes each layer anew from it.
    For a layer without `get_config` Keras writes the constructor's arguments down by itself, if all of them are
    numbers, strings, booleans, None, or lists and dicts of these.
    It cannot do so where an argument is a function, a layer, a variable or an array: saving raises NotImplementedError.
    Loading passes `trainable` and `dtype` as well: on Keras 3 an `__init__` that takes neither them nor `**kwargs`
    raises TypeError, where Keras 2 leaves them out.
    A layer that only other layers and subclassed models make is no part of any configuration, and is not reported.
    Nor is one that is only made to be an argument of a subclassed model without `get_config`, in the same file.
    Where `super().__init__(name="x", **kwargs)` names what `**kwargs` brings back, loading raises TypeError on both.

    ## Example
    ```python
    import tensorflow as tf

    class Pairwise(tf.keras.layers.Layer):
        def __init__(self, distance, **kwargs):
            super().__init__(**kwargs)
            self.distance = distance

        def call(self, inputs):
            return self.distance(inputs[0], inputs[1])
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Pairwise(tf.keras.layers.Layer):
        def __init__(self, distance, **kwargs):
            super().__init__(**kwargs)
            self.distance = tf.keras.losses.get(distance)

        def call(self, inputs):
            return self.distance(inputs[0], inputs[1])

        def get_config(self):
            return super().get_config() | {"distance": tf.keras.losses.serialize(self.distance)}
    ```

    ## Fix safety
    Safe: an `__init__` without `**kwargs` takes them and hands them on, which adds what loading gives and changes
    nothing else.
    Where an argument cannot be written down, how it is made again is not known, and there is no fix.

    ## Source
    - https://keras.io/guides/serialization_and_saving/
    - https://www.tensorflow.org/guide/migrate/migration_debugging
    """

    code = "TF304"
    severity = Severity.WARNING
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    of_keras = True

    def on_class(self, cls: ClassSite) -> Iterator[Diagnostic]:
        """Judge a layer with a constructor of its own."""
        constructor = cls.methods.get("__init__")
        if constructor is None or constructor.body.decorators or not _is_plain_layer(cls):
            return
        if _is_only_a_base(cls) or _is_only_a_part(cls) or _is_only_handed_on(cls):
            return
        reason, given = _cannot_be_written(cls, constructor)
        reason = reason or _cannot_be_made_again(cls, constructor)
        if reason:
            yield self.report(cls, f"`{cls.name}` has no `get_config`, and {reason}", _severity(cls), related=given)

    def fixed_part(self, site: ClassSite) -> ast.stmt:
        """The constructor."""
        node = site.methods["__init__"].syntax
        assert isinstance(node, ast.stmt)
        return node

    def fix(self, node: libcst.FunctionDef, site: ClassSite) -> Replacement | None:
        """Take `**kwargs` and hand them on."""
        import libcst
        from libcst import matchers

        constructor = site.methods["__init__"]
        names = {*constructor.body.binds, *(reference.path for reference in constructor.references)}
        if _arguments(constructor).kwarg is not None or "kwargs" in names or _cannot_be_written(site, constructor)[0]:
            return None
        init = matchers.Attribute(matchers.Call(matchers.Name("super")), matchers.Name("__init__"))
        found = matchers.findall(node, matchers.Call(init))
        calls = [call for call in constructor.calls if (call.path or "").endswith(".__init__")]
        if len(found) != 1 or len(calls) != 1 or not calls[0].discarded or not _always_runs(calls[0]):
            return None
        (old,) = found
        assert isinstance(old, libcst.Call)
        if calls[0].call.args or calls[0].has_stars or not {*calls[0].keywords} <= {*constructor.parameters}:
            return None
        new = node.deep_replace(old, with_last(old, libcst.Arg(libcst.Name("kwargs"), star="**")))
        assert isinstance(new, libcst.FunctionDef)
        return Replacement(new.with_changes(params=_with_kwargs(new.params)))


def _is_plain_layer(cls: ClassSite) -> bool:
    """Whether its configuration is certainly that of `keras.layers.Layer`, made up from the constructor's arguments.

    What Keras does not call by its own `__call__` is no node of a model.
    """
    if "__call__" in cls.methods and not any(call.path == "super().__call__" for call in cls.methods["__call__"].calls):
        return False
    bases = set(cls.public_bases)
    if "keras.layers.Layer" not in bases or bases - _PLAIN_BASES - {"keras.layers.Layer"} or not cls.knows_bases:
        return False
    registered = [name for node in cls.body.decorators for name in cls.file.names(cls.scope, path_of(node))]
    if len(registered) < len(cls.body.decorators):
        return False
    if any(name.canonical.removesuffix("()") not in _REGISTRATIONS for name in registered):
        return False
    project = cls.file.project
    classes = [found for key in project.mro(cls.key)[0] if (found := project.cls(key)) is not None]
    return not any(name in found["methods"] or name in found["attributes"] for found in classes for name in _OVERRIDES)


def _is_only_a_base(cls: ClassSite) -> bool:
    """Whether every class that descends from it has a constructor or a `get_config` of its own."""
    project = cls.file.project
    children = project.subclasses(cls.key)
    own = project.method(cls.key, "__init__")
    return bool(children) and all(
        project.method(child, "__init__") != own or project.method(child, "get_config") is not None
        for child in children
    )


def _is_only_a_part(cls: ClassSite) -> bool:
    """Whether only layers and subclassed models make it: they are loaded by their own configuration and make it again.

    A functional or sequential model that one of them makes holds the layer's.
    """
    if not cls.is_made_by_layers_only:
        return False
    owners = {owner for key in cls.makers if (owner := _owner(cls, key)) is not None}
    return not any(call.name in _OF_LAYERS or _is_functional(call) for call in _calls_of(cls.file, owners))


def _is_only_handed_on(cls: ClassSite) -> bool:
    """Whether all that make it are in its file, and what they make goes nowhere but into subclassed models.

    No configuration of such a model holds its arguments: it is saved without them, or is itself what raises.
    """
    file = cls.file
    if cls.made_in != (file.key,) or {key[0] for key in file.project.makers(cls.key)} != {file.key}:
        return False
    constructions = file.once("constructions", lambda: _constructions(file))
    arguments = {
        id(argument)
        for key, calls in constructions.items()
        if _is_subclassed_model(file, key)
        for call in calls
        for argument in call.arguments
    }
    return bool(arguments) and all(_goes_only_to(call, arguments) for call in constructions.get(cls.key, ()))


def _is_subclassed_model(file: File, key: tuple[str, int]) -> bool:
    """Whether a class of this file is a model that holds no configuration of what it is given."""
    project = file.project
    return (
        key[0] == file.key
        and "model" in project.kinds(key)
        and len(project.mro(key)[0]) == 1
        and project.method(key, "get_config") is None
        and not any(call.name in _OF_LAYERS or _is_functional(call) for call in _calls_of(file, {key[1]}))
    )


def _goes_only_to(construction: Call, arguments: Container[int]) -> bool:
    """Whether a new object is one of these arguments, by itself or by a name that is read for nothing else."""
    if id(construction.call) in arguments:
        return True
    file, scope = construction.file, construction.scope
    named = [a for a in file.assignments if a.value is construction.call]
    if len(named) != 1 or not isinstance(named[0].node, ast.Name):
        return False
    name = named[0].node.id
    same = [a for a in file.assignments if isinstance(a.node, ast.Name) and a.node.id == name]
    if sum(_binds_in(file, a.scope, name, scope) for a in same) != 1:
        return False
    reads = [r for r in file.references if (r.path or "").partition(".")[0] == name]
    uses = [r for r in reads if _binds_in(file, r.scope, name, scope)]
    return bool(uses) and all(id(use.syntax) in arguments for use in uses)


def _binds_in(file: File, place: Scope, name: str, scope: Scope) -> bool:
    found = file.index.lookup(place, name)
    return found is None or found[0] is scope


def _owner(cls: ClassSite, key: tuple[str, int]) -> int | None:
    """The class around a function, by its scope, where it is in the same file."""
    function = cls.file.project.function(key) if key[0] == cls.file.key else None
    while function is not None and function["cls"] < 0:
        function = cls.file.project.function((key[0], function["outer"]))
    return None if function is None else function["cls"]


def _calls_of(file: File, owners: Container[int]) -> Iterator[Call]:
    """The calls in the methods of some classes."""
    return (call for call in file.calls if call.cls is not None and call.cls.body.id in owners)


def _is_functional(call: Call) -> bool:
    """Whether a class makes itself a functional model, and has a constructor with the arguments of one.

    Such a model is saved as its layers, and any other one by the arguments of its constructor [run, both targets].
    """
    if call.path != "super().__init__" or not ("outputs" in call.keywords or len(call.call.args) > 1):
        return False
    node = call.function.syntax if call.function is not None else None
    if not isinstance(node, ast.FunctionDef):
        return True
    names = [argument.arg for argument in node.args.args[1:]]
    if call.target is Target.KERAS3:
        return names == ["inputs", "outputs", "name"] or (not names and node.args.vararg is not None)
    return names == ["inputs", "outputs", "name", "trainable"]


def _severity(cls: ClassSite) -> Severity | None:
    project = cls.file.project
    if cls.file.is_test or cls.is_made_by_layers_only or keeps_weights_only(project):
        return Severity.INFO
    if cls.target is Target.KERAS3 and any(_is_proof(cls, file) for file in cls.made_in):
        return Severity.ERROR
    return None


def _is_proof(cls: ClassSite, file: str) -> bool:
    return not is_test_path(file) and saves_whole_models_in(cls.file.project, file)


# -- saving ------------------------------------------------------------------------------------------------------------


def _cannot_be_written(cls: ClassSite, constructor: FunctionSite) -> tuple[str, Sequence[Location]]:
    """What argument is certainly none that Keras writes down, in words, and where it is given."""
    said, given = _annotated(constructor) or _called(cls, constructor), None
    if not said:
        said, given = _given(cls)
    if not said:
        return "", ()
    where = () if given is None else (given.location("constructed here"),)
    return f"{said}: saving a model with it raises NotImplementedError. Write `get_config`.", where


def _annotated(constructor: FunctionSite) -> str:
    for argument in _required(constructor):
        node = argument.annotation
        path = path_of(node.value if isinstance(node, ast.Subscript) else node)
        names = {name.canonical for name in constructor.file.names(constructor.scope, path)}
        if len(names) == 1 and (kind := _OBJECTS.get(*names)):
            return f"its argument `{argument.arg}` is {kind}"
    return ""


def _called(cls: ClassSite, constructor: FunctionSite) -> str:
    """An argument that must be a function or a layer, since it is called as it was given."""
    calls = [call for method in cls.methods.values() for call in method.calls if _always_runs(call)]
    for argument in _required(constructor):
        name = argument.arg
        if any(path_of(made.node) == name for made in constructor.assignments):
            continue
        kept = [made for made in constructor.assignments if isinstance(made.value, ast.Name) and made.value.id == name]
        attributes = [made.self_attribute for made in kept if made.self_attribute]
        once = {a for a in attributes if len(cls.file.assignments_to(cls.body, a)) == 1}
        for call in calls:
            owner = call.scope.function() is constructor.body
            if (owner and call.path == name) or any(call.path == f"self.{attribute}" for attribute in once):
                return f"it calls its argument `{name}`, a function or layer"
    return ""


def _always_runs(call: Call) -> bool:
    return not any(level.kind in ("if", "else", "try", "except", "case") for level in call.block.chain())


def _required(constructor: FunctionSite) -> list[ast.arg]:
    arguments = _arguments(constructor)
    every = [*arguments.posonlyargs, *arguments.args][1:] + arguments.kwonlyargs
    return [argument for argument in every if argument.arg not in constructor.optional_parameters]


def _given(cls: ClassSite) -> tuple[str, Call | None]:
    """What a construction in the same file gives to it."""
    for call in cls.file.once("constructions", lambda: _constructions(cls.file)).get(cls.key, ()):
        if cls.name in (call.path or ""):
            for argument in call.arguments:
                if kind := _kind_of(call, argument):
                    return f"{call.where} gives it {kind}", call
    return "", None


def _constructions(file: File) -> dict[tuple[str, int], list[Call]]:
    """The calls that surely construct a class, by its key."""
    found: dict[tuple[str, int], list[Call]] = {}
    for call in file.calls:
        if len(call.found) == 1 and call.found[0].kind == "class":
            found.setdefault(call.found[0].key, []).append(call)
    return found


def _kind_of(call: Call, argument: ast.expr) -> str:
    if isinstance(argument, ast.Lambda):
        return "a lambda"
    found = call.entities(path_of(argument))
    if len(found) != 1:
        return ""
    if found[0].kind in ("function", "class"):
        return f"a {found[0].kind}"
    if found[0].kind == "instance":
        return "a layer" if "layer" in call.file.project.kinds(found[0].key) else ""
    name = canonical(found[0].text) if found[0].kind == "external" else ""
    plain = name.removesuffix("()")
    if plain == name or "(" in plain:
        return ""
    last = plain.rpartition(".")[2]
    return _MADE.get(plain) or next((kind for root, kind in _BELOW if plain == root + last and last[:1].isupper()), "")


# -- loading -----------------------------------------------------------------------------------------------------------


def _cannot_be_made_again(cls: ClassSite, constructor: FunctionSite) -> str:
    doubled = _given_twice(cls, constructor)
    if doubled:
        return (
            f"it passes `{doubled}` to `super().__init__` beside `**kwargs`, in which loading brings `{doubled}` "
            f"back: TypeError. Make `{doubled}` an argument with this default."
        )
    arguments = _arguments(constructor)
    takes_both = {"trainable", "dtype"} <= set(constructor.parameters)
    if cls.target is Target.KERAS3 and arguments.kwarg is None and not takes_both:
        return (
            "its `__init__` takes no `**kwargs`: Keras 3 passes `trainable` and `dtype` when it loads a model, which "
            "raises TypeError. Take `**kwargs` and hand them to `super().__init__`."
        )
    return ""


def _given_twice(cls: ClassSite, constructor: FunctionSite) -> str:
    rest = _arguments(constructor).kwarg
    if rest is None or rest.arg != "kwargs" or len(cls.file.project.mro(cls.key)[0]) > 1:
        return ""
    if sum((reference.path or "").partition(".")[0] == "kwargs" for reference in constructor.references) != 1:
        return ""
    for call in constructor.calls:
        handed_on = any(keyword.arg is None and path_of(keyword.value) == "kwargs" for keyword in call.call.keywords)
        if call.path == "super().__init__" and handed_on:
            return next((k for k in call.keywords if k in _CONFIGURED and k not in constructor.parameters), "")
    return ""


def _arguments(constructor: FunctionSite) -> ast.arguments:
    assert isinstance(constructor.syntax, ast.FunctionDef | ast.AsyncFunctionDef)
    return constructor.syntax.args


# -- the fix -----------------------------------------------------------------------------------------------------------


def _with_kwargs(parameters: libcst.Parameters) -> libcst.Parameters:
    """Parameters with ``**kwargs`` at the end, spaced as they are."""
    import libcst

    added = libcst.Param(libcst.Name("kwargs"), star="**")
    name = "kwonly_params" if parameters.kwonly_params else "params"
    own: Sequence[libcst.Param] = getattr(parameters, name)
    if not own or (name == "params" and isinstance(parameters.star_arg, libcst.Param)):
        return parameters.with_changes(star_kwarg=added)
    *others, last = own
    star = parameters.star_arg
    before = others[-1] if others else star if isinstance(star, libcst.Param | libcst.ParamStar) else None
    gap = before.comma if before is not None else libcst.MaybeSentinel.DEFAULT
    if isinstance(last.comma, libcst.Comma):  # a trailing comma stays one
        added = added.with_changes(comma=last.comma)
    else:
        added = added.with_changes(whitespace_after_param=last.whitespace_after_param)
    last = last.with_changes(comma=gap, whitespace_after_param=libcst.SimpleWhitespace(""))
    return parameters.with_changes(star_kwarg=added, **{name: [*others, last]})
