"""TF107: layers and variables that the forward pass uses and nothing tracks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...linter.rule_api.model import Assignment, Call, ClassSite, Context, Reference, Target, nodes_below, path_of
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .constructors import VARIABLES, attributes_hold_state, in_lambda_layer, is_layer, is_variable
from .keeping import Kept, kept

_CACHES = frozenset({"functools.cache", "functools.lru_cache"})
_FACTORIES = frozenset({"collections.defaultdict", "collections.Counter"})
_GROWERS = frozenset({"add", "append", "extend", "update"})
_NAMESPACES = ("argparse.Namespace()", "types.SimpleNamespace()")
_READERS = frozenset({"get", "items", "values"})
_PLAIN_BASES = frozenset({"abc.ABC", "object", "typing.Generic", "typing.Protocol"})
_COLLECTORS = ("get_weights", "parameters", "trainable_variables", "trainable_weights", "variables", "weights")


class UntrackedState(Rule):
    """The forward pass uses a layer or variable that no attribute of the model tracks.

    ## Why
    Layers, models and modules find their state through their own attributes, as they are assigned to `self`.
    What is held in a global, a class attribute, a cached function or an object of a plain class, also in a list or dict
    there, or in a `functools.partial`, computes, but is in no `weights`: no optimizer trains it, no checkpoint has it.
    Keras 2 does not look into a `set` or `defaultdict` either; Keras 3 turns a `defaultdict` or `Counter` into a plain
    dict that has lost its default, so that a missing key raises KeyError.

    What is also assigned to an attribute, or called, listed or imported elsewhere, may have another owner and is not
    reported.

    ## Example
    ```python
    import tensorflow as tf

    projection = tf.keras.layers.Dense(8)

    class Net(tf.keras.Model):
        def call(self, inputs):
            return projection(inputs)
    ```

    ## Fix
    ```python
    import tensorflow as tf

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.projection = tf.keras.layers.Dense(8)

        def call(self, inputs):
            return self.projection(inputs)
    ```

    ## Source
    - https://www.tensorflow.org/guide/checkpoint#object_tracking
    - https://www.tensorflow.org/guide/intro_to_modules
    - https://www.tensorflow.org/guide/migrate/model_mapping
    """

    code = "TF107"
    severity = Severity.ERROR
    consequence = Consequence.CHANGES
    effort = Effort.LOCAL
    calls = (*sorted(VARIABLES), "keras.layers.*", "keras.Sequential")
    creates = ("layer", "module")
    assigns = ("attribute",)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge where a layer or variable that is created is held."""
        if not is_layer(call) and not (is_variable(call) and _is_trained(call)):
            return
        function = call.function
        if function is not None and _CACHES & {name.canonical.removesuffix("()") for name in function.decorators}:
            if call.runs(Context.FIT | Context.ONCE):
                yield self.report(
                    call,
                    f"`{call.path}` is created in `{function.name}`, which caches it, and used by {_path(call)}: it "
                    "is made once, but no attribute tracks it, so that nothing trains or saves it. Assign it in "
                    "`__init__`.",
                    related=call.callers(Context.FIT),
                )
            return
        holders = kept(call)
        attributes = [h for h in holders if call.class_of_self(h.path.partition(".")[0]) is not None]
        for holder in attributes:
            yield from self._plain_holder(call, holder)
        if attributes:
            return
        for holder in holders:
            name = holder.path.partition(".")[0]
            if call.scope.kind == "class":
                yield from self._class_attribute(call, name)
            elif name == holder.path or _is_plain_object(call, name):
                yield from self._outer_name(call, holder)

    def _class_attribute(self, call: Call, name: str) -> Iterator[Diagnostic]:
        cls = call.cls
        if cls is None or not (cls.is_keras or "module" in cls.kinds):
            return
        if len(call.file.assignments_to(cls.body, name)) != 1:
            return
        if _is_collected(call, name) or _is_shared(call, name, cls):
            return
        read = next((r for r in _reads(call, name) if _is_of_self(r, cls) and r.in_forward), None)
        if read is not None:
            yield self.report(
                call,
                f"`{name}` is an attribute of the class `{cls.name}` and used by {read.trail(Context.FORWARD)}: "
                "only what is assigned to `self` is tracked, so that it is in no `weights` and nothing trains or "
                "saves it. Assign it in `__init__`.",
                subject=f"self.{name}",
                related=[read.location("used here")],
            )

    def _plain_holder(self, call: Call, holder: Kept) -> Iterator[Diagnostic]:
        """What an attribute of ``self`` holds in something plain: ``self.parts.dense``, `functools.partial`."""
        head, _, rest = holder.path.partition(".")
        name, _, inner = rest.partition(".")
        owner = call.class_of_self(head)
        if owner is None or not (owner.is_keras or "module" in owner.kinds):
            return
        if inner and not holder.inside and not _is_plain_object(call, f"{head}.{name}"):
            return
        if not (inner or holder.inside) or _is_collected(call, name) or _is_shared(call, name):
            return
        read = next((r for r in _reads(call, name) if _is_of_self(r, owner) and r.in_forward), None)
        if read is not None:
            what = f"in a `{holder.inside}`" if holder.inside else "an attribute of a plain object"
            yield self.report(
                call,
                f"what `{call.path}` makes is {what} in `self.{name}`: `{owner.name}` does not look into it, so that "
                "it is in no `weights` and nothing trains or saves it. Assign it to an attribute of its own.",
                subject=f"self.{name}",
                related=[read.location("used here")],
            )

    def _outer_name(self, call: Call, holder: Kept) -> Iterator[Diagnostic]:
        """A global or a local of an outer function that only forward passes read."""
        name = holder.path.partition(".")[0]
        home = call.file.index.lookup(call.scope, name)
        if home is None or len(home[1]) != 1 or home[0].kind == "class" or (call.loops and not holder.collected):
            return
        named = call.file.once("references by their heads", lambda: _by_head(call.file.references)).get(name, ())
        reads = [read for read in named if call.file.index.lookup(read.scope, name) == home]
        direct = holder.path == name and not holder.collected and not holder.inside
        if not direct:
            reads = [read for read in reads if not _grows(read, call)]
        if not reads or not all(
            _is_plain_use(read, call) if direct else _is_use_of_holder(read, call, holder) for read in reads
        ):
            return
        if home[0].kind == "module" and call.file.project.is_read_elsewhere(call.file.key, name):
            return  # and may be tracked there
        what = "a layer" if is_layer(call) else "a variable"
        yield self.report(
            call,
            f"`{name}` is {what} outside of the class whose forward pass uses it "
            f"({reads[0].trail(Context.FORWARD)}): only attributes of `self` are tracked, so that it is in no "
            "`weights` and nothing trains or saves it. Assign it in `__init__`.",
            subject=name,
            related=[reads[0].location("used here")],
        )

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge an attribute that holds state where Keras does not look."""
        owner, name = assignment.owner, assignment.self_attribute
        if owner is None or name is None or assignment.augmented or assignment.value is None:
            return
        if not (owner.is_keras or "module" in owner.kinds):
            return
        yield from self._plain_object(assignment, owner, name)
        if owner.is_keras:
            yield from self._container(assignment, owner, name)

    def _plain_object(self, assignment: Assignment, owner: ClassSite, name: str) -> Iterator[Diagnostic]:
        call = assignment.value_call
        if call is None or len(call.found) != 1 or call.found[0].kind != "class":
            return
        project, made = assignment.file.project, call.found[0]
        if project.kinds(made.key) or set(project.mro(made.key)[1]) - _PLAIN_BASES:
            return
        if not attributes_hold_state(project, made) or any(project.method(made.key, method) for method in _COLLECTORS):
            return
        reads = [read for read in _reads(assignment, name) if _is_of_self(read, owner)]
        if (
            any(read.in_forward for read in reads)
            and not _is_collected(assignment, name)
            and not _is_shared(assignment, name)
        ):
            keras3 = assignment.target is Target.KERAS3
            kinds: tuple[str, ...] = ("`keras.layers.Layer`",) if owner.is_keras else ("`tf.Module`",)
            kinds += ("`tf.Module`",) if owner.is_keras and not keras3 else ()
            yield self.report(
                call,
                f"`self.{name}` is a `{call.path}`, a plain class: `{owner.name}` does not look into it, so that the "
                "layers and variables in it are in no `weights` and nothing trains or saves them. Make "
                f"`{call.path}` a {' or a '.join(kinds)}.",
                subject=f"self.{name}",
            )

    def _container(self, assignment: Assignment, owner: ClassSite, name: str) -> Iterator[Diagnostic]:
        site = assignment.value_call or assignment
        keras2 = assignment.target is Target.KERAS2
        if keras2 and (held := _set_of_layers(assignment, name)):
            yield self.report(
                site,
                f"`self.{name}` keeps {held} in a set, which Keras 2 does not look into: they are in no `weights` "
                "and nothing trains or saves them. Keep them in a list.",
                subject=f"self.{name}",
            )
        call = assignment.value_call
        if call is None or not call.names or {n.canonical for n in call.names} - _FACTORIES:
            return
        growing = list(_items(assignment, name))
        if not keras2 and any(_needs_default(use, f"self.{name}") for use in growing):
            yield self.report(
                call,
                f"`self.{name}` is a `{call.path}`: Keras 3 turns it into a plain dict when it is assigned to a "
                "layer, so that the first use of a missing key raises KeyError. Use `setdefault`, or keep it outside "
                "of the layer.",
                consequence=Consequence.BREAKS,
                subject=f"self.{name}",
            )
        elif keras2 and (_makes_layers(call) or any(_stores_layer(assignment, use.syntax) for use in growing)):
            yield self.report(
                call,
                f"`self.{name}` keeps layers in a `{call.path}`, which Keras 2 does not look into: they are in no "
                "`weights` and nothing trains or saves them. Use a plain dict.",
                subject=f"self.{name}",
            )


def _is_trained(call: Call) -> bool:
    value = call.value("initial_value", 0)
    integer = isinstance(value, ast.Constant) and not isinstance(value.value, float)
    dtype = (path_of(call.value("dtype", 4)) or str(call.literal("dtype", 4))).rpartition(".")[2]
    generator = any(".Generator" in name.canonical for name in call.names)
    return not integer and not generator and call.literal("trainable", 1) is not False and "int" not in dtype


def _path(call: Call) -> str:
    return call.trail(Context.FIT)


def _by_head(references: Iterable[Reference]) -> dict[str, list[Reference]]:
    found: dict[str, list[Reference]] = {}
    for read in references:
        found.setdefault(_head(read), []).append(read)
    return found


def _head(read: Reference) -> str:
    return (read.path or "").partition(".")[0].partition("(")[0].partition("[")[0]


def _is_plain_use(read: Reference, made: Call) -> bool:
    """Whether a forward pass of a class does nothing but compute with the name."""
    if not read.in_forward or in_lambda_layer(read) or "." in (read.path or "").removesuffix("()"):
        return False
    if is_layer(made) and not read.called:
        return False
    if read.scope.function() is made.scope.function():
        return False
    return "." in read.trail(Context.FORWARD).partition("`")[2].partition("`")[0] and not _is_stored(read)


def _grows(read: Reference, made: Call) -> bool:
    """Whether the collection or object is filled by what reads its name, where the layer is made."""
    if read.scope.function() is not made.scope.function():
        return False
    parent = read.file.parent_of(read.syntax)
    if isinstance(parent, ast.Attribute | ast.Subscript) and isinstance(parent.ctx, ast.Store):
        return True
    return (read.path or "").rpartition(".")[2] in _GROWERS and read.called


def _is_use_of_holder(read: Reference, made: Call, holder: Kept) -> bool:
    """Whether a forward pass does nothing but compute with what a collection or a plain object holds."""
    if not read.in_forward or in_lambda_layer(read) or read.scope.function() is made.scope.function():
        return False
    if "." not in read.trail(Context.FORWARD).partition("`")[2].partition("`")[0] or _is_stored(read):
        return False
    path = read.path or ""
    if holder.inside or "." in holder.path:
        return read.called and (path == holder.path or path.startswith(f"{holder.path}."))
    parent = read.file.parent_of(read.syntax)
    if read.called:
        return path.rpartition(".")[2] in _READERS
    return (isinstance(parent, ast.Subscript) and parent.value is read.syntax) or (
        isinstance(parent, ast.For | ast.comprehension) and parent.iter is read.syntax
    )


def _is_plain_object(call: Call, path: str) -> bool:
    """Whether a path is an object of a class that is no layer or module, and descends from nothing unknown."""
    found = call.entities(path)
    project = call.file.project
    return bool(found) and all(
        (
            entity.kind == "instance"
            and entity.text != "self"
            and not project.kinds(entity.key)
            and not set(project.mro(entity.key)[1]) - _PLAIN_BASES
        )
        or (entity.kind == "external" and entity.text in _NAMESPACES)
        for entity in found
    )


def _is_stored(read: Reference) -> bool:
    """Whether an assignment gives the value itself to something else, as in ``self.projection = projection``."""
    return any(
        part is read.syntax
        for assignment in read.file.assignments
        if assignment.kind != "name" and assignment.value is not None
        for part in ast.walk(assignment.value)
    )


def _reads(site: Call | Assignment, name: str) -> Iterator[Reference]:
    for read in site.file.references:
        if name in (read.path or "").split(".")[1:2]:
            yield read


def _is_of_self(read: Reference, owner: ClassSite) -> bool:
    cls = read.class_of_self(_head(read))
    return cls is not None and cls.body is owner.body


def _is_collected(site: Call | Assignment, name: str) -> bool:
    """Whether the code reaches for the weights of what the attribute holds, or of what is below it, by itself."""
    return any(
        name in parts[:-1] and parts[-1] in _COLLECTORS
        for read in site.file.references
        for parts in [(read.path or "").split(".")]
    )


def _is_shared(site: Call | Assignment, name: str, by: ClassSite | None = None) -> bool:
    """Whether the attribute, or what it holds, becomes another one too: ``self.dense = self.head.dense``."""
    return any(
        (other.owner is not None and (by is None or other.owner.body is by.body))
        and other.self_attribute != name
        and other.value is not None
        and any(isinstance(part, ast.Attribute) and part.attr == name for part in ast.walk(other.value))
        for other in site.file.assignments
    )


def _layers_below(site: Assignment, node: ast.AST) -> bool:
    calls = (site.file.call_at(part) for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(is_layer(call) for call in calls if call is not None)


def _set_of_layers(assignment: Assignment, name: str) -> str:
    """What kind of state a set holds, by its literal or by what is added to it; empty if none is seen."""
    value = assignment.value
    call = assignment.value_call
    is_set_call = call is not None and call.name == "set"
    if not is_set_call and not isinstance(value, ast.Set | ast.SetComp):
        return ""
    assert value is not None
    added = any(
        (call.path or "") == f"self.{name}.add" and any(_layers_below(assignment, a) for a in call.arguments)
        for call in assignment.file.calls
    )
    return "layers" if added or _layers_below(assignment, value) else ""


def _items(assignment: Assignment, name: str) -> Iterator[Assignment | Call]:
    """Where ``self.name[key]`` is used or assigned."""
    wanted = f"self.{name}[]"
    for other in assignment.file.assignments:
        if other.path == wanted and _same_class(assignment, other):
            yield other
    for call in assignment.file.calls:
        if (call.path or "").startswith(f"{wanted}.") and call.method in _GROWERS and _same_class(assignment, call):
            yield call


def _same_class(first: Assignment, second: Assignment | Call) -> bool:
    return first.cls is not None and second.cls is not None and first.cls.body is second.cls.body


def _needs_default(use: Assignment | Call, path: str) -> bool:
    """Whether a use fails where the key is missing: ``d[k] += 1`` and ``d[k].append(x)``, if nobody asks ``k in d``."""
    if not isinstance(use.syntax, ast.AugAssign | ast.Call):
        return False
    function = use.function
    tests = (part for part in nodes_below(function.syntax) if isinstance(part, ast.Compare)) if function else ()
    return not any(
        isinstance(test.ops[0], ast.In | ast.NotIn) and path_of(test.comparators[0]) in (path, f"{path}.keys()")
        for test in tests
    )


def _makes_layers(call: Call) -> bool:
    factory = call.call.args[0] if call.call.args else None
    inner = call.file.call_at(factory.body) if isinstance(factory, ast.Lambda) else None
    return inner is not None and is_layer(inner)


def _stores_layer(assignment: Assignment, node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Assign) else node if isinstance(node, ast.Call) else None
    return value is not None and _layers_below(assignment, value)
