"""TF903: names whose origin cannot be read off the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...linter.rule_api.model import Call, Import, all_there, literal_string, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity

_ANY = r"\w*"
_PERCENT = re.compile(r"%[-+ #0]*+\d*+(?:\.\d++)?+[a-z]")
_BRACES = re.compile(r"\{[^{}]*\}")


class UnresolvedOrigin(Rule):
    """A TensorFlow name is looked up in a way that reading the code cannot follow.

    ## Why
    After `from keras.layers import *` every undefined name may be Keras's, and `getattr(tf.nn, name)` may be any
    function of the module.
    What is not resolved is not linted: a hazard there goes unseen, by this program and by the upgrade script.
    A `getattr` with a literal name is resolved.
    One whose name is built around a literal, as in `"Conv{}D".format(n)`, is silent where all names of the module that
    fit are still there.

    ## Example
    ```python
    import tensorflow as tf

    def activation(name):
        return getattr(tf.nn, name)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh}

    def activation(name):
        return ACTIVATIONS[name]
    ```

    ## Source
    https://www.tensorflow.org/guide/migrate/upgrade#caveats
    https://docs.python.org/3/library/functions.html#getattr
    """

    code = "TF903"
    severity = Severity.INFO
    consequence = Consequence.LEGACY
    calls = ("getattr",)
    imports = ("tensorflow", "tensorflow.*", "keras", "keras.*", "slim", "slim.*")

    def on_import(self, statement: Import) -> Iterator[Diagnostic]:
        """See `Rule.on_import`."""
        if statement.is_star:
            module = statement.absolute.removesuffix(".*")
            yield self.report(
                statement,
                f"After `from {module} import *` a name may come from there or from this file; hazards behind it can "
                "go unseen. Import the module, or the names that are used.",
            )

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        arguments = call.call.args
        if len(arguments) < 2 or literal_string(arguments[1]) is not None:
            return
        names = call.names_of(arguments[0])
        module = ast.unparse(arguments[0])
        if _is_of_listing(call, arguments[1], module):
            return
        pattern = _pattern(arguments[1])
        if any(_is_module(n.spelled) and not all_there(n.spelled, pattern, call.target) for n in names):
            yield self.report(
                call,
                f"`getattr({module}, ...)` may be any name of `{module}`, moved or removed ones included; hazards "
                "behind it can go unseen. Use a dictionary of the functions that are meant.",
            )


def _is_of_listing(call: Call, name: ast.expr, module: str) -> bool:
    """Whether a name comes from a loop over ``dir(module)``, so that it is there."""
    if not isinstance(name, ast.Name):
        return False
    scopes = {scope.id for scope in call.scope.chain()}
    facts = [
        fact
        for fact in call.file.index.assignments
        if isinstance(fact.target, ast.Name) and fact.target.id == name.id and fact.scope.id in scopes
    ]
    return bool(facts) and all(fact.source is not None and _lists(fact.source, module) for fact in facts)


def _lists(source: ast.expr, module: str) -> bool:
    calls = (node for node in ast.walk(source) if isinstance(node, ast.Call) and path_of(node.func) in ("dir", "vars"))
    return any(len(node.args) == 1 and ast.unparse(node.args[0]) == module for node in calls)


def _pattern(name: ast.expr) -> str:
    """A regular expression for what an expression that builds a name can give."""
    if isinstance(name, ast.JoinedStr):
        return "".join(_pattern(part) for part in name.values)
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        return _pattern(name.left) + _pattern(name.right)
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Mod):
        return _filled(literal_string(name.left), _PERCENT)
    if isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute) and name.func.attr == "format":
        return _filled(literal_string(name.func.value), _BRACES)
    text = literal_string(name)
    return _ANY if text is None else re.escape(text)


def _filled(text: str | None, places: re.Pattern[str]) -> str:
    return _ANY if text is None else _ANY.join(map(re.escape, places.split(text)))


def _is_module(spelled: str) -> bool:
    """Whether a public name is a module of TensorFlow or Keras: modules are in lower case and are not called."""
    root, _, rest = spelled.partition(".")
    return (
        root in {"tensorflow", "keras", "tf_keras", "tf_slim"}
        and "(" not in rest
        and "[" not in rest
        and rest.islower() | (not rest)
    )
