"""Calls of `tf.compat.v1` whose arguments cannot be made up by their names alone, for `eager_status.py`.

An expression for one or several names, in which ``f`` is what the name means, and ``tf``, ``v1``, ``np`` and the
functions below are known. It is evaluated in a graph and eagerly.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

CALLS = {
    "Dimension": "f(2)",
    "FIFOQueue": "f(3, [tf.float32])",
    "FixedLengthRecordReader": "f(4)",
    "NoGradient NotDifferentiable": "f(f'MadeUp{tf.executing_eagerly()}')",
    "PaddingFIFOQueue io.PaddingFIFOQueue": "f(3, [tf.float32], [[2]])",
    "PriorityQueue io.PriorityQueue": "f(3, [tf.float32], [[]])",
    "QueueBase io.QueueBase": "f([tf.float32], [[]], None, tf.raw_ops.FIFOQueueV2(component_types=[tf.float32]))",
    "RandomShuffleQueue io.RandomShuffleQueue": "f(3, 1, [tf.float32])",
    "arg_max arg_min": "f(tf.constant([1.0, 2.0]), 0)",
    "assert_negative": "f(tf.constant([-1.0]))",
    "assert_rank_at_least": "f(tf.constant([1.0]), 1)",
    "assert_rank_in": "f(tf.constant([1.0]), [1, 2])",
    "assert_type": "f(tf.constant([1.0]), tf.float32)",
    "check_numerics verify_tensor_all_finite": "f(tf.constant([1.0]), 'is not finite')",
    "count_nonzero": "f(tf.constant([1.0, 0.0]))",
    "count_up_to": "f(v1.Variable(1), 3)",
    "create_partitioned_variables": "f([2, 2], [2, 1], tf.zeros([2, 2]))",
    "cross": "f(tf.constant([1.0, 0.0, 0.0]), tf.constant([0.0, 1.0, 0.0]))",
    "data.experimental.RaggedTensorStructure": "f(tf.float32, [2, None], 1)",
    "data.experimental.TensorArrayStructure": "f(tf.float32, [2], False, True)",
    "data.get_output_classes data.get_output_shapes data.get_output_types": "f(tf.data.Dataset.range(3))",
    "decode_base64": "f(tf.constant('YQ'))",
    "decode_compressed encode_base64": "f(tf.constant('a'))",
    "decode_csv": "f(tf.constant(['1,2']), [[0], [0]])",
    "decode_json_example": "f(tf.constant('{}'))",
    "decode_raw": "f(tf.constant('abcd'), tf.uint8)",
    "depth_to_space": "f(tf.zeros([1, 2, 2, 4]), 2)",
    "dequantize": "f(tf.cast(tf.constant([1, 2]), tf.quint8), 0.0, 1.0)",
    "deserialize_many_sparse": "f(tf.io.serialize_many_sparse(tf.sparse.from_dense([[1.0, 0.0]])), tf.float32)",
    "dimension_at_index": "f(tf.TensorShape([2]), 0)",
    "distributions.Bernoulli": "f(probs=0.5)",
    "distributions.Beta": "f(1.0, 1.0)",
    "distributions.Categorical": "f(probs=[0.5, 0.5])",
    "distributions.Multinomial": "f(2.0, probs=[0.5, 0.5])",
    "distributions.kl_divergence": "f(v1.distributions.Normal(0.0, 1.0), v1.distributions.Normal(0.0, 2.0))",
    "dtypes.as_string": "f(tf.constant([1, 2]))",
    "errors.exception_type_from_error_code": "f(3)",
    "extract_image_patches image.extract_image_patches":
        "f(tf.zeros([1, 4, 4, 1]), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')",
    "feature_column.input_layer feature_column.linear_model":
        "f({'a': tf.constant([[1.0]])}, [tf.feature_column.numeric_column('a')])",
    "feature_column.shared_embedding_columns": "f([tf.feature_column.categorical_column_with_identity('a', 3)], 2)",
    "fft3d ifft3d spectral.fft3d spectral.ifft3d spectral.irfft3d": "f(tf.zeros([2, 2, 2], tf.complex64))",
    "get_local_variable get_variable": "f('made', [1])",
    "get_session_handle": "f(tf.constant([1.0]))",
    "graph_util.convert_variables_to_constants": "f(v1.Session(), v1.get_default_graph().as_graph_def(), [])",
    "graph_util.extract_sub_graph": "f(v1.GraphDef(), [])",
    "graph_util.must_run_on_cpu": "f(v1.NodeDef(op='Add'))",
    "graph_util.remove_training_nodes": "f(v1.GraphDef())",
    "initialize_variables initializers.variables variables_initializer": "f([v1.Variable(1.0)])",
    "io.tf_record_iterator python_io.tf_record_iterator": "list(f(records()))",
    "losses.cosine_distance": "f(tf.constant([[1.0, 0.0]]), tf.constant([[1.0, 0.0]]), axis=1)",
    "losses.get_total_loss": "(v1.losses.mean_squared_error(tf.constant([1.0]), tf.constant([2.0])), f())[1]",
    "manip.reverse reverse_v2": "f(tf.constant([1.0, 2.0]), [0])",
    "manip.roll": "f(tf.constant([1.0, 2.0]), 1, 0)",
    "manip.scatter_nd": "f(tf.constant([[0]]), tf.constant([1.0]), tf.constant([2]))",
    "matching_files": "f(tf.constant('*.txt'))",
    "matrix_band_part": "f(tf.ones([2, 2]), 0, 0)",
    "metrics.precision_at_k metrics.recall_at_k metrics.sparse_precision_at_k":
        "f(tf.constant([[0]], tf.int64), tf.constant([[0.1, 0.9]]), 1)",
    "metrics.precision_at_top_k metrics.recall_at_top_k":
        "f(tf.constant([[0]], tf.int64), tf.constant([[1]], tf.int64))",
    "mixed_precision.FixedLossScale mixed_precision.experimental.FixedLossScale train.experimental.FixedLossScale":
        "f(2.0)",
    "mixed_precision.MixedPrecisionLossScaleOptimizer train.experimental.MixedPrecisionLossScaleOptimizer":
        "f(v1.train.GradientDescentOptimizer(0.1), 2.0)",
    "nn.avg_pool_v2 nn.max_pool_v2": "f(tf.zeros([1, 4, 4, 1]), 2, 2, 'SAME')",
    "nn.bidirectional_dynamic_rnn": "f(cell(), cell(), tf.zeros([2, 3, 4]), dtype=tf.float32)",
    "nn.conv2d_backprop_filter nn.depthwise_conv2d_native_backprop_filter":
        "f(tf.zeros([1, 4, 4, 1]), [2, 2, 1, 1], tf.zeros([1, 4, 4, 1]), [1, 1, 1, 1], 'SAME')",
    "nn.conv2d_backprop_input nn.depthwise_conv2d_native_backprop_input":
        "f([1, 4, 4, 1], tf.zeros([2, 2, 1, 1]), tf.zeros([1, 4, 4, 1]), [1, 1, 1, 1], 'SAME')",
    "nn.conv3d_backprop_filter nn.conv3d_backprop_filter_v2":
        "f(tf.zeros([1, 4, 4, 4, 1]), [2, 2, 2, 1, 1], tf.zeros([1, 4, 4, 4, 1]), [1, 1, 1, 1, 1], 'SAME')",
    "nn.ctc_beam_search_decoder_v2": "f(tf.zeros([3, 1, 4]), [3])",
    "nn.ctc_loss_v2": "f(tf.constant([[1, 2]]), tf.zeros([3, 1, 4]), [2], [3])",
    "nn.depthwise_conv2d_native": "f(tf.zeros([1, 4, 4, 1]), tf.zeros([2, 2, 1, 1]), [1, 1, 1, 1], 'SAME')",
    "nn.dynamic_rnn": "f(cell(), tf.zeros([2, 3, 4]), dtype=tf.float32)",
    "nn.fused_batch_norm": "f(tf.zeros([1, 4, 4, 1]), tf.ones([1]), tf.zeros([1]))",
    "nn.log_uniform_candidate_sampler nn.uniform_candidate_sampler": "f(tf.constant([[0]], tf.int64), 1, 1, True, 4)",
    "nn.quantized_avg_pool nn.quantized_max_pool":
        "f(quantized([1, 4, 4, 1]), 0.0, 1.0, [1, 2, 2, 1], [1, 1, 1, 1], 'SAME')",
    "nn.quantized_conv2d":
        "f(quantized([1, 4, 4, 1]), quantized([2, 2, 1, 1]), 0.0, 1.0, 0.0, 1.0, [1, 1, 1, 1], 'SAME')",
    "nn.raw_rnn": "f(cell(), loop())",
    "nn.relu_layer nn.xw_plus_b": "f(tf.zeros([1, 2]), tf.zeros([2, 3]), tf.zeros([3]))",
    "nn.static_bidirectional_rnn": "f(cell(), cell(), [tf.zeros([2, 4])], dtype=tf.float32)",
    "nn.static_rnn": "f(cell(), [tf.zeros([2, 4])], dtype=tf.float32)",
    "parse_example": "f(tf.constant([example()]), {'a': tf.io.FixedLenFeature([], tf.float32)})",
    "parse_single_example": "f(tf.constant(example()), {'a': tf.io.FixedLenFeature([], tf.float32)})",
    "parse_single_sequence_example":
        "f(tf.constant(b''), sequence_features={'a': tf.io.VarLenFeature(tf.float32)})",
    "parse_tensor": "f(tf.io.serialize_tensor(tf.constant([1.0])), tf.float32)",
    "py_func": "f(lambda given: given, [tf.constant([1.0])], tf.float32)",
    "python_io.TFRecordWriter": "f('made.tfrecord')",
    "quantize quantize_v2": "f(tf.constant([1.0]), 0.0, 2.0, tf.quint8)",
    "quantized_concat": "f(0, [quantized([2])] * 2, [0.0, 0.0], [1.0, 1.0])",
    "ragged.RaggedTensorValue": "f(np.zeros([2]), np.array([0, 2]))",
    "ragged.placeholder": "f(tf.float32, 1)",
    "train.StopAtStepHook": "f(1)",
    "read_file": "f(text())",
    "regex_replace": "f(tf.constant('a'), 'a', 'b')",
    "report_uninitialized_variables": "(v1.get_variable('made', [1]), f())[1]",
    "saved_model.Builder saved_model.builder.SavedModelBuilder train.checkpoint_exists": "f('made')",
    "saved_model.classification_signature_def saved_model.signature_def_utils.classification_signature_def":
        "f(tf.constant(['a']), tf.constant(['a']), tf.constant([1.0]))",
    "saved_model.experimental.save": "f(tf.Module(), 'made')",
    "saved_model.is_valid_signature saved_model.signature_def_utils.is_valid_signature": "f(signature())",
    "saved_model.load_v2 saved_model.signature_def_utils.MethodNameUpdater": "f(module())",
    "saved_model.loader.load": "f(v1.Session(), ['serve'], saved())",
    "saved_model.loader.maybe_saved_model_directory saved_model.maybe_saved_model_directory": "f('.')",
    "saved_model.predict_signature_def saved_model.signature_def_utils.predict_signature_def":
        "f({'a': tf.constant([1.0])}, {'b': tf.constant([1.0])})",
    "saved_model.regression_signature_def saved_model.signature_def_utils.regression_signature_def":
        "f(tf.constant(['a']), tf.constant([1.0]))",
    "saved_model.simple_save": "f(session(), 'made', {'a': tf.constant([1.0])}, {'b': tf.constant([1.0])})",
    "scatter_nd_add scatter_nd_sub scatter_nd_update": "f(v1.Variable([1.0, 2.0], use_resource=True), [[0]], [1.0])",
    "serialize_many_sparse serialize_sparse": "f(tf.sparse.from_dense([[1.0, 0.0]]))",
    "sets.set_size": "f(tf.sparse.from_dense([[1, 0]]))",
    "sparse.merge sparse_merge": "f(sparse(), sparse(), 3)",
    "sparse_concat": "f(0, [sparse(), sparse()])",
    "sparse_fill_empty_rows": "f(sparse(), 0)",
    "sparse_mask": "f(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), tf.constant([0]))",
    "sparse_reshape": "f(sparse(), [2, 1])",
    "sparse_retain": "f(sparse(), [True])",
    "sparse_slice": "f(sparse(), [0, 0], [1, 1])",
    "sparse_split": "f(sp_input=sparse(), num_split=2, axis=1)",
    "sparse_to_dense": "f([0], [2], 1.0)",
    "sparse_to_indicator": "f(sparse(), 3)",
    "string_join": "f([tf.constant('a'), tf.constant('b')])",
    "string_strip": "f(tf.constant(' a'))",
    "string_to_hash_bucket": "f(tf.constant('a'), 3)",
    "string_to_hash_bucket_strong": "f(tf.constant('a'), 3, [1, 2])",
    "string_to_number": "f(tf.constant('1'))",
    "substr": "f(tf.constant('ab'), 0, 1)",
    "summary.initialize": "f()",
    "summary.merge": "f([v1.summary.scalar('made', 1.0)])",
    "tensor_scatter_add tensor_scatter_sub tensor_scatter_update": "f(tf.constant([1.0]), [[0]], [1.0])",
    "train.CheckpointSaverHook": "f('.', save_steps=1)",
    "train.LoggingTensorHook": "f({'loss': tf.constant(1.0)}, every_n_iter=1)",
    "train.LooperThread": "f(tf.train.Coordinator(), None)",
    "train.NewCheckpointReader": "f(checkpoint())",
    "train.ProfilerHook": "f(save_steps=1)",
    "train.QueueRunner train.queue_runner.QueueRunner":
        "(lambda queue: f(queue, [queue.enqueue([1.0])]))(v1.FIFOQueue(3, [tf.float32]))",
    "train.SecondOrStepTimer": "f(every_steps=1)",
    "train.Server": "f(tf.train.ClusterSpec({'worker': ['localhost:0']}), start=False)",
    "train.SummarySaverHook": "f(1, output_dir='.', summary_op=v1.summary.scalar('made', 1.0))",
    "train.assert_global_step": "f(v1.train.create_global_step())",
    "train.batch_join": "f([[tf.constant(1.0)]], 1)",
    "train.do_quantize_training_on_graphdef": "f(v1.GraphDef(), 8)",
    "train.generate_checkpoint_state_proto": "f('.', 'made')",
    "train.get_checkpoint_mtimes": "f([checkpoint()])",
    "train.global_step": "f(session(), v1.train.create_global_step())",
    "train.import_meta_graph": "f(meta())",
    "train.match_filenames_once": "f('*.txt')",
    "train.maybe_batch": "f([tf.constant(1.0)], True, 1)",
    "train.maybe_batch_join": "f([[tf.constant(1.0)]], True, 1)",
    "train.maybe_shuffle_batch": "f([tf.constant(1.0)], 1, 3, 1, True)",
    "train.maybe_shuffle_batch_join": "f([[tf.constant(1.0)]], 1, 3, 1, True)",
    "train.piecewise_constant train.piecewise_constant_decay": "f(v1.train.create_global_step(), [1], [0.1, 0.2])",
    "train.queue_runner.start_queue_runners train.start_queue_runners": "f(v1.Session())",
    "train.sdca_shrink_l1": "f([v1.Variable([1.0])], 0.1, 0.1)",
    "train.shuffle_batch_join": "f([[tf.constant(1.0)]], 1, 3, 1)",
    "train.summary_iterator": "list(f(events()))",
    "train.write_graph": "f(v1.get_default_graph(), '.', 'made')",
    "unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n "
    "unsorted_segment_sum":
        "f(tf.constant([1.0]), [0], 1)",
    "variable_axis_size_partitioner": "f(16)",
    "write_file": "f('made.txt', tf.constant('a'))",
    "random.set_random_seed set_random_seed": "(f(7), v1.get_seed(None))[1]",
    "train.init_from_checkpoint": "restored(lambda path: f(path, {'made': 'made'}))",
    "train.warm_start": "restored(lambda path: f(path, vars_to_warm_start='made'))",
    "train.update_checkpoint_state": "(f('.', 'made'), tf.train.get_checkpoint_state('.'))[1]",
    "train.remove_checkpoint": "removed(f)",
    "profiler.write_op_log": "(f(v1.get_default_graph(), '.'), tf.io.gfile.listdir('.'))[1]",
    "add_to_collection": "(f('given', 1.0), v1.get_collection('given'))[1]",
    "add_to_collections": "(f(['given'], 1.0), v1.get_collection('given'))[1]",
    "get_collection get_collection_ref": "(v1.get_variable('made', [1]), f('variables'))[1]",
    "local_variables": "(v1.get_local_variable('made', [1]), f())[1]",
    "losses.add_loss": "(f(tf.constant(1.0)), v1.losses.get_losses())[1]",
    "losses.get_regularization_losses": "(v1.get_variable('made', [1], regularizer=tf.reduce_sum), f())[1]",
    "model_variables": "(v1.get_variable('made', [1], collections=['model_variables']), f())[1]",
    "moving_average_variables":
        "(v1.get_variable('made', [1], collections=['moving_average_variables']), f())[1]",
    "train.add_queue_runner train.queue_runner.add_queue_runner":
        "(f(v1.train.QueueRunner(v1.FIFOQueue(3, [tf.float32]), [tf.no_op()])), v1.get_collection('queue_runners'))[1]",
    "train.get_global_step": "(v1.train.create_global_step(), f())[1]",
    "train.replica_device_setter": "f(ps_tasks=1)",
}  # fmt: skip


class _Cell:
    """An RNN cell that needs no Keras: it adds one to its state."""

    state_size = 3
    output_size = 3

    def zero_state(self, batch: Any, dtype: Any) -> Any:
        import tensorflow as tf

        return tf.zeros([batch, 3], dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        return state, state + 1


def evaluate(expression: str, value: Any) -> Any:
    """What a call gives, in the working folder, in the graph or the eager execution that is current."""
    import tensorflow as tf

    known = {"f": value, "tf": tf, "v1": tf.compat.v1, "np": np, "cell": _Cell, "session": tf.compat.v1.Session}
    return eval(expression, {**globals(), **known})


def example() -> bytes:
    import tensorflow as tf

    floats = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0]))
    return bytes(tf.train.Example(features=tf.train.Features(feature={"a": floats})).SerializeToString())


def text() -> str:
    with open("given.txt", "w", encoding="utf-8") as file:
        file.write("a")
    return "given.txt"


def records(record: bytes = b"a") -> str:
    import tensorflow as tf

    with tf.io.TFRecordWriter("given.tfrecord") as writer:
        writer.write(record)
    return "given.tfrecord"


def events() -> str:
    import tensorflow as tf

    return records(tf.compat.v1.Event().SerializeToString())


def sparse() -> Any:
    import tensorflow as tf

    return tf.sparse.from_dense([[1, 0]])


def quantized(shape: list[int]) -> Any:
    import tensorflow as tf

    return tf.cast(tf.zeros(shape, tf.uint8), tf.quint8)


def loop() -> Callable[..., Any]:
    import tensorflow as tf

    def step(time: Any, output: Any, state: Any, loop_state: Any) -> Any:
        return time >= 2, tf.zeros([2, 4]), tf.zeros([2, 3]) if state is None else state, output, None

    return step


def signature() -> Any:
    import tensorflow as tf

    with tf.Graph().as_default():
        given = {"a": tf.compat.v1.placeholder(tf.float32)}
        return tf.compat.v1.saved_model.predict_signature_def(given, {"b": tf.constant([1.0])})


def module() -> str:
    import tensorflow as tf

    with tf.init_scope():
        tf.saved_model.save(tf.Module(), "module")
    return "module"


@contextlib.contextmanager
def _in_session() -> Any:
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        yield tf.compat.v1, session


def saved() -> str:
    with _in_session() as (v1, session):
        builder = v1.saved_model.Builder("saved")
        builder.add_meta_graph_and_variables(session, ["serve"])
        builder.save()
    return "saved"


def checkpoint() -> str:
    """The name of one that has a two for the variable ``made``."""
    with _in_session() as (v1, session):
        v1.get_variable("made", [], initializer=v1.constant_initializer(2.0))
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver().save(session, os.path.abspath("made.ckpt")))


def meta() -> str:
    return f"{checkpoint()}.meta"


def removed(remove: Callable[[str], Any]) -> list[str]:
    import tensorflow as tf

    path = checkpoint()
    remove(path)
    return ["removed"] * (not tf.io.gfile.glob(f"{path}*"))


def restored(restore: Callable[[str], Any]) -> list[str]:
    """What a variable is found to be; nothing where it is as it was made."""
    import tensorflow as tf

    v1 = tf.compat.v1
    path = checkpoint()
    variable = v1.get_variable("made", [], initializer=v1.zeros_initializer())
    restore(path)
    if tf.executing_eagerly():
        value = variable.numpy()
    else:
        with v1.Session() as session:
            session.run(variable.initializer)
            value = session.run(variable)
    return ["restored"] * bool(value == 2.0)
