"""Private names of TensorFlow that are the very object of a public name; `test_tables.py` compares each."""

from __future__ import annotations

_ERRORS = (
    "ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS DEADLINE_EXCEEDED "
    "DataLossError DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError INTERNAL INVALID_ARGUMENT "
    "InternalError InvalidArgumentError NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError "
    "OperatorNotAllowedInGraphError OutOfRangeError PERMISSION_DENIED PermissionDeniedError RESOURCE_EXHAUSTED "
    "ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError "
    "UnimplementedError UnknownError"
)

SAME = {
    "data.ops.dataset_ops": (("data", "AUTOTUNE Dataset DatasetSpec NumpyIterator"),),
    "eager.backprop": (("", "GradientTape UnconnectedGradients"),),
    "framework.dtypes": (
        (
            "dtypes",
            "DType QUANTIZED_DTYPES as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half "
            "int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8 "
            "variant",
        ),
    ),
    "framework.errors": (("errors", _ERRORS),),
    "framework.errors_impl": (("errors", _ERRORS),),
    "framework.ops": (
        (
            "",
            "Graph Operation RegisterGradient control_dependencies get_current_name_scope init_scope "
            "inside_function is_symbolic_tensor no_gradient",
        ),
    ),
    "framework.tensor_shape": (("", "TensorShape"),),
    "framework.constant_op": (("", "constant"),),
    "lib.io.tf_record": (("io", "TFRecordOptions TFRecordWriter"),),
    "module.module": (("", "Module"),),
    "ops.array_ops": (
        (
            "",
            "bitcast broadcast_dynamic_shape broadcast_static_shape broadcast_to concat edit_distance "
            "extract_volume_patches fill fingerprint guarantee_const identity identity_n meshgrid newaxis one_hot "
            "ones parallel_stack rank repeat required_space_to_batch_paddings reshape reverse scatter_nd "
            "searchsorted sequence_mask shape_n slice space_to_batch_nd split stop_gradient strided_slice "
            "tensor_scatter_nd_update tile unique unique_with_counts unravel_index zeros",
        ),
    ),
    "ops.clip_ops": (("", "clip_by_global_norm clip_by_norm clip_by_value"),),
    "ops.control_flow_ops": (("", "group no_op"),),
    "ops.lookup_ops": (
        (
            "lookup",
            "KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex TextFileInitializer",
        ),
    ),
    "ops.math_ops": (
        (
            "math",
            "abs accumulate_n acos add add_n angle atan2 betainc ceil conj cumprod cumsum cumulative_logsumexp "
            "divide equal erfcinv erfinv exp floor floordiv floormod greater greater_equal igamma igammac imag "
            "is_finite is_inf is_nan less less_equal log_sigmoid logical_and logical_not logical_or logical_xor "
            "multiply multiply_no_nan ndtri nextafter not_equal polygamma polyval pow real reciprocal_no_nan "
            "reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean reduce_min "
            "reduce_prod reduce_std reduce_sum reduce_variance round rsqrt segment_max segment_mean segment_min "
            "segment_prod segment_sum sigmoid sign sobol_sample softplus sqrt squared_difference subtract truediv "
            "unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod "
            "unsorted_segment_sqrt_n unsorted_segment_sum xdivy xlog1py xlogy zeta",
        ),
        (
            "",
            "abs acos add add_n atan2 cast complex cumsum divide equal exp floor greater greater_equal less "
            "less_equal linspace logical_and logical_not logical_or matmul multiply not_equal pow range realdiv "
            "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum round "
            "saturate_cast sigmoid sign sqrt subtract tensordot truediv truncatediv truncatemod",
        ),
    ),
    "ops.nn_ops": (
        (
            "nn",
            "approx_max_k approx_min_k atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool2d avg_pool3d "
            "bias_add conv1d_transpose conv_transpose gelu isotonic_regression l2_loss leaky_relu "
            "local_response_normalization lrn max_pool1d max_pool2d max_pool3d relu6 top_k with_space_to_batch",
        ),
    ),
    "ops.nn": (
        (
            "nn",
            "all_candidate_sampler approx_max_k approx_min_k atrous_conv2d atrous_conv2d_transpose avg_pool1d "
            "avg_pool2d avg_pool3d batch_normalization bias_add collapse_repeated compute_accidental_hits "
            "compute_average_loss conv1d_transpose conv_transpose ctc_greedy_decoder ctc_unique_labels elu "
            "fixed_unigram_candidate_sampler isotonic_regression l2_loss l2_normalize "
            "learned_unigram_candidate_sampler local_response_normalization log_poisson_loss lrn max_pool1d "
            "max_pool2d max_pool3d normalize_moments relu scale_regularization_loss selu softsign top_k "
            "with_space_to_batch zero_fraction",
        ),
    ),
    "ops.tensor_array_ops": (("", "TensorArray TensorArraySpec"),),
    "ops.variables": (("", "Variable VariableSynchronization"),),
    "training.moving_averages": (("train", "ExponentialMovingAverage"),),
    "util.nest": (("nest", "assert_same_structure flatten is_nested map_structure pack_sequence_as"),),
    "ops.linalg_ops": (("linalg", "cholesky cholesky_solve eig eigvals eye lu qr svd"),),
    "ops.string_ops": (
        (
            "strings",
            "as_string regex_full_match regex_replace unicode_script unicode_transcode unsorted_segment_join",
        ),
    ),
}
"""By module below `tensorflow.python`: public modules below `tensorflow`, with the names that both have."""
