"""TF301: layers that are no more than a function."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import Call, ClassSite, Target, canonical, path_of
from ...linter.rule_api.rewriting import call_in
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .whole_models import allows_lambdas, handles_whole_models, is_hdf5, keeps_weights_only, keeps_weights_only_here

if TYPE_CHECKING:
    import libcst

_REGISTRATIONS = ("register_keras_serializable", "register_keras_serializable()")
_CUSTOM_OBJECTS = (
    "keras.utils.CustomObjectScope",
    "keras.utils.custom_object_scope",
    "keras.utils.get_custom_objects",
    "keras.saving.CustomObjectScope",
    "keras.saving.custom_object_scope",
    "keras.saving.get_custom_objects",
)
_SERIALIZERS = ("keras.layers.serialize", "keras.saving.serialize_keras_object", "keras.utils.serialize_keras_object")
_MODELS = ("keras.Model", "keras.Sequential")
_KNOWN_PACKAGES = sys.stdlib_module_names | {"builtins", "keras", "tensorflow"}
_ACTIVATIONS = frozenset(
    {
        "elu", "exponential", "gelu", "leaky_relu", "linear", "log_softmax", "relu", "relu6", "selu", "sigmoid", "silu",
        "softmax", "softplus", "softsign", "swish", "tanh",
    }
)  # fmt: skip
"""Functions that Keras 3 finds again by their names, whichever module they come from."""

_PLAIN = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
"""Statements of a module that a class can stand above: others may import what it reads."""
_REASON = "the layer has another name, and models that were saved with the old one do not load"


class LambdaLayer(Rule):
    """A model with a `Lambda` layer can be saved, and then not be loaded.

    ## Why
    A `Lambda` layer keeps Python code, and Keras refuses to load code from a model file.
    On Keras 3 `load_model`, for `.keras` and `.h5`, `model_from_json` and `clone_model` raise ValueError for a lambda,
    and TypeError for a function that is not registered.
    On Keras 2 a `.keras` file with any `Lambda` raises ValueError; `.h5` stores the bytecode, which another version of
    Python cannot run.
    A layer or model of the project makes the `Lambda` in its `__init__` again by itself; not so one that a method gives
    away in a model, or that `get_config` writes down.
    A class whose base is in a package that is not looked into may be such a model.
    With `safe_mode=False` a lambda loads only if it needs no global name.

    ## Example
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([
        tf.keras.layers.Dense(8),
        tf.keras.layers.Lambda(lambda x: tf.math.l2_normalize(x, axis=-1)),
    ])
    model.save("model.keras")
    ```

    ## Fix
    ```python
    import tensorflow as tf

    @tf.keras.utils.register_keras_serializable()
    class Normalize(tf.keras.layers.Layer):
        def call(self, inputs):
            return tf.math.l2_normalize(inputs, axis=-1)

    model = tf.keras.Sequential([tf.keras.layers.Dense(8), Normalize()])
    model.save("model.keras")
    ```

    ## Fix safety
    Unsafe: the layer gets another name where it is given none, and old model files do not have it.
    It is offered for a lambda of one argument that reads nothing but names of the module; the class is written above
    the statement.

    ## Source
    - https://www.tensorflow.org/guide/migrate/migration_debugging
    - https://www.tensorflow.org/api_docs/python/tf/keras/layers/Lambda
    - https://keras.io/api/layers/core_layers/lambda/
    """

    code = "TF301"
    severity = Severity.WARNING
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    calls = ("keras.layers.Lambda",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a `Lambda` layer."""
        if len(call.found) != len(call.names) or call.in_graph:
            return
        if _is_made_again(call) or any(name.spelled.startswith("tensorflow.python.") for name in call.names):
            return  # TensorFlow's private Keras saves and clones by code of its own
        function = call.value("function", 0)
        name = path_of(function)
        is_lambda = isinstance(function, ast.Lambda) or (name is not None and _is_lambda(call, name))
        if is_lambda:
            what, error = "a lambda" if isinstance(function, ast.Lambda) else f"the lambda `{name}`", "ValueError"
        elif name is not None and not _is_found_again(call, name):
            unless = "" if name.startswith("self.") else ", unless it is registered or given in `custom_objects`"
            what, error = f"`{name}`", f"TypeError{unless}"  # a method is found by no name
        else:
            return
        if call.target is Target.KERAS2:
            message = (
                f"`Lambda` keeps the code of {what}: loading a `.keras` file with it raises ValueError, and `.h5` "
                "stores bytecode, which another version of Python cannot run."
            )
        else:
            message = (
                f"`Lambda` keeps {what}, which a saved model does not bring back: loading or cloning it raises {error}."
            )
        severity = _severity(call, is_lambda)
        if severity is not None:
            yield self.report(call, f"{message} Write a subclass of `Layer`.", severity)

    def fixed_part(self, site: Call) -> ast.stmt | None:
        """The statement of the module around it."""
        node: ast.AST | None = site.syntax
        while node is not None and not (
            isinstance(node, ast.stmt) and isinstance(site.file.parent_of(node), ast.Module | None)
        ):
            node = site.file.parent_of(node)
        return node if isinstance(node, _PLAIN) else None

    def fix(self, node: libcst.CSTNode, site: Call) -> Replacement | None:
        """Write a registered layer above, and make that."""
        import libcst
        from libcst import matchers

        function = site.value("function", 0)
        statement = self.fixed_part(site)
        root = site.names[0].spelled.removesuffix(".layers.Lambda") if len(site.names) == 1 else ""
        register = site.spelling(f"{root}.utils.register_keras_serializable")
        base = site.spelling(f"{root}.layers.Layer")
        if not isinstance(function, ast.Lambda) or not _is_movable(site, function) or statement is None:
            return None
        old = call_in(node, statement, site)
        head = (base or "").partition(".")[0]
        imported = [one.line for one in site.file.imports if one.scope is site.file.index.module and one.bound == head]
        if register is None or base is None or old is None or not imported or min(imported) > statement.lineno:
            return None
        if not set(site.keywords) <= {"function", "name"}:
            return None
        rest = [arg for arg in old.args if not isinstance(arg.value, libcst.Lambda)]
        if len(rest) != len(old.args) - 1 or any(arg.keyword is None for arg in rest):
            return None
        (given,) = (arg.value for arg in old.args if isinstance(arg.value, libcst.Lambda))
        name = _free_class_name(site)
        new = old.with_changes(
            func=libcst.Name(name),
            whitespace_before_args=old.whitespace_before_args if rest else libcst.SimpleWhitespace(""),
            args=[arg.with_changes(comma=libcst.MaybeSentinel.DEFAULT) for arg in rest],
        )
        call = f"def call(self, {function.args.args[0].arg}):\n        return _"
        package = re.sub(r"\W", ".", site.file.key.removesuffix(".py"))  # of two classes of one name, Keras keeps one
        made = libcst.parse_statement(f"@{register}(package=\"{package}\")\nclass {name}({base}):\n    {call}\n")
        body = given.body
        if not body.lpar and len(site.at(function.body).text.splitlines()) > 1:
            body = body.with_changes(lpar=[libcst.LeftParen()], rpar=[libcst.RightParen()])
        (result,) = matchers.findall(made, matchers.Name("_"))
        layer: object = made.deep_replace(result, body)
        changed = node.deep_replace(old, new)
        assert isinstance(layer, libcst.ClassDef) and isinstance(changed, libcst.CSTNode)
        first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])
        blank = [libcst.EmptyLine(indent=False)] * 2
        layer = layer.with_changes(leading_lines=blank if first > 1 and site.file.lines[first - 2].strip() else [])
        both = libcst.FlattenSentinel([layer, changed.with_changes(leading_lines=blank)])
        return Replacement(both, Applicability.UNSAFE, _REASON)


def _is_movable(site: Call, function: ast.Lambda) -> bool:
    """Whether a lambda takes one argument, and reads nothing but that and names of the module."""
    arguments = function.args
    if len(arguments.args) != 1 or ast.dump(arguments) != ast.dump(_plain(arguments.args[0].arg)):
        return False
    if arguments.args[0].arg in ("self", "training", "mask"):
        return False  # Keras gives the last two by itself
    binding = ast.Lambda | ast.NamedExpr | ast.comprehension | ast.Await
    if any(isinstance(one, binding) for one in ast.walk(function.body)):
        return False
    names = {one.id for one in ast.walk(function.body) if isinstance(one, ast.Name)} - {arguments.args[0].arg}
    found = [site.file.index.lookup(site.scope, name) for name in names]
    return all(one is None or one[0] is site.file.index.module for one in found)


def _plain(name: str) -> ast.arguments:
    return ast.arguments([], [ast.arg(name)], None, [], [], None, [])


def _free_class_name(site: Call) -> str:
    """A name for a class, after that of the layer, which nothing in the file has, nor the class of another lambda."""
    alike = [one for one in site.file.calls if one.name == site.name and _stem(one) == _stem(site)]
    number = [one.call for one in alike].index(site.call)
    taken = {name for scope in site.file.index.scopes for name in scope.binds}
    taken |= {(one.path or "").partition(".")[0] for one in site.file.references}
    names = (_stem(site), *(f"{_stem(site)}_{n}" for n in range(1, len(taken) + len(alike) + 1)))
    return [name for name in names if name not in taken][number]


def _stem(site: Call) -> str:
    given = site.literal("name", None)
    parts = given.split("_") if isinstance(given, str) and given.isidentifier() else ["lambda", "layer"]
    return "".join(part[:1].upper() + part[1:] for part in parts) or "LambdaLayer"



def _is_made_again(call: Call) -> bool:
    """Whether a layer or model of the project makes the `Lambda` for itself, and so again when it is loaded.

    A class whose base is in another package may be one.
    """
    owner = call.cls
    if owner is None or not ("layer" in owner.kinds or _has_unknown_base(owner)):
        return False
    if _is_in_configuration(call, owner):
        return False
    method = next((s for s in call.scope.chain() if s.is_function and s.parent is owner.body), None)
    if method is None or any(read.path == f"self.{method.name}" for read in call.file.references):
        return True
    models = (other for other in call.file.function_of(method).calls if other.name in _MODELS)
    return all(any(path.startswith("self.") for path in model.assigned_to) for model in models)


def _has_unknown_base(owner: ClassSite) -> bool:
    """Whether a class has a base of a package that is neither Python's nor TensorFlow's."""
    bases = (canonical(base).partition(".")[0] for base in owner.file.project.mro(owner.key)[1])
    return any(base not in _KNOWN_PACKAGES for base in bases)


def _is_in_configuration(call: Call, owner: ClassSite) -> bool:
    """Whether the class writes the layer down itself, as part of its own configuration."""
    statement = call.statement
    targets = {path_of(target) for target in statement.targets} if isinstance(statement, ast.Assign) else set()
    writer = owner.methods.get("get_config")
    return (
        writer is not None
        and any(other.name in _SERIALIZERS for other in writer.calls)
        and any(read.path in targets for read in writer.references)
    )


def _is_lambda(call: Call, path: str) -> bool:
    """Whether a name surely stands for a lambda."""
    functions = [call.file.project.function(e.key) if e.kind == "function" else None for e in call.entities(path)]
    return bool(functions) and all(summary is not None and summary["name"] == "<lambda>" for summary in functions)


def _is_found_again(call: Call, path: str) -> bool:
    """Whether Keras 3 finds the function when it loads the model; no for Keras 2, which does not look."""
    if call.target is Target.KERAS2:
        return False
    found = call.entities(path)
    if not found:
        return True  # not known: it may be registered
    for entity in found:
        if entity.kind == "function":
            summary = call.file.project.function(entity.key)
            decorators = summary["decorators"] if summary else []
            if summary is None or summary["name"] == "<lambda>":
                return False
            return any(text.endswith(_REGISTRATIONS) for text in decorators)
        if entity.kind != "external" or entity.text.rpartition(".")[2] in _ACTIVATIONS:
            return True
    return False


def _may_be_given(call: Call) -> bool:
    """Whether the program may hand the function to Keras as a custom object: some are written down, all without it."""
    name = (path_of(call.value("function", 0)) or "").rpartition(".")[2]
    given = [other.value("custom_objects") for other in call.file.calls if "custom_objects" in other.keywords]
    given += [other.value("custom_objects", 0) for other in call.file.calls if other.name in _CUSTOM_OBJECTS]
    if not given:
        return call.file.project.uses(*_CUSTOM_OBJECTS)
    return any(
        not isinstance(objects, ast.Dict)
        or any(not isinstance(key, ast.Constant) or key.value == name for key in objects.keys)
        for objects in given
    )


def _severity(call: Call, is_lambda: bool) -> Severity | None:
    file = call.file
    weights_only = keeps_weights_only(file.project) or keeps_weights_only_here(file)
    if file.is_test or weights_only or allows_lambdas(file):
        return Severity.INFO
    if not is_lambda and call.target is Target.KERAS3 and _may_be_given(call):
        return None
    saved = [other for other in handles_whole_models(file) if "load" not in other.name]
    if saved and not (call.target is Target.KERAS2 and all(is_hdf5(other) for other in saved)):
        return Severity.ERROR
    return Severity.WARNING
