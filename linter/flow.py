"""Which expressions of a function are certainly tensors.

One pass over the function's assignments, in source order and then once more for loops; a name that ever gets something
else than a tensor is unknown.
`Known.TENSOR` is a proof, `Known.OTHER` is a proof of the contrary, and `Known.UNKNOWN` is the answer to everything else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import Enum

from .index import FileIndex, Scope
from .names import canonical
from .paths import path_of
from .project import Entity


class Known(Enum):
    """What is known of a value."""

    TENSOR = "tensor"
    OTHER = "other"
    UNKNOWN = "unknown"


_TENSOR_MODULES = (
    "tensorflow.math.", "tensorflow.nn.", "tensorflow.linalg.", "tensorflow.random.", "tensorflow.image.",
    "tensorflow.signal.", "tensorflow.strings.", "tensorflow.sparse.", "tensorflow.ragged.", "tensorflow.bitwise.",
    "tensorflow.losses.", "tensorflow.layers.", "tensorflow.sets.", "tensorflow.quantization.",
    "keras.backend.", "keras.ops.", "keras.activations.",
)  # fmt: skip
_NO_TENSOR = frozenset(
    {
        "function", "device", "name_scope", "variable_scope", "control_dependencies", "executing_eagerly", "is_tensor",
        "get_static_value", "get_collection", "get_default_graph", "get_logger", "inside_function", "init_scope",
        "py_function", "numpy_function", "py_func", "while_loop", "cond", "map_fn", "nest", "group", "no_op", "tuple",
        "trainable_variables", "global_variables", "global_variables_initializer", "set_random_seed", "reset_default_graph",
        "as_dtype", "register_tensor_conversion_function", "custom_gradient", "get_variable_scope", "make_template",
        "recompute_grad", "type_spec_from_value", "vectorized_map", "stop", "load_library", "load_op_library", "gradients",
        "int_shape", "ndim", "epsilon", "floatx", "image_data_format", "dtype", "get_session", "set_session",
        "clear_session", "set_floatx", "learning_phase", "set_learning_phase", "is_keras_tensor", "get_uid", "set_seed",
        "get_global_generator", "set_global_generator", "static_rnn", "dynamic_rnn", "bidirectional_dynamic_rnn", "unstack",
        "split", "meshgrid", "get_losses", "get_regularization_losses", "dynamic_partition", "is_symbolic_tensor",
        "disable_v2_behavior", "enable_v2_behavior", "enable_eager_execution", "disable_eager_execution", "assert_equal",
    }
)  # fmt: skip
_MANY = frozenset({"tensorflow.split", "tensorflow.unstack", "tensorflow.nn.moments", "tensorflow.meshgrid", "tensorflow.dynamic_partition"})
_NOT_ATTRIBUTES = frozenset({"shape", "dtype", "name", "device", "op", "graph", "ndim", "rank", "get_shape", "_keras_history"})
_NOT_METHODS = frozenset({"numpy", "get_shape", "eval", "tolist", "item", "consumers", "_keras_shape"})
_PLAIN_BUILTINS = frozenset(
    {"len", "int", "float", "str", "bool", "isinstance", "hasattr", "type", "repr", "id", "range", "print", "format"}
)


class Flow:
    """What is known of the values in one function, or at module level."""

    def __init__(
        self,
        index: FileIndex,
        function: Scope,
        entities: Callable[[Scope, str | None], tuple[Entity, ...]],
        tensors: frozenset[str],
    ) -> None:
        self._index = index
        self._function = function
        self._entities = entities
        self._names: dict[str, Known] = dict.fromkeys(tensors, Known.TENSOR)
        for parameter in function.parameters:
            self._names.setdefault(parameter, self._annotated(function, parameter))
        facts = [fact for fact in index.assignments if fact.scope.function() is function]
        for _ in range(2):
            assigned: dict[str, Known] = {}
            for fact in facts:
                if not isinstance(fact.target, ast.Name):
                    continue
                name = fact.target.id
                if fact.augmented:
                    value = self._join_operands(self._names.get(name, Known.UNKNOWN), self.of(fact.value, fact.scope))
                elif fact.value is not None:
                    value = self.of(fact.value, fact.scope)
                elif fact.source is not None:
                    value = self._element(fact.source, fact.scope)
                else:
                    value = Known.UNKNOWN
                before = assigned.get(name, self._names.get(name) if name in function.parameters else None)
                assigned[name] = value if before is None or before is value else Known.UNKNOWN
                self._names[name] = assigned[name]

    def _annotated(self, function: Scope, parameter: str) -> Known:
        for bind in function.binds.get(parameter, ()):
            if bind.kind == "annotation" and bind.scope is not None:
                for entity in self._entities(bind.scope, bind.text):
                    if entity.kind == "external" and canonical(entity.text) in ("tensorflow.Tensor()", "tensorflow.Variable()"):
                        return Known.TENSOR
        return Known.UNKNOWN

    def of(self, node: ast.expr | None, scope: Scope) -> Known:
        """What is known of an expression in `scope`, which is this function or a comprehension in it."""
        if node is None:
            return Known.UNKNOWN
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.Lambda):
            return Known.OTHER
        if isinstance(node, ast.Name):
            return self._name(node, scope)
        if isinstance(node, ast.BinOp):
            # the left side of a long sum is a deep chain: walk it
            left: ast.expr = node
            while isinstance(left, ast.BinOp):
                if self.of(left.right, scope) is Known.TENSOR:
                    return Known.TENSOR
                left = left.left
            return self._join_operands(self.of(left, scope), Known.UNKNOWN)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand, scope)
        if isinstance(node, ast.Compare):
            if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
                return Known.OTHER
            known = [self.of(value, scope) for value in (node.left, *node.comparators)]
            return Known.TENSOR if Known.TENSOR in known else Known.UNKNOWN
        if isinstance(node, ast.IfExp):
            body, other = self.of(node.body, scope), self.of(node.orelse, scope)
            return body if body is other else Known.UNKNOWN
        if isinstance(node, ast.Subscript):
            return self._subscript(node, scope)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.Call):
            return self._call(node, scope)
        return Known.UNKNOWN

    def _name(self, node: ast.Name, scope: Scope) -> Known:
        known = self._names.get(node.id)
        if known is not None:
            return known
        return self._value(scope, node.id)

    def _value(self, scope: Scope, path: str | None) -> Known:
        entities = self._entities(scope, path)
        answers = {_value_of(canonical(e.text)) if e.kind == "external" else Known.UNKNOWN for e in entities}
        return answers.pop() if len(answers) == 1 else Known.UNKNOWN

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Known:
        return self.of(node.value, scope)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Known:
        base = self.of(node.value, scope)
        if node.attr in _NOT_ATTRIBUTES:
            return Known.OTHER if base is Known.TENSOR else Known.UNKNOWN
        if base is Known.TENSOR:
            return Known.UNKNOWN
        return self._value(scope, path_of(node))

    def _call(self, node: ast.Call, scope: Scope) -> Known:
        if isinstance(node.func, ast.Attribute):
            receiver = self.of(node.func.value, scope)
            if node.func.attr in _NOT_METHODS:
                return Known.OTHER if receiver is Known.TENSOR or node.func.attr == "numpy" else Known.UNKNOWN
        path = path_of(node.func)
        entities = self._entities(scope, path)
        answers: set[Known] = set()
        for entity in entities:
            if entity.kind == "external":
                name = canonical(entity.text)
                answers.add(Known.OTHER if name in _PLAIN_BUILTINS else _value_of(f"{name}()"))
            else:
                answers.add(Known.UNKNOWN)
        return answers.pop() if len(answers) == 1 else Known.UNKNOWN

    def _element(self, source: ast.expr, scope: Scope) -> Known:
        """An item of what is unpacked or iterated."""
        known = self.of(source, scope)
        if known is Known.TENSOR:
            return Known.TENSOR
        if isinstance(source, ast.Call):
            names = [canonical(e.text) for e in self._entities(scope, path_of(source.func)) if e.kind == "external"]
            if names and all(name in _MANY for name in names):
                return Known.TENSOR
        return Known.UNKNOWN

    @staticmethod
    def _join_operands(left: Known, right: Known) -> Known:
        if Known.TENSOR in (left, right):
            return Known.TENSOR
        return Known.OTHER if left is right is Known.OTHER else Known.UNKNOWN


def _value_of(name: str) -> Known:
    """What an expression is whose canonical name is `name`: ``tensorflow.reduce_sum()`` is a tensor."""
    if not name.endswith("()"):
        return Known.UNKNOWN
    plain = name[:-2]
    if plain == "tensorflow.Variable" or plain == "keras.Input":
        return Known.TENSOR
    last = plain.rpartition(".")[2]
    if plain.endswith("()"):
        # an instance that is called: a layer gives a tensor
        inner = plain[:-2]
        return Known.TENSOR if inner.startswith("keras.layers.") and inner[13:14].isupper() else Known.UNKNOWN
    if last in _NO_TENSOR or "(" in plain or last[:1].isupper():
        return Known.UNKNOWN
    if plain.startswith(_TENSOR_MODULES):
        return Known.TENSOR if plain.count(".") == 2 else Known.UNKNOWN
    if plain.startswith("tensorflow.") and plain.count(".") == 1 and not last.startswith(("assert", "enable_", "disable_")):
        return Known.TENSOR
    return Known.UNKNOWN
