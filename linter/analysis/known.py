"""What is known of a value, how such knowledge is put together, and what public names say of what they give.

`Known.TENSOR` and `Known.VARIABLE` are proofs, `Known.OTHER` is a proof of the contrary.
`Known.LIKELY` has evidence: a parameter that is used as a tensor is, what a model of unknown make returns.
`Known.POSSIBLE` is a tensor on some ways only, or a parameter of which nothing is known.
A structure of tensors, such as the dict that a layer is called with or the list that `tf.split` gives, counts as a
tensor: it has no value while a graph is traced either.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from .kinds import kinds_of_base


class Known(Enum):
    """What is known of a value."""

    TENSOR = "tensor"
    VARIABLE = "variable"
    LIKELY = "likely"
    POSSIBLE = "possible"
    OTHER = "other"
    UNKNOWN = "unknown"
    EMPTY = "empty"
    """A container that nothing was put into yet; outside of the analysis it is `OTHER`."""


BITS: dict[Known | None, int] = {None: 0} | {known: 1 << place for place, known in enumerate(Known)}
_ALONE = {bit: known for known, bit in BITS.items() if known is not None}
SYMBOLIC = frozenset({Known.TENSOR, Known.VARIABLE, Known.LIKELY})
"""Most probably a symbol in a trace."""
TENSORISH = SYMBOLIC | {Known.POSSIBLE}
_SYMBOLIC_BITS = BITS[Known.TENSOR] | BITS[Known.VARIABLE] | BITS[Known.LIKELY]
_TENSORISH_BITS = _SYMBOLIC_BITS | BITS[Known.POSSIBLE]


def merged_bits(bits: int) -> Known:
    """What is known of a value that is one of several: on which way depends on the run."""
    if bits & ~BITS[Known.EMPTY]:
        bits &= ~BITS[Known.EMPTY]
    alone = _ALONE.get(bits)
    if alone is not None:
        return alone
    if not bits & _TENSORISH_BITS:
        return Known.UNKNOWN
    return Known.POSSIBLE if bits & ~_SYMBOLIC_BITS else Known.LIKELY


def merged(values: Iterable[Known]) -> Known:
    """The same of these; unknown where there are none."""
    bits = 0
    for known in values:
        bits |= BITS[known]
    return merged_bits(bits)


def joined(operands: Iterable[Known]) -> Known:
    """What an operation on these gives: a tensor, if one of them is one."""
    found = set(operands)
    if found & {Known.TENSOR, Known.VARIABLE}:
        return Known.TENSOR
    for known in (Known.LIKELY, Known.POSSIBLE):
        if known in found:
            return known
    return Known.OTHER if found <= {Known.OTHER, Known.EMPTY} else Known.UNKNOWN


_TENSOR_MODULES = (
    "tensorflow.math.", "tensorflow.nn.", "tensorflow.linalg.", "tensorflow.random.", "tensorflow.image.",
    "tensorflow.signal.", "tensorflow.strings.", "tensorflow.sparse.", "tensorflow.ragged.", "tensorflow.bitwise.",
    "tensorflow.losses.", "tensorflow.layers.", "tensorflow.sets.", "tensorflow.quantization.", "tensorflow.audio.",
    "tensorflow.io.", "keras.backend.", "keras.ops.", "keras.activations.", "keras.losses.", "keras.metrics.",
    "keras.random.",
)  # fmt: skip
"""Their functions give tensors, or structures of tensors, but for those named below."""

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
        "group", "no_op", "print", "write_file", "write_graph", "match_filenames_once",
        "add_check_numerics_ops", "report_uninitialized_variables",
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
        "moving_average_update", "is_float_dtype", "is_int_dtype", "result_type", "standardize_dtype",
        "serialize", "deserialize", "get",
        # tensorflow.random and tensorflow.losses
        "get_global_generator", "set_global_generator", "create_rng_state", "add_loss", "get_losses",
        "get_regularization_losses",
    }
)  # fmt: skip
_NOT_SHAPES = frozenset({"keras.ops.shape", "keras.ops.size", "keras.metrics.get", "keras.losses.get"})
"""A tuple of plain numbers where the shape is static; a loss."""

_DECIDED_BY_FUNCTION = frozenset(
    {
        "cond", "case", "switch_case", "map_values", "map_flat_values", "rnn", "map", "vectorize", "in_train_phase",
        "in_test_phase", "switch", "while", "fori_loop", "associative_scan", "jvp",
    }
)  # fmt: skip
"""Operations that return what a function given to them does."""

_VARIABLES = frozenset(
    {
        "tensorflow.Variable", "tensorflow.get_variable", "tensorflow.get_local_variable", "keras.Variable",
        "keras.backend.variable", "keras.backend.random_normal_variable", "keras.backend.random_uniform_variable",
    }
)  # fmt: skip
_MAKERS = frozenset({"add_weight", "add_variable"})
"""Methods of a layer that give a variable."""
_LISTS_OF_VARIABLES = frozenset(
    {
        "trainable_variables", "trainable_weights", "variables", "weights", "non_trainable_variables",
        "non_trainable_weights",
    }
)  # fmt: skip

_PLAIN_BUILTINS = frozenset(
    {
        "len", "str", "bool", "isinstance", "hasattr", "type", "repr", "id", "range", "print", "format", "callable",
        "issubclass", "hash", "open", "chr", "ord", "bytes", "input",
    }
)  # fmt: skip
TENSOR_TYPES = frozenset({"tensorflow.Tensor()", "tensorflow.RaggedTensor()", "tensorflow.SparseTensor()"})

_METHODS: tuple[tuple[str, frozenset[str], Known], ...] = (
    ("tensorflow.GradientTape().", frozenset({"gradient", "jacobian", "batch_jacobian"}), Known.TENSOR),
    ("tensorflow.GradientTape().", frozenset({"watched_variables"}), Known.VARIABLE),
    ("tensorflow.TensorArray().", frozenset({"stack", "concat", "read", "gather", "size"}), Known.TENSOR),
    (
        "tensorflow.random.Generator",
        frozenset({"normal", "uniform", "truncated_normal", "uniform_full_int", "binomial"}),
        Known.TENSOR,
    ),
    ("tensorflow.random.get_global_generator().", frozenset({"normal", "uniform"}), Known.TENSOR),
    ("tensorflow.lookup.", frozenset({"lookup"}), Known.TENSOR),
    ("tensorflow.data.", frozenset({"reduce", "get_next", "cardinality"}), Known.TENSOR),
    ("keras.metrics.", frozenset({"result"}), Known.TENSOR),
    ("keras.", frozenset({"call", "compute_loss", "train_step", "test_step", "predict_step"}), Known.LIKELY),
    ("keras.", frozenset({"compiled_loss", "get_metrics_result", "compute_metrics"}), Known.LIKELY),
    ("tensorflow.distribute.", frozenset({"run", "reduce", "gather", "experimental_run_v2"}), Known.LIKELY),
    (
        "tensorflow_probability.",
        frozenset({"sample", "log_prob", "prob", "mean", "stddev", "variance", "entropy", "mode", "kl_divergence"}),
        Known.LIKELY,
    ),
)
"""Methods of public objects, by how a name begins."""

_CALLED = (
    "keras.Model", "keras.Sequential", "keras.layers.", "keras.losses.", "keras.metrics.", "keras.initializers.",
    "keras.regularizers.", "keras.constraints.", "keras.optimizers.schedules.", "keras.applications.",
    "keras.activations.get", "keras.models.load_model", "keras.models.clone_model", "keras.models.model_from_",
)  # fmt: skip
"""What they make gives tensors when it is called."""
_CALLED_FOR_SOMETHING = (
    "keras.layers.Lambda", "tensorflow.function", "tensorflow.saved_model.load", "tensorflow_hub.",
    "tensorflow.custom_gradient", "tensorflow.recompute_grad", "tensorflow.make_template",
)  # fmt: skip
"""What they make most probably does."""


def value_of(name: str) -> Known:
    """What an expression is whose canonical name is `name`: ``tensorflow.reduce_sum()`` is a tensor."""
    if not name.endswith("()"):
        return _attribute(name)
    plain = name[:-2]
    if plain in _PLAIN_BUILTINS:
        return Known.OTHER
    if plain in _VARIABLES:
        return Known.VARIABLE
    if plain in ("keras.Input", "tensorflow.debugging.check_numerics") or name in TENSOR_TYPES:
        return Known.TENSOR
    last = plain.rpartition(".")[2]
    if last in _MAKERS and plain.startswith("keras.") and "()." in plain:
        return Known.VARIABLE
    if plain.endswith("()"):
        return _instance_called(plain[:-2])
    if "(" in plain:
        for start, methods, known in _METHODS:
            if last in methods and plain.startswith(start):
                return known
        return Known.UNKNOWN
    if last in _NO_TENSOR or not last[:1].islower() or last.endswith("_initializer"):
        return Known.UNKNOWN
    in_module = plain.startswith(_TENSOR_MODULES) and plain.count(".") == 2 and plain not in _NOT_SHAPES
    if in_module or (plain.startswith("tensorflow.") and plain.count(".") == 1):
        if last.startswith(("assert", "enable_", "disable_")):
            return Known.UNKNOWN
        return Known.LIKELY if last in _DECIDED_BY_FUNCTION else Known.TENSOR
    return Known.UNKNOWN


def _attribute(name: str) -> Known:
    start, _, last = name.rpartition(".")
    if not start.startswith("keras.") or not start.endswith(")"):
        return Known.UNKNOWN
    if last in _LISTS_OF_VARIABLES:
        return Known.VARIABLE
    if start.startswith("keras.optimizers.") and last in ("learning_rate", "lr", "iterations"):
        return Known.VARIABLE
    if start.startswith("keras.layers.") and last in ("kernel", "bias", "gamma", "beta", "embeddings"):
        return Known.VARIABLE
    return Known.POSSIBLE if last == "losses" else Known.UNKNOWN


def _instance_called(maker: str) -> Known:
    """What comes of calling what `maker` gave: a layer, a loss, a schedule."""
    if maker.endswith(".get_layer"):
        maker = "keras.layers.Layer"
    if "(" in maker:
        return Known.UNKNOWN
    if maker.startswith(_CALLED_FOR_SOMETHING):
        return Known.LIKELY
    if maker.startswith(_CALLED) or "layer" in kinds_of_base(maker):
        return Known.TENSOR
    return Known.UNKNOWN
