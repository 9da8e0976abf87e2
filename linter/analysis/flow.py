"""Which expressions of a function are certainly tensors.

Every use of a name asks which assignments can reach it: the nearest one that must have run, those after it that may
have run, and, in a loop, those of the iteration before.
Where all of them agree, the answer is theirs.
`Known.TENSOR` and `Known.VARIABLE` are proofs, `Known.OTHER` is a proof of the contrary, and `Known.UNKNOWN` is the
answer to everything else.
A tensor is one that this very function (or the traced function around it) computes or is handed; what was made
elsewhere, a constant of the module or an attribute, may be an eager tensor even in a trace and is not known.
A structure of tensors, such as the dict that a layer is called with, counts as a tensor.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from operator import lt

from .entities import Entity
from .index import AssignmentFact, Block, FileIndex, Scope
from .lazy import cached_property
from .names import canonical
from .paths import path_of


class Known(Enum):
    """What is known of a value."""

    TENSOR = "tensor"
    VARIABLE = "variable"
    OTHER = "other"
    UNKNOWN = "unknown"


_TENSOR_MODULES = (
    "tensorflow.math.", "tensorflow.nn.", "tensorflow.linalg.", "tensorflow.random.", "tensorflow.image.",
    "tensorflow.signal.", "tensorflow.strings.", "tensorflow.sparse.", "tensorflow.ragged.", "tensorflow.bitwise.",
    "tensorflow.losses.", "tensorflow.layers.", "tensorflow.sets.", "tensorflow.quantization.", "tensorflow.audio.",
    "keras.backend.", "keras.ops.", "keras.activations.",
)  # fmt: skip
"""Their functions give tensors, but for those named below."""

_NO_TENSOR = frozenset(
    {
        # contexts, graphs, switches and other objects
        "function", "device", "name_scope", "op_scope", "variable_scope", "variable_op_scope", "control_dependencies",
        "colocate_with", "container", "init_scope", "variable_creator_scope", "wrap_function", "make_template",
        "executing_eagerly", "executing_eagerly_outside_functions", "inside_function", "is_tensor",
        "is_symbolic_tensor", "is_numeric_tensor", "control_flow_v2_enabled", "resource_variables_enabled",
        "get_static_value", "get_collection", "get_collection_ref", "get_default_graph", "get_default_session",
        "get_logger", "get_seed", "get_variable_scope", "get_current_name_scope", "get_session_handle",
        "get_session_tensor", "delete_session_tensor", "add_to_collection", "add_to_collections", "as_dtype",
        "broadcast_static_shape", "dimension_at_index", "dimension_value", "create_partitioned_variables",
        "fixed_size_partitioner", "min_max_variable_partitioner", "variable_axis_size_partitioner", "flags",
        "import_graph_def", "load_library", "load_op_library", "load_file_system_library", "make_ndarray",
        "make_tensor_proto", "nest", "no_regularizer", "no_gradient", "register_tensor_conversion_function",
        "type_spec_from_value", "custom_gradient", "grad_pass_through", "recompute_grad", "set_random_seed",
        "nondifferentiable_batch_function", "set_seed", "reset_default_graph", "stop", "check_pinned",
        # operations without a value, or whose value is not a tensor
        "group", "no_op", "print", "write_file", "add_check_numerics_ops", "report_uninitialized_variables",
        "matching_files", "parse_example", "parse_single_example", "parse_single_sequence_example", "decode_csv",
        # lists and tuples of tensors (some of them in `_MANY`)
        "gradients", "hessians", "tuple", "clip_by_global_norm", "identity_n", "shape_n", "unique",
        "unique_with_counts", "setdiff1d", "split", "unstack", "meshgrid", "dynamic_partition", "moments",
        "weighted_moments", "normalize_moments", "sufficient_statistics", "top_k", "svd", "qr", "eig", "eigh", "lu",
        "self_adjoint_eig", "slogdet", "static_rnn", "dynamic_rnn", "bidirectional_dynamic_rnn", "raw_rnn",
        "static_bidirectional_rnn", "static_state_saving_rnn", "fused_batch_norm", "ctc_beam_search_decoder",
        "ctc_beam_search_decoder_v2", "ctc_greedy_decoder", "max_pool_with_argmax", "image_gradients",
        "sample_distorted_bounding_box", "stateless_sample_distorted_bounding_box", "combined_non_max_suppression",
        "non_max_suppression_padded", "non_max_suppression_with_scores", "unicode_decode_with_offsets",
        "unicode_split_with_offsets", "normalize", "all_candidate_sampler", "uniform_candidate_sampler",
        "log_uniform_candidate_sampler", "fixed_unigram_candidate_sampler", "learned_unigram_candidate_sampler",
        "compute_accidental_hits", "edit_distance", "fractional_avg_pool", "fractional_max_pool", "lstsq",
        "collapse_repeated", "sparse_fill_empty_rows", "fill_empty_rows", "required_space_to_batch_paddings",
        # what a function given to it decides
        "py_function", "numpy_function", "py_func", "while_loop", "cond", "case", "switch_case", "map_fn", "foldl",
        "foldr", "scan", "vectorized_map", "associative_scan", "fori_loop", "map_values", "map_flat_values", "rnn",
        "map", "vectorize", "in_train_phase", "in_test_phase", "switch", "while", "jvp",
        # variables and their operations
        "trainable_variables", "global_variables", "local_variables", "model_variables", "all_variables",
        "moving_average_variables", "global_variables_initializer", "local_variables_initializer",
        "variables_initializer", "initialize_all_variables", "initialize_all_tables", "initialize_variables",
        "initialize_local_variables", "tables_initializer", "assign", "assign_add", "assign_sub", "count_up_to",
        "scatter_add", "scatter_sub", "scatter_update", "scatter_mul", "scatter_div", "scatter_max", "scatter_min",
        "scatter_nd_update", "scatter_nd_add", "scatter_nd_sub", "batch_scatter_update",
        # Keras
        "int_shape", "ndim", "epsilon", "floatx", "image_data_format", "dtype", "get_session", "set_session",
        "clear_session", "set_floatx", "learning_phase", "learning_phase_scope", "set_learning_phase",
        "is_keras_tensor", "is_sparse", "get_uid", "reset_uids", "backend", "get_value", "batch_get_value",
        "set_value", "batch_set_value", "eval", "count_params", "convert_to_numpy", "set_epsilon", "cast_to_floatx",
        "set_image_data_format", "manual_variable_initialization", "update", "update_add", "update_sub",
        "moving_average_update", "is_float_dtype", "is_int_dtype", "result_type", "standardize_dtype", "ctc_decode",
        "serialize", "deserialize", "get", "array_split", "dsplit", "hsplit", "vsplit", "nonzero", "lu_factor",
        "histogram", "normalize_batch_in_training",
        # tensorflow.random and tensorflow.losses
        "get_global_generator", "set_global_generator", "create_rng_state", "add_loss", "get_losses",
        "get_regularization_losses",
    }
)  # fmt: skip
_NOT_SHAPES = frozenset({"keras.ops.shape", "keras.ops.size"})
"""A tuple of plain numbers where the shape is static."""

_MANY = frozenset(
    {
        "tensorflow.split", "tensorflow.unstack", "tensorflow.meshgrid", "tensorflow.dynamic_partition",
        "tensorflow.nn.moments", "tensorflow.nn.weighted_moments", "tensorflow.unique", "tensorflow.nn.top_k",
        "tensorflow.math.top_k", "tensorflow.linalg.svd", "tensorflow.svd", "tensorflow.linalg.qr",
        "tensorflow.linalg.eigh", "tensorflow.linalg.slogdet", "tensorflow.unique_with_counts",
        "keras.ops.split", "keras.ops.unstack", "keras.ops.top_k", "keras.ops.moments", "keras.ops.meshgrid",
    }
)  # fmt: skip
"""Functions that give several tensors."""

_VARIABLES = frozenset(
    {
        "tensorflow.Variable", "tensorflow.get_variable", "tensorflow.get_local_variable", "keras.Variable",
        "keras.backend.variable", "keras.backend.random_normal_variable", "keras.backend.random_uniform_variable",
    }
)  # fmt: skip
_MAKERS = frozenset({"add_weight", "add_variable"})
"""Methods of a layer that give a variable."""

_STATIC = frozenset(
    {"shape", "dtype", "name", "device", "op", "graph", "ndim", "rank", "get_shape", "_keras_history", "_keras_shape"}
)
_PLAIN_METHODS = frozenset({"numpy", "get_shape", "eval", "tolist", "item", "consumers", "as_list", "ref", "set_shape"})
_PLAIN_BUILTINS = frozenset(
    {
        "len", "int", "float", "str", "bool", "isinstance", "hasattr", "type", "repr", "id", "range", "print", "format",
        "callable", "issubclass", "hash", "open", "chr", "ord", "bytes", "input",
    }
)  # fmt: skip
_TENSOR_TYPES = frozenset({"tensorflow.Tensor()", "tensorflow.RaggedTensor()", "tensorflow.SparseTensor()"})

Position = tuple[int, int]


@dataclass(slots=True)
class _Definition:
    """One way in which a name of the function gets its value."""

    position: Position
    """Where it takes effect: the end of the assignment."""
    block: Block | None
    """None for a parameter: it is there from the beginning."""
    fact: AssignmentFact | None
    known: Known | None = None
    """None as long as it was not looked at."""
    number: int = -1
    """Its place among those of the name."""


_AGREED = {1 << place: known for place, known in enumerate(Known)}
_BITS: dict[Known | None, int] = {None: 0} | {known: bit for bit, known in _AGREED.items()}


class _Values:
    """The definitions of one name: which of them a use can see, and what these say.

    Answers are shared: what can be seen at a place is what can be seen before the last definition, and that one; and
    a block in which nothing is defined sees what the block around it sees. What they say is kept as a sum of bits.
    """

    def __init__(self, index: FileIndex, definitions: list[_Definition]) -> None:
        self._index = index
        self._definitions = sorted(definitions, key=lambda definition: definition.position)
        self._positions = [definition.position for definition in self._definitions]
        for number, definition in enumerate(self._definitions):
            definition.number = number
        self._counts = dict.fromkeys(Known, 0)
        for definition in self._definitions:
            if definition.known is not None:
                self._counts[definition.known] += 1
        self._in_loops: dict[int, dict[Known, int]] = {}
        self._seen: list[dict[int, tuple[int, int]]] = []
        """Of each number of definitions before a place, by its block: their bits, and the number of the nearest one
        that must have run."""

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """Where the blocks of the definitions stand in the order of the tree, sorted; and the definitions' numbers."""
        starts = self._index.extents[0]
        pairs = sorted((starts[d.block.id], d.number) for d in self._definitions if d.block is not None)
        return [place for place, _ in pairs], [number for _, number in pairs]

    def settle(self, definition: _Definition, known: Known) -> None:
        """Change what is known of a definition."""
        counters = [self._counts]
        block = definition.block
        if self._in_loops and block is not None:
            counters += [self._in_loops[loop.id] for loop in block.holders() if loop.id in self._in_loops]
        for counts in counters:
            if definition.known is not None:
                counts[definition.known] -= 1
            counts[known] += 1
        definition.known = known
        del self._seen[definition.number + 1 :]

    def agreed(self) -> Known:
        """What all definitions say."""
        return _AGREED.get(_sum(self._counts), Known.UNKNOWN)

    def reaching(self, position: Position, block: Block | None) -> Known:
        """What those say that a use at `position` can see; without a block it sees only what always runs."""
        count = bisect_right(self._positions, position)
        bits, nearest = self._before(count, block)
        before = self._definitions[nearest].block if nearest >= 0 else None
        loop: Block | None = None
        for level in block.holders() if block is not None else ():
            if before is not None and self._index.encloses(level, before):
                break
            if level.kind == "loop":
                loop = level
        if loop is not None:  # in the iteration before, all may have run that it holds
            bits |= self._inside(loop)
        return _AGREED.get(bits, Known.UNKNOWN)

    def _inside(self, loop: Block) -> int:
        counts = self._in_loops.get(loop.id)
        if counts is None:
            counts = self._in_loops[loop.id] = dict.fromkeys(Known, 0)
            first, end = self._span(loop)
            for number in self._places[1][first:end]:
                known = self._definitions[number].known
                if known is not None:
                    counts[known] += 1
        return _sum(counts)

    def _span(self, block: Block) -> tuple[int, int]:
        places = self._places[0]
        starts, sizes = self._index.extents
        start = starts[block.id]
        return bisect_left(places, start), bisect_left(places, start + sizes[block.id])

    def _defines(self, block: Block, count: int) -> bool:
        """Whether one of the first `count` definitions stands in a block."""
        first, end = self._span(block)
        numbers = self._places[1]
        if first == end:
            return False
        return numbers[first] < count or (not self._in_order and min(numbers[first:end]) < count)

    @cached_property
    def _in_order(self) -> bool:
        """Whether blocks follow each other as definitions do: all but the arms of some expressions do."""
        numbers = self._places[1]
        return all(map(lt, numbers, numbers[1:]))

    def _before(self, count: int, block: Block | None) -> tuple[int, int]:
        """What a use in `block` sees of the first `count` definitions: their bits, and the nearest that surely ran."""
        index = self._index
        while len(self._seen) <= count:
            self._seen.append({})
        path: list[tuple[int, int, int]] = []
        bits, nearest = 0, -1
        while count:
            key = -1 if block is None else block.id
            known = self._seen[count].get(key)
            if known is not None:
                bits, nearest = known
                break
            definition = self._definitions[count - 1]
            where = definition.block
            own = _BITS[definition.known]
            if where is None or (where.parent is None if block is None else index.encloses(where, block)):
                bits, nearest = own, count - 1
                break
            if block is None or block.parent is None or index.encloses(block, where):
                path.append((count, key, own))
                count -= 1
                continue
            others = index.other_arms(block)
            if any(index.encloses(arm, where) for arm in others):
                path.append((count, key, 0))
                count -= 1
            elif any(self._defines(one, count) for one in (block, *others)):
                path.append((count, key, 0 if self._exclusive(where, block) else own))
                count -= 1
            else:
                path.append((count, key, 0))
                block = block.parent
        for number, key, own in reversed(path):
            bits |= own
            self._seen[number][key] = bits, nearest
        return bits, nearest

    def _exclusive(self, where: Block, block: Block) -> bool:
        """Whether a block stands in the other arm of an ``if`` around `block`, so that only one of both runs."""
        return any(self._index.encloses(arm, where) for level in block.chain() for arm in self._index.other_arms(level))


def _sum(counts: dict[Known, int]) -> int:
    return sum(_BITS[known] for known, count in counts.items() if count)


class Flow:
    """What is known of the values in one function, or at module level.

    Args:
        index: the facts of the file.
        function: the scope of the function, or the module's.
        entities: what a path names in a scope, through the whole project.
        tensors: the parameters that are certainly tensors.
        outer: the flow of the function around this one, where both run in one trace.
    """

    def __init__(
        self,
        index: FileIndex,
        function: Scope,
        entities: Callable[[Scope, str | None], tuple[Entity, ...]],
        tensors: frozenset[str],
        outer: Flow | None = None,
    ) -> None:
        self._function = function
        self._entities = entities
        self._outer = outer
        self._parameters = frozenset(function.parameters)
        found: dict[tuple[int, str], list[_Definition]] = {}
        for parameter in function.parameters:
            known = Known.TENSOR if parameter in tensors else self._annotated(function, parameter)
            found[function.id, parameter] = [_Definition((0, 0), None, None, known)]
        made: list[tuple[_Definition, tuple[int, str]]] = []
        for fact in index.assignments_in(function):
            if isinstance(fact.target, ast.Name):
                definition = _Definition(_effective(fact), fact.block, fact)
                made.append((definition, (fact.scope.id, fact.target.id)))
                if fact.target.id not in function.outer_names:
                    found.setdefault((fact.scope.id, fact.target.id), []).append(definition)
        self._names = {name: _Values(index, definitions) for name, definitions in found.items()}
        self._settle(made)

    def _settle(self, made: list[tuple[_Definition, tuple[int, str]]]) -> None:
        """Judge every assignment until nothing changes; one that does not settle is unknown."""
        for _ in range(4):
            changed: list[tuple[_Definition, tuple[int, str]]] = []
            for definition, name in made:
                assert definition.fact is not None
                known = self._assigned(definition.fact)
                if known is not definition.known:
                    self._change(definition, name, known)
                    changed.append((definition, name))
            if not changed:
                return
        for definition, name in changed:
            self._change(definition, name, Known.UNKNOWN)

    def _change(self, definition: _Definition, name: tuple[int, str], known: Known) -> None:
        if definition.number >= 0:
            self._names[name].settle(definition, known)
        else:
            definition.known = known  # of a global

    def _annotated(self, function: Scope, parameter: str) -> Known:
        for bind in function.binds.get(parameter, ()):
            if bind.kind == "annotation" and bind.scope is not None:
                for entity in self._entities(bind.scope, bind.text):
                    name = canonical(entity.text) if entity.kind == "external" else ""
                    if name in _TENSOR_TYPES:
                        return Known.TENSOR
                    if name == "tensorflow.Variable()":
                        return Known.VARIABLE
                    if name in ("int()", "float()", "str()", "bool()"):
                        return Known.OTHER
        return Known.UNKNOWN

    def _assigned(self, fact: AssignmentFact) -> Known:
        assert isinstance(fact.target, ast.Name)
        if fact.augmented:
            before = self._local(fact.target, fact.scope, fact.block) or Known.UNKNOWN
            return self._joined((before, self.of(fact.value, fact.scope, fact.block)))
        if fact.value is not None:
            return self.of(fact.value, fact.scope, fact.block)
        return self._element(fact) if fact.source is not None else Known.UNKNOWN

    # -- expressions -------------------------------------------------------------------------------------------------

    def of(self, node: ast.expr | None, scope: Scope, block: Block | None = None) -> Known:
        """What is known of an expression in `scope`, which is this function or a comprehension in it.

        `block` is the one that the expression stands in; without it, only what always runs is believed.
        """
        if node is None:
            return Known.UNKNOWN
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.Lambda):
            return Known.OTHER
        if isinstance(node, ast.Name):
            return self._name(node, scope, block)
        if isinstance(node, ast.BinOp):
            return self._operation(node, scope, block)
        if isinstance(node, ast.UnaryOp):
            known = self.of(node.operand, scope, block)
            return Known.TENSOR if known is Known.VARIABLE else known
        if isinstance(node, ast.Compare):
            if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
                return Known.OTHER
            return self._joined(self.of(value, scope, block) for value in (node.left, *node.comparators))
        if isinstance(node, ast.IfExp):
            body, other = self.of(node.body, scope, block), self.of(node.orelse, scope, block)
            return body if body is other else Known.UNKNOWN
        if isinstance(node, ast.NamedExpr):
            return self.of(node.value, scope, block)
        if isinstance(node, ast.Subscript):
            known = self.of(node.value, scope, block)
            return Known.TENSOR if known is Known.VARIABLE else known
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope, block)
        if isinstance(node, ast.Call):
            return self._call(node, scope, block)
        return Known.UNKNOWN

    def _operation(self, node: ast.BinOp, scope: Scope, block: Block | None) -> Known:
        """A sum of a thousand terms is a chain on its left side: walk it."""
        operands: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            if isinstance(left.op, ast.Mod) and _is_text(left.left):
                return Known.OTHER  # formatting
            operands.append(left.right)
            left = left.left
        return self._joined(self.of(operand, scope, block) for operand in (*operands, left))

    def _name(self, node: ast.Name, scope: Scope, block: Block | None) -> Known:
        known = self._local(node, scope, block)
        if known is not None:
            return known
        if self._outer is not None:
            return self._outer.anywhere(node.id)
        return Known.UNKNOWN

    def anywhere(self, name: str) -> Known:
        """What is known of a name of this function for a function inside it, which may run at any time."""
        values = self._names.get((self._function.id, name))
        if values is not None:
            return values.agreed()
        return self._outer.anywhere(name) if self._outer is not None else Known.UNKNOWN

    def _local(self, node: ast.Name, scope: Scope, block: Block | None) -> Known | None:
        """What the assignments of this function say of a name; None where it is not the function's own."""
        current: Scope | None = scope
        while current is not None and current is not self._function:
            own = self._names.get((current.id, node.id))
            if own is not None:  # a variable of a comprehension
                return own.agreed()
            current = current.parent
        values = self._names.get((self._function.id, node.id))
        return None if values is None else values.reaching((node.lineno, node.col_offset), block)

    def _attribute(self, node: ast.Attribute, scope: Scope, block: Block | None) -> Known:
        base = self.of(node.value, scope, block)
        if base is Known.TENSOR or base is Known.VARIABLE:
            return Known.OTHER if node.attr in _STATIC else Known.UNKNOWN
        if base is Known.OTHER:
            return Known.UNKNOWN
        return self._agreed_names(scope, path_of(node), "", only=Known.VARIABLE)

    def _call(self, node: ast.Call, scope: Scope, block: Block | None) -> Known:
        if isinstance(node.func, ast.Attribute):
            receiver = self.of(node.func.value, scope, block)
            if node.func.attr in _PLAIN_METHODS:
                known = node.func.attr == "numpy" or receiver in (Known.TENSOR, Known.VARIABLE)
                return Known.OTHER if known else Known.UNKNOWN
            if receiver is Known.VARIABLE and node.func.attr in ("read_value", "value"):
                return Known.TENSOR
            if receiver is Known.OTHER:
                return Known.OTHER if node.func.attr in ("format", "join") else Known.UNKNOWN
        return self._agreed_names(scope, path_of(node.func), "()")

    def _agreed_names(self, scope: Scope, path: str | None, suffix: str, only: Known | None = None) -> Known:
        found = {
            _value_of(f"{canonical(entity.text)}{suffix}") if entity.kind == "external" else Known.UNKNOWN
            for entity in self._entities(scope, path)
        }
        answer = found.pop() if len(found) == 1 else Known.UNKNOWN
        return answer if only is None or answer is only else Known.UNKNOWN

    def _element(self, fact: AssignmentFact) -> Known:
        """An item of what is unpacked or iterated."""
        source = fact.source
        known = self.of(source, fact.scope, fact.block)
        unpacked = isinstance(fact.node, ast.Assign)
        if isinstance(source, ast.Call):
            entities = self._entities(fact.scope, path_of(source.func))
            names = [canonical(entity.text) for entity in entities if entity.kind == "external"]
            if names == ["range"]:
                return Known.OTHER
            if names and all(name in _MANY for name in names):
                return Known.TENSOR
        if known is Known.TENSOR and (unpacked or not (isinstance(source, ast.Name) and source.id in self._parameters)):
            return Known.TENSOR  # iterating over a parameter may give the keys of a dict
        return Known.OTHER if known is Known.OTHER and not unpacked else Known.UNKNOWN

    @staticmethod
    def _joined(operands: Iterable[Known]) -> Known:
        known = list(operands)
        if Known.TENSOR in known or Known.VARIABLE in known:
            return Known.TENSOR
        return Known.OTHER if all(k is Known.OTHER for k in known) else Known.UNKNOWN


def _effective(fact: AssignmentFact) -> Position:
    """A name has its new value after the whole assignment, in a ``for`` or ``with`` after the target."""
    whole = isinstance(fact.node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr)
    node = fact.node if whole else fact.target
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _value_of(name: str) -> Known:
    """What an expression is whose canonical name is `name`: ``tensorflow.reduce_sum()`` is a tensor."""
    if not name.endswith("()"):
        return Known.UNKNOWN
    plain = name[:-2]
    if plain in _PLAIN_BUILTINS:
        return Known.OTHER
    if plain in _VARIABLES:
        return Known.VARIABLE
    if plain == "keras.Input" or plain in _TENSOR_TYPES:
        return Known.TENSOR
    last = plain.rpartition(".")[2]
    if last in _MAKERS and plain.startswith("keras.") and "()." in plain:
        return Known.VARIABLE
    if plain.endswith("()"):
        # an instance that is called: a layer gives a tensor
        inner = plain[:-2]
        is_layer = inner.startswith("keras.layers.") and inner[13:14].isupper() and inner[13:] not in _LAYERS_OF_MANY
        return Known.TENSOR if is_layer and "(" not in inner else Known.UNKNOWN
    if "(" in plain or last in _NO_TENSOR or not last[:1].islower() or last.endswith("_initializer"):
        return Known.UNKNOWN
    if plain.startswith(_TENSOR_MODULES):
        return Known.TENSOR if plain.count(".") == 2 and plain not in _NOT_SHAPES else Known.UNKNOWN
    if plain.startswith("tensorflow.") and plain.count(".") == 1:
        return Known.UNKNOWN if last.startswith(("assert", "enable_", "disable_")) else Known.TENSOR
    return Known.UNKNOWN


_LAYERS_OF_MANY = frozenset(
    {"LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "ConvLSTM2D", "LSTMCell", "GRUCell", "SimpleRNNCell", "Lambda"}
)
"""Layers that may give a list, such as the outputs with the states, or anything at all."""
