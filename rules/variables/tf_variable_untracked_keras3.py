"""TF109: a variable or layer that Keras 3 does not track where Keras 2 did."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...linter.rule_api.model import (
    Assignment,
    Call,
    ClassSite,
    Context,
    File,
    Known,
    Reference,
    Target,
    canonical,
    path_of,
)
from ...linter.rule_api.rewriting import argument, with_argument, with_function, with_keywords
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .constructors import attributes_hold_state, is_layer
from .keeping import kept

if TYPE_CHECKING:
    import libcst

_COLLECTED = frozenset({"trainable_variables", "trainable_weights", "variables", "weights", "non_trainable_variables"})
_GIVEN_TO = frozenset({"apply_gradients", "gradient", "gradients", "minimize", "watch", "jacobian"})
_ASSIGNED = frozenset({"assign", "assign_add", "assign_sub"})
_OF_BOTH = _ASSIGNED | {"ndim", "numpy", "trainable"}
"""What a `tf.Variable` and a `keras.Variable` both have, and is the same [run]."""
_REASON = "it is trained and saved with the layer from then on, so that weights that were saved before do not fit"
_PARAMETERS = frozenset({"initial_value", "trainable", "name", "dtype"})


class TfVariableUntrackedKeras3(Rule):
    """A Keras 3 layer keeps a `tf.Variable`, or a `tf.Module` keeps a Keras 3 layer: neither is tracked.

    ## Why
    Keras 2 layers are `tf.Module`s and find every `tf.Variable` among their attributes.
    Keras 3 layers track `keras.Variable` and what `add_weight` makes: a `tf.Variable` is used in the forward pass, but
    is not in `layer.weights`, no optimizer trains it, and it is not in a `.keras` file.
    Nothing raises.
    The other way round, `tf.Module.variables` does not see the weights of a Keras 3 layer.

    A counter (`trainable=False`, an integer, something that `assign` sets) was never meant to be trained, and a
    variable that the code hands to the tape itself is trained: both are informational, since only `.keras` files lack
    them.

    ## Example
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(2.0)

        def call(self, inputs):
            return inputs * self.factor
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Scale(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.factor = self.add_weight(name="factor", shape=(), initializer=tf.keras.initializers.Constant(2.0))

        def call(self, inputs):
            return inputs * self.factor
    ```

    ## Fix safety
    Unsafe: from then on the variable is trained, regularized and saved with the layer, so that files of weights that
    were saved before do not fit.
    It becomes a `keras.Variable` of the same value, dtype and shape, where nothing is read of the attribute that such a
    one lacks, and the value is none that a function makes.
    An integer is given `trainable=False`: Keras would look for its gradient.

    ## Source
    - https://keras.io/guides/migrating_to_keras_3/
    - https://www.tensorflow.org/guide/migrate/validate_correctness
    """

    code = "TF109"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    targets = frozenset({Target.KERAS3})
    recipe = "keras3"
    calls = ("tensorflow.Variable", "keras.layers.*", "keras.Sequential", "keras.applications.*")
    creates = ("module", "layer")
    assigns = ("attribute",)
    of_keras = True

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what is created as a part of ``self``."""
        attribute = _attribute(call)
        owner = call.class_of_self(attribute[0]) if attribute else None
        if attribute is None or owner is None or _is_keras2(owner):
            return
        name = attribute[1]
        if owner.is_keras and {n.canonical for n in call.names} == {"tensorflow.Variable"}:
            yield from self._variable(call, owner, name, _is_counter(call))
        elif owner.is_keras and "module" in call.creates and "layer" not in call.creates:
            if all(attributes_hold_state(call.file.project, made) for made in call.found):
                yield from self._module(call, owner, name)
        elif "module" in owner.kinds and not owner.is_keras and _is_keras3_layer(call):
            collected = any(_reads_below(read, name, _COLLECTED) for read in _reads(owner, name))
            if not collected or _asks_itself(call, owner):
                yield self.report(
                    call,
                    f"`self.{name}` is a Keras 3 layer in the tf.Module `{owner.name}`: `{owner.name}.variables` and "
                    f"`trainable_variables` do not hold its weights. Collect `self.{name}.trainable_variables` "
                    "yourself, or make the class a `keras.layers.Layer`.",
                    Severity.WARNING,
                    subject=f"self.{name}",
                )

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge a variable that a function of the project makes."""
        owner, name, call = assignment.owner, assignment.self_attribute, assignment.value_call
        if owner is None or name is None or call is None or not owner.is_keras or _is_keras2(owner):
            return
        if len(call.found) != 1 or call.found[0].kind != "function":
            return
        if {canonical(entity.text) for entity in call.entities(f"{call.path}()")} == {"tensorflow.Variable()"}:
            helper = call.found[0]
            inner = call.file.calls_by_function.get(helper.scope, []) if helper.file == call.file.key else []
            made = [other for other in inner if other.name == "tensorflow.Variable"]
            yield from self._variable(call, owner, name, not made or any(map(_is_counter, made)))

    def fix(self, node: libcst.Call, site: Call) -> Replacement | None:
        """Make it a variable of Keras."""
        attribute, written = _attribute(site), site.importable("tensorflow.keras.Variable")
        owner = site.class_of_self(attribute[0]) if attribute else None
        if written is None or attribute is None or owner is None or site.has_stars or site.loops:
            return None
        if {name.canonical for name in site.names} != {"tensorflow.Variable"} or len(site.call.args) > 2:
            return None
        counter = _is_counter(site)
        if not set(site.keywords) <= _PARAMETERS or not (counter or _is_left_out(owner, attribute[1])):
            return None
        value = site.value("initial_value", 0)
        if not isinstance(value, ast.Constant | ast.List) and site.is_tensor(value) is not Known.TENSOR:
            return None
        for read in _reads(owner, attribute[1]):
            parts = (read.path or "").split(".")
            after = parts[parts.index(attribute[1]) + 1 :] if attribute[1] in parts else []
            if after and (len(after) > 1 or after[0] not in _OF_BOTH):
                return None
        new = with_keywords(with_function(node, written[0]), {"initial_value": "initializer"})
        flag = argument(new, "trainable", 1)
        if flag is not None and flag.keyword is None:
            new = with_argument(new, "trainable", flag.value, flag)
        elif counter and flag is None:
            new = with_argument(new, "trainable", "False")
        return Replacement(new, Applicability.UNSAFE, _REASON, written[1])

    def _variable(self, call: Call, owner: ClassSite, name: str, is_counter: bool) -> Iterator[Diagnostic]:
        untrained = (
            f"`self.{name}` is a tf.Variable of the Keras 3 layer `{owner.name}`, which does not track it: it is in "
            "neither `weights` nor a `.keras` file"
        )
        if is_counter or not _is_left_out(owner, name):
            message = f"{untrained}. `self.add_weight` would be tracked."
            yield self.report(call, message, Severity.INFO, subject=f"self.{name}")
        else:
            yield self.report(
                call,
                f"{untrained}, and no optimizer trains it, though nothing raises. Create it with `self.add_weight`.",
                subject=f"self.{name}",
            )

    def _module(self, call: Call, owner: ClassSite, name: str) -> Iterator[Diagnostic]:
        reads = list(_reads(owner, name))
        proven = any(map(_in_step, reads)) and not any(_reads_below(read, name, _COLLECTED) for read in reads)
        yield self.report(
            call,
            f"`self.{name}` is a tf.Module in the Keras 3 layer `{owner.name}`, which does not look into it: its "
            f"variables are in neither `{owner.name}.weights` nor a `.keras` file, and no optimizer trains them. "
            "Make it a `keras.layers.Layer`.",
            Severity.ERROR if proven else Severity.INFO,
            subject=f"self.{name}",
        )


def _asks_itself(call: Call, owner: ClassSite) -> bool:
    """Whether a method reads the variables of its own object, and so counts on those that are not there."""
    return any(
        found.body is owner.body
        for read in call.file.references
        for head, _, last in [(read.path or "").partition(".")]
        if last in _COLLECTED and (found := read.class_of_self(head)) is not None
    )


def _attribute(call: Call) -> tuple[str, str] | None:
    """``(self, v)`` where the call, or a collection that holds it, becomes the attribute ``self.v``."""
    for holder in kept(call):
        head, _, rest = holder.path.partition(".")
        if rest.isidentifier() and not holder.inside:
            return head, rest
    return None


def _is_keras2(owner: ClassSite) -> bool:
    """Whether the class descends from tf_keras, whichever Keras the program uses."""
    return any(text.startswith("tf_keras.") for text in owner.file.project.mro(owner.key)[1])


def _is_keras3_layer(call: Call) -> bool:
    """Whether a call makes a layer with variables that is no `tf.Module`."""
    if any(name.spelled.startswith("tf_keras.") for name in call.names):
        return False
    return is_layer(call) and (bool(call.names) or "layer" in call.creates)


def _is_counter(call: Call) -> bool:
    """Whether a variable was never meant to be trained: by its own words, or as an integer."""
    if call.literal("trainable", 1) is False:
        return True
    dtype = (path_of(call.value("dtype", 4)) or str(call.literal("dtype", 4))).rpartition(".")[2]
    if dtype.startswith(("int", "uint", "bool", "string")):
        return True
    value = call.value("initial_value", 0)
    if isinstance(value, ast.Constant):
        return not isinstance(value.value, float)
    return False


def _reads(owner: ClassSite, name: str) -> Iterator[Reference]:
    """Where the attribute is read: as ``self.v`` in the class, and by its name on anything else in the file."""
    others, own = owner.file.once("reads by attribute", lambda: _by_attribute(owner.file)).get(name, ([], {}))
    related = {*owner.project_bases, *owner.file.project.subclasses(owner.key)}
    found = [*others, *(read for key in related for read in own.get(key, ()))]
    yield from (read for _, read in sorted(found, key=lambda pair: pair[0]))


_Read = tuple[int, Reference]
"""A reference, with its number in the file."""


def _by_attribute(file: File) -> dict[str, tuple[list[_Read], dict[tuple[str, int], list[_Read]]]]:
    """Of each attribute its reads, those on ``self`` apart, by the class around them."""
    found: dict[str, tuple[list[_Read], dict[tuple[str, int], list[_Read]]]] = {}
    for number, read in enumerate(file.references):
        path = read.path or ""
        for name in dict.fromkeys(path.split(".")[1:]):
            others, own = found.setdefault(name, ([], {}))
            cls = read.cls if path.startswith(f"self.{name}") else None
            (others if cls is None else own.setdefault(cls.key, [])).append((number, read))
    return found


def _is_left_out(owner: ClassSite, name: str) -> bool:
    """Whether a forward pass reads the attribute, and nothing shows that the code cares for the variable itself."""

    def judge() -> bool:
        reads = list(_reads(owner, name))
        return any(map(_in_step, reads)) and not any(_handled(read, name) for read in reads)

    return owner.file.once(f"left out {owner.body.id} {name}", judge)


def _in_step(read: Reference) -> bool:
    return read.runs(Context.FORWARD) or read.runs(Context.FIT)


def _reads_below(read: Reference, name: str, attributes: frozenset[str]) -> bool:
    parts = (read.path or "").split(".")
    return name in parts[:-1] and parts[parts.index(name) + 1] in attributes


def _handled(read: Reference, name: str) -> bool:
    """Whether a read shows that the code cares for the variable itself: sets it, or gives it to tape or optimizer."""
    if _reads_below(read, name, _ASSIGNED) or (read.function is not None and read.function.name in _COLLECTED):
        return True
    function = read.function
    if function is None:
        return False
    cared = read.file.once(f"cared for {function.body.id}", lambda: frozenset(_cared_for(function.syntax)))
    return id(read.syntax) in cared


def _cared_for(function: ast.AST) -> Iterator[int]:
    """The identities of what is handed to tape or optimizer, or collected in a list that is."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GIVEN_TO:
            yield from map(id, ast.walk(node))
        value = node.value if isinstance(node, ast.Assign | ast.AugAssign | ast.Return) else None
        while isinstance(value, ast.BinOp):
            if isinstance(value.right, ast.List | ast.Tuple):
                yield from map(id, value.right.elts)
            value = value.left
        if isinstance(value, ast.List | ast.Tuple):
            yield from map(id, value.elts)
