"""What is known of the values in all functions of a file: flows, and what goes from one function to another.

A parameter of a traced function is a tensor where Keras, tf.data or an ``input_signature`` fills it, where its
annotation says so, and where all calls in the file give one.
Where no call says anything, the function itself may: what is given to an operation or a layer is likely a tensor, what
is called, tested or asked for the attributes of an object is none.
Questions to other functions go `DEPTH` calls far, so that no chain of functions and no circle costs more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from .entities import Entity, Key
from .execution_context import Context
from .flow import Flow, Given, Surroundings
from .index import Block, CallFact, FileIndex, Scope
from .known import SYMBOLIC, TENSOR_TYPES, TENSORISH, Known, merged, value_of
from .lazy import cached_property
from .names import canonical
from .paths import is_none, path_of
from .project import Project
from .roots import DATASET_METHODS, TRACERS
from .summary import own_statements
from .unpacking import Way

DEPTH = 2
_TRACED = Context.TRACED.value
_FROM_PYTHON = frozenset(
    {
        "constant", "zeros", "ones", "fill", "range", "convert_to_tensor", "eye", "linspace", "cast", "zeros_like",
        "ones_like", "get_logger", "one_hot", "TensorShape", "identity", "rank", "random_uniform_initializer",
    }
)  # fmt: skip
"""Operations that are as often given Python values as tensors."""
_ATTRIBUTES_OF_TENSORS = frozenset(
    {"shape", "dtype", "get_shape", "set_shape", "numpy", "ndim", "values", "indices", "device", "to_tensor", "items",
     "keys", "get", "name"}
)  # fmt: skip
_TRANSPARENT = frozenset(
    {"staticmethod", "classmethod", "abc.abstractmethod", "tensorflow.autograph.experimental.do_not_convert"}
)
"""Decorators that leave alone what a function returns."""
_SAYING = frozenset({Known.TENSOR, Known.VARIABLE, Known.OTHER})
"""What a call says of a parameter that its use does not say better."""
_LIKE_A_TENSOR = frozenset({"shape", "dtype", "get_shape", "set_shape", "numpy"})


class _Uses(NamedTuple):
    """Names of a function."""

    tensors: set[str]
    """Given to operations, layers and losses, asked for a shape, or returned from a `tf.function`."""
    objects: set[str]
    """Called, tested, or asked for attributes that a tensor does not have."""


class Values(Surroundings):
    """The values of the file `key`, whose names `entities` resolves."""

    def __init__(
        self,
        index: FileIndex,
        key: str,
        project: Project,
        entities: Callable[[Scope, str | None], tuple[Entity, ...]],
    ) -> None:
        self._index = index
        self._key = key
        self._project = project
        self._entities = entities
        self._flows: dict[tuple[int, int, tuple[tuple[str, Known], ...] | None], Flow] = {}
        self._with_default: dict[int, frozenset[str]] = {}

    def flow(self, scope: Scope, depth: int = DEPTH, given: Mapping[str, Known] | None = None) -> Flow:
        """What is known in a function (or at module level), whose parameters are `given` or worked out."""
        function = scope.function()
        key = function.id, depth, None if given is None else tuple(sorted(given.items(), key=lambda item: item[0]))
        known = self._flows.get(key)
        if known is None:
            outer = None
            if function.is_function and function.parent is not None and self._is_traced(function):
                around = function.parent.function()
                if around.is_function and self._is_traced(around):
                    outer = self.flow(around, depth)
            parameters = given if given is not None else self._parameters(function, depth)
            known = self._flows[key] = Flow(self._index, function, self, depth, parameters, outer)
        return known

    def release(self) -> None:
        """Let go of the flows, which refer to these values in circles."""
        self._flows.clear()

    def _is_traced(self, function: Scope) -> bool:
        return any(s & _TRACED for s in self._project.contexts((self._key, function.id)))

    # -- what flows ask ----------------------------------------------------------------------------------------------

    def entities(self, scope: Scope, path: str | None) -> tuple[Entity, ...]:
        """What a path names in a scope, through the whole project."""
        return self._entities(scope, path)

    def kinds(self, key: Key) -> frozenset[str]:
        """The kinds of a class of the project."""
        return self._project.kinds(key)

    def own(self, function: Scope) -> Key:
        """The key of a function of this file."""
        return self._key, function.id

    def method(self, cls: Key, name: str) -> Key | None:
        """The method of that name that instances of a class of the project have."""
        return self._project.method(cls, name)

    # -- what functions return ---------------------------------------------------------------------------------------

    def returned(self, key: Key, call: ast.Call, given: Given, part: Way, depth: int) -> Known:
        """What is known of what a call of a function of the project gives."""
        summary = self._project.function(key)
        arguments = [given(value.value if isinstance(value, ast.Starred) else value) for value in call.args]
        named = {keyword.arg: given(keyword.value) for keyword in call.keywords}
        unknown = Known.POSSIBLE if any(k in TENSORISH for k in (*arguments, *named.values())) else Known.UNKNOWN
        if summary is None:
            return unknown
        decorators = [
            name.removesuffix("()")
            for text in summary["decorators"]
            for name in self._project.canonical_names(key[0], text)
        ]
        ours = key[0] == self._key
        if any(name in TRACERS for name in decorators):
            returns = not ours or self._index.returns_in(self._scope(key))
            return (Known.TENSOR if ours else Known.LIKELY) if returns else Known.OTHER
        if set(decorators) - _TRANSPARENT or len(decorators) < len(summary["decorators"]):
            return unknown
        if not ours:
            known = merged(self._said(key[0], text) for text in summary["returns"])
            return Known.LIKELY if known in SYMBOLIC and not part else unknown
        if not depth:
            return unknown
        scope = self._scope(key)
        if scope.id in self._generators:
            return unknown
        skipped = 1 if scope.owner() is not None and "staticmethod" not in decorators else 0
        parameters = dict.fromkeys(_defaulted(scope), Known.OTHER)
        if any(isinstance(value, ast.Starred) for value in call.args):
            arguments = []
        parameters.update(zip(scope.parameters[skipped:], arguments, strict=False))
        parameters.update({name: known for name, known in named.items() if name is not None})
        return self.flow(scope, depth - 1, parameters).returned(part)

    def _said(self, file: str, text: str) -> Known:
        """What is known of what a function of another file returns by name; it may return something else, too."""
        names = self._project.canonical_names(file, text)
        return merged(map(value_of, names)) if names else Known.POSSIBLE

    @cached_property
    def _generators(self) -> frozenset[int]:
        """Scope ids of the functions that yield."""
        scopes = (scope for scope in self._index.scopes if scope.kind == "function")
        return frozenset(scope.id for scope in scopes if any(map(_yields, own_statements(scope.node))))

    def _scope(self, key: Key) -> Scope:
        return self._index.scopes[key[1]]

    # -- parameters --------------------------------------------------------------------------------------------------

    def _parameters(self, function: Scope, depth: int) -> dict[str, Known]:
        if not function.is_function or not function.parameters:
            return {}
        tensors = self._certain(function)
        traced = self._is_traced(function)
        own = function.parameters[: _skipped(function)]
        called = self._from_calls(function, depth) if traced and depth else {}
        found: dict[str, Known] = {}
        for parameter in function.parameters:
            annotated = self._annotated(function, parameter)
            if parameter in tensors:
                found[parameter] = Known.TENSOR
            elif annotated is not Known.UNKNOWN or not traced or parameter in own:
                found[parameter] = annotated
            else:
                found[parameter] = self._worked_out(function, parameter, called.get(parameter))
        return found

    def _annotated(self, function: Scope, parameter: str) -> Known:
        for bind in function.binds.get(parameter, ()):
            if bind.kind == "annotation" and bind.scope is not None:
                for entity in self._entities(bind.scope, bind.text):
                    name = canonical(entity.text) if entity.kind == "external" else ""
                    if name in TENSOR_TYPES:
                        return Known.TENSOR
                    if name == "tensorflow.Variable()":
                        return Known.VARIABLE
                    if name in ("int()", "float()", "str()", "bool()"):
                        return Known.OTHER
        return Known.UNKNOWN

    def _certain(self, function: Scope) -> frozenset[str]:
        """Parameters that are certainly tensors: Keras and tf.data hand tensors to what they trace."""
        contexts = self._project.contexts((self._key, function.id))
        parameters, name = function.parameters, function.name
        required = frozenset(parameters) - _defaulted(function) - {"self", "cls"}
        if function.id in self._given_to_datasets and any(s & Context.DATASET for s in contexts):
            return required
        if self._has_input_signature(function):
            return required
        if parameters[:2] == ["y_true", "y_pred"] and any(s & Context.FIT for s in contexts):
            return frozenset(parameters[:2])
        owner = function.owner()
        if owner is None:
            return frozenset()
        kinds = self._project.kinds((self._key, owner.id))
        if name == "call" and "layer" in kinds:
            return frozenset(parameters[1:2])
        if (name in ("call", "__call__") and "loss" in kinds) or (name == "update_state" and "metric" in kinds):
            return frozenset(parameters[1:3])
        if name in ("train_step", "test_step", "predict_step") and "model" in kinds:
            return frozenset(parameters[1:2])
        return frozenset()

    def _has_input_signature(self, function: Scope) -> bool:
        """Whether it is decorated with a `tf.function` that states an ``input_signature``."""
        return any(
            isinstance(node, ast.Call)
            and any(keyword.arg == "input_signature" and not is_none(keyword.value) for keyword in node.keywords)
            and "tensorflow.function" in self._public(function.parent or function, path_of(node.func))
            for node in function.decorators
        )

    def _public(self, scope: Scope, path: str | None) -> list[str]:
        return [canonical(entity.text) for entity in self._entities(scope, path) if entity.kind == "external"]

    @cached_property
    def _given_to_datasets(self) -> frozenset[int]:
        """Scope ids of the functions of this file that it hands to a ``map`` or ``filter`` itself."""
        found: set[int] = set()
        for call in self._index.calls:
            func, given = call.node.func, call.node.args
            if isinstance(func, ast.Attribute) and func.attr in DATASET_METHODS and given:
                found.update(self._functions(call.scope, given[-1 if func.attr == "reduce" else 0]))
        return frozenset(found)

    def _functions(self, scope: Scope, node: ast.expr) -> Iterator[int]:
        """The functions of this file that an expression names."""
        if isinstance(node, ast.Lambda):
            yield self._index.lambda_scope(node).id
        elif isinstance(node, ast.Name | ast.Attribute):
            found = self._entities(scope, path_of(node))
            yield from (e.scope for e in found if e.kind == "function" and e.file == self._key)

    # -- parameters, by the calls in the file ------------------------------------------------------------------------

    @cached_property
    def _traced_as(self) -> dict[int, list[str]]:
        """The names of what `tf.function` made of a function of this file, by its scope id."""
        found: dict[int, list[str]] = {}
        for fact in self._index.assignments:
            value = fact.value
            if isinstance(value, ast.Call) and value.args and not isinstance(fact.target, ast.Subscript):
                if set(self._public(fact.scope, path_of(value.func))) & TRACERS:
                    for function in self._functions(fact.scope, value.args[0]):
                        found.setdefault(function, []).append((path_of(fact.target) or "").rpartition(".")[2])
        return found

    @cached_property
    def _calls_by_name(self) -> dict[str, list[CallFact]]:
        found: dict[str, list[CallFact]] = {}
        for call in self._index.calls:
            if call.path is not None:
                found.setdefault(call.path.rpartition(".")[2], []).append(call)
        return found

    def _from_calls(self, function: Scope, depth: int) -> dict[str, list[Known]]:
        """What the calls in the file give to each parameter."""
        aliases = self._traced_as.get(function.id, [])
        is_root = self._is_root(function)
        found: dict[str, list[Known]] = {}
        skipped = _skipped(function)
        for name in dict.fromkeys((function.name, *aliases)):
            for call in self._calls_by_name.get(name, ()):
                if not self._leads_to(call, function, aliases):
                    continue
                given = partial(self._given, call=call, depth=depth, converted=is_root)
                for parameter, value in _matched(call.node, function.parameters[skipped:]):
                    found.setdefault(parameter, []).append(given(value))
        return found

    def _is_root(self, function: Scope) -> bool:
        """Whether it is a `tf.function` itself, and not only called by one."""
        summary = self._project.function((self._key, function.id))
        texts = summary["decorators"] if summary is not None else []
        names = (name for text in texts for name in self._project.canonical_names(self._key, text))
        return function.id in self._traced_as or any(name.removesuffix("()") in TRACERS for name in names)

    def _leads_to(self, call: CallFact, function: Scope, aliases: Sequence[str]) -> bool:
        entities = self._entities(call.scope, call.path)
        if any(entity.key == (self._key, function.id) for entity in entities):
            return call.scope.function() is not function
        names = [canonical(entity.text) for entity in entities if entity.kind == "external"]
        return bool(aliases) and bool(names) and all(name.removesuffix("()") in TRACERS for name in names)

    def _given(self, value: ast.expr, call: CallFact, depth: int, converted: bool) -> Known:
        """What a function gets: `tf.function` makes tensors of arrays."""
        caller = call.scope.function()
        known = self.flow(caller, depth - 1).of(value, call.scope, call.block)
        if converted:
            if known in SYMBOLIC and known is not Known.VARIABLE:
                return Known.TENSOR
            names = self._public(call.scope, path_of(value))
            if names and all(name.startswith(("numpy.", "tensorflow.")) and name.endswith("()") for name in names):
                if all(value_of(name) is Known.TENSOR or name.startswith("numpy.") for name in names):
                    return Known.TENSOR
        return known

    # -- parameters, by what the function does with them -------------------------------------------------------------

    def _worked_out(self, function: Scope, parameter: str, called: Sequence[Known] | None) -> Known:
        """What the calls of a function and its own code together say of a parameter.

        Eager code gives a `tf.function` arrays, too, which become tensors; a helper of traced code gets what it is
        given, arrays and settings as they are.
        """
        by_use = self._by_use(function, parameter)
        if parameter in self._uses(function).objects:
            return Known.UNKNOWN
        if self._is_root(function):
            return merged(known if known in _SAYING else by_use for known in called or (by_use,))
        if called:
            return merged(by_use if known is Known.POSSIBLE and by_use in SYMBOLIC else known for known in called)
        return Known.POSSIBLE if by_use is Known.LIKELY else Known.UNKNOWN

    def _by_use(self, function: Scope, parameter: str) -> Known:
        defaults = self._with_default.get(function.id)
        if defaults is None:
            defaults = self._with_default[function.id] = _defaulted(function)
        if parameter in defaults and not function.defaults_to_none(parameter):
            return Known.UNKNOWN
        uses = self._uses(function)
        if parameter in uses.objects:
            return Known.UNKNOWN
        if parameter in uses.tensors:
            return Known.LIKELY
        return Known.UNKNOWN if parameter in defaults else Known.POSSIBLE

    def _uses(self, function: Scope) -> _Uses:
        """As what a function uses its names."""
        known = self._used.get(function.id)
        if known is None:
            known = self._used[function.id] = self._work_out_uses(function)
        return known

    @cached_property
    def _used(self) -> dict[int, _Uses]:
        return {}

    def _work_out_uses(self, function: Scope) -> _Uses:
        uses = _Uses(set(), set(self._tested.get(function.id, ())))
        for call in self._index.calls_in(function):
            if not call.node.args:
                continue
            uses.tensors.update(_operands(call.node.args[: self._takes_tensors(call)]))
        if self._is_root(function):
            uses.tensors.update(_operands([fact.value for fact in self._index.returns_in(function)]))
        for reference in self._index.references_in(function):
            head, dot, rest = reference.path.partition(".")
            attribute = rest.partition(".")[0]
            if (reference.called and not dot) or (dot and attribute not in _ATTRIBUTES_OF_TENSORS):
                uses.objects.add(head)
            elif attribute in _LIKE_A_TENSOR:
                uses.tensors.add(head)
        for fact in self._index.assignments_in(function):
            source = fact.value or fact.source
            while isinstance(source, ast.Subscript):
                source = source.value
            if isinstance(source, ast.Name) and isinstance(fact.target, ast.Name) and fact.target.id in uses.tensors:
                uses.tensors.add(source.id)
        return uses

    def _takes_tensors(self, call: CallFact) -> int:
        """How many of a call's first arguments are likely tensors, since they are given to it."""
        entities = self._entities(call.scope, call.path)
        for entity in entities:
            if entity.kind == "external":
                name = canonical(entity.text)
                last = name.rpartition(".")[2]
                if value_of(f"{name}()") not in (Known.TENSOR, Known.LIKELY) or last in _FROM_PYTHON:
                    return 0
                return len(call.node.args) if name.endswith("()") else 1
            if entity.kind == "instance":
                return len(call.node.args) if self._project.kinds(entity.key) & {"layer", "loss", "metric"} else 0
            return 1 if entity.kind == "parameter" and "." not in entity.text else 0
        return 0

    @cached_property
    def _tested(self) -> dict[int, set[str]]:
        """The names that a function tests for their truth, or compares with a text."""
        found: dict[int, set[str]] = {}
        for block in self._index.blocks:
            if block.kind in ("if", "else"):
                found.setdefault(block.scope.function().id, set()).update(_flags(block))
        return found


def _operands(nodes: Sequence[ast.expr]) -> Iterator[str]:
    """The names in expressions that are as much of a tensor as these are."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.BinOp):
            stack += [node.left, node.right]
        elif isinstance(node, ast.UnaryOp):
            stack.append(node.operand)
        elif isinstance(node, ast.Tuple | ast.List) and not any(isinstance(e, ast.Constant) for e in node.elts):
            stack += node.elts  # beside a plain number, others may be plain numbers too: sizes and paddings


def _flags(block: Block) -> Iterator[str]:
    node = block.node
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
        if any(isinstance(value, ast.Constant) and isinstance(value.value, str) for value in node.comparators):
            yield node.left.id


def _yields(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(value, ast.Yield | ast.YieldFrom)


def _matched(call: ast.Call, parameters: Sequence[str]) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that a call gives, as far as it says which."""
    for parameter, value in zip(parameters, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        yield parameter, value
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg in parameters:
            yield keyword.arg, keyword.value


def _skipped(function: Scope) -> int:
    """How many of a function's parameters no call gives: the instance or class of a method."""
    is_static = any(path_of(decorator) == "staticmethod" for decorator in function.decorators)
    return 0 if function.owner() is None or is_static else 1


def _defaulted(function: Scope) -> frozenset[str]:
    """The parameters that have a default."""
    arguments = getattr(function.node, "args", None)
    if not isinstance(arguments, ast.arguments):
        return frozenset()
    positional = [*arguments.posonlyargs, *arguments.args]
    found = {argument.arg for argument in positional[len(positional) - len(arguments.defaults) :]}
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return frozenset(found | {argument.arg for argument, default in pairs if default is not None})
